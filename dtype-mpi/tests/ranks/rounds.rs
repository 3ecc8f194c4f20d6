//! Rounds of an exchange that a rank does not perform as planned: the other ranks do not wait for ever, and the next round has
//! its own data.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "ranks and lengths"
)]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use dtype_mpi::{Error, Exchange, Part};
use dtype_runtime::{Basic, Datatype, Type};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

use crate::packed::ring;

/// Short messages that arrive at once, and long ones for which the sender waits.
const LENGTHS: [u64; 3] = [0, 5, 40_000];

/// A message of this many numbers to the next rank, and one from the rank before.
fn around(world: &SimpleCommunicator, length: u64) -> Exchange<'_> {
    let (next, before) = ring(world);
    let numbers = Type::contiguous(length, &Type::basic(Basic::U64)).unwrap();
    let sends = vec![Part::new(next.rank(), 3, &numbers)];
    let receives = vec![Part::new(before.rank(), 3, &numbers).origin(8 * length as usize)];
    Exchange::new(world, sends, receives).unwrap()
}

fn grid(length: u64, number: u64) -> Vec<u64> {
    let mut grid = vec![number; 2 * length as usize];
    grid[length as usize..].fill(u64::MAX);
    grid
}

/// Performs a round, and checks that its numbers arrive.
fn round(world: &SimpleCommunicator, exchange: &mut Exchange<'_>, length: u64, number: u64) {
    let (_, before) = ring(world);
    let of = |rank: i32| number * 100 + rank as u64;
    let mut grid = grid(length, of(world.rank()));
    exchange.run(&mut grid).unwrap();
    let (sent, came) = grid.split_at(length as usize);
    assert!(sent.iter().all(|&one| one == of(world.rank())));
    assert!(came.iter().all(|&one| one == of(before.rank())), "round {number}: {:?}", &came[..3]);
}

/// Panics without a message on standard error.
fn panicking(function: impl FnOnce()) {
    let panic = catch_unwind(AssertUnwindSafe(|| {
        function();
        resume_unwind(Box::new("planned"));
    }));
    assert!(panic.unwrap_err().downcast_ref::<&str>().is_some_and(|text| *text == "planned"));
}

pub(crate) fn panics(world: &SimpleCommunicator) {
    for length in LENGTHS {
        // All ranks panic, one of them, and all but one.
        let every: fn(i32) -> bool = |_| true;
        for who in [every, |rank| rank == 0, |rank| rank != 0] {
            let mut exchange = around(world, length);
            for number in [1, 3] {
                round(world, &mut exchange, length, number);
                if who(world.rank()) {
                    let own = grid(length, 77);
                    panicking(|| {
                        let _started = exchange.start(&own).unwrap();
                        resume_unwind(Box::new("planned"));
                    });
                } else {
                    exchange.run(&mut grid(length, 77)).unwrap();
                }
                round(world, &mut exchange, length, number + 1);
            }
            // The panic ends the exchange, too.
            if who(world.rank()) {
                panicking(move || {
                    let mut exchange = exchange;
                    std::mem::forget(exchange.start(&grid(length, 88)).unwrap());
                    resume_unwind(Box::new("planned"));
                });
            } else {
                exchange.run(&mut grid(length, 88)).unwrap();
                drop(exchange);
            }
            round(world, &mut around(world, length), length, 5);
        }
        // A panic that is caught before the exchange is dropped.
        let mut exchange = around(world, length);
        panicking(|| {
            let _started = exchange.start(&grid(length, 99)).unwrap();
            resume_unwind(Box::new("planned"));
        });
        drop(exchange);
        round(world, &mut around(world, length), length, 6);
    }
}

/// A value whose check panics.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[dtype(check = check)]
struct Fragile(u32);

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature of a check")]
fn check(fragile: &Fragile) -> bool {
    if fragile.0 == 13 {
        resume_unwind(Box::new("planned"));
    }
    true
}

pub(crate) fn panics_in_checks(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    let one = Type::of::<Fragile>();
    let sends = (0..3).map(|tag| Part::new(next.rank(), tag, &one).origin(4 * tag as usize));
    let receives =
        (0..3).map(|tag| Part::new(before.rank(), tag, &one).origin(12 + 4 * tag as usize));
    let mut exchange = Exchange::new(world, sends.collect(), receives.collect()).unwrap();
    for round in 0..3 {
        let mut grid = [13, 1, 2, 0, 0, 0].map(Fragile);
        let panic = catch_unwind(AssertUnwindSafe(|| exchange.run(&mut grid)));
        assert!(panic.is_err());
        let mut grid = [round, round + 1, round + 2, 0, 0, 0].map(Fragile);
        exchange.run(&mut grid).unwrap();
        assert_eq!(grid[..3], grid[3..]);
    }
}

/// One rank has an error, before anything is sent. The next rank is told, and no rank waits for ever.
pub(crate) fn refused(world: &SimpleCommunicator) {
    let (_, before) = ring(world);
    for length in LENGTHS.into_iter().filter(|&length| length > 0) {
        let mut exchange = around(world, length);
        for refusing in 0..world.size() {
            round(world, &mut exchange, length, 1);
            let short = 2 * length as usize - 1;
            for attempt in 0..4 {
                let mut own = grid(length, 4);
                let result = if world.rank() == refusing {
                    match attempt {
                        0 => exchange.run(&mut own[..short]),
                        1 => exchange.run_between(&own[..1], &mut own.clone()),
                        2 => exchange.run_between(&own, &mut [0_i64; 9]),
                        _ => exchange.start(&[0.0_f32; 3]).map(drop),
                    }
                } else {
                    exchange.run(&mut own)
                };
                if world.rank() == refusing {
                    let error = result.unwrap_err();
                    let is_own = matches!(error, Error::Type(_) | Error::Memory { .. });
                    assert!(is_own, "{error}");
                } else if before.rank() == refusing {
                    assert_eq!(result.unwrap_err(), Error::Peer { rank: refusing });
                } else {
                    result.unwrap();
                }
            }
            round(world, &mut exchange, length, 2);
        }
    }
    // Parts without data beside others.
    let (next, before) = ring(world);
    let one = Type::basic(Basic::U8);
    let sends = vec![Part::new(next.rank(), 0, &one).count(0), Part::new(next.rank(), 1, &one)];
    let receives = vec![
        Part::new(before.rank(), 0, &one).count(0),
        Part::new(before.rank(), 1, &one).origin(1),
    ];
    let mut exchange = Exchange::new(world, sends, receives).unwrap();
    for _ in 0..2 {
        let mut own = if world.rank() == 0 { vec![] } else { vec![0_u8; 2] };
        let result = exchange.run(&mut own);
        match (world.rank(), before.rank()) {
            (0, _) => assert!(matches!(result.unwrap_err(), Error::Type(_))),
            (_, 0) => assert_eq!(result.unwrap_err(), Error::Peer { rank: 0 }),
            _ => result.unwrap(),
        }
        exchange.run(&mut [5_u8, 6]).unwrap();
    }
}

/// Parts that lie in no memory.
pub(crate) fn out_of_reach(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    let last = world.size() - 1;
    let one = Type::basic(Basic::F64);
    let backwards = Type::vector(2, 1, -1, &one).unwrap();
    let far = isize::MAX as usize - 8;
    for (ty, origin, start, end) in [
        (&one, usize::MAX, usize::MAX as i128, usize::MAX as i128 + 8),
        (&one, far + 1, far as i128 + 1, far as i128 + 9),
        (&backwards, 0, -8, 8),
    ] {
        let outside = dtype_runtime::Error::OutOfBounds { start, end, len: isize::MAX as u64 };
        // Sent, received, and both; and at one rank only.
        let sends = || vec![Part::new(next.rank(), 0, ty).origin(origin)];
        let receives = || vec![Part::new(before.rank(), 0, ty).origin(origin)];
        let near = |rank| vec![Part::new(rank, 0, ty).origin(64)];
        for error in [
            Exchange::new(world, sends(), receives()).unwrap_err(),
            Exchange::new(world, sends(), near(before.rank())).unwrap_err(),
            Exchange::between(world, near(next.rank()), receives()).unwrap_err(),
        ] {
            assert_eq!(error, Error::Type(outside.clone()));
        }
        let own = if world.rank() == last { sends() } else { near(next.rank()) };
        let error = Exchange::between(world, own, near(before.rank())).unwrap_err();
        let peer = Error::Peer { rank: last };
        assert_eq!(error, if world.rank() == last { Error::Type(outside) } else { peer });
    }
    Exchange::between(
        world,
        vec![Part::new(next.rank(), 0, &one).origin(far)],
        vec![Part::new(before.rank(), 0, &one)],
    )
    .unwrap();
}
