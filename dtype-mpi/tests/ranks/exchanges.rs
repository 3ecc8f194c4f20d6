//! An [`Exchange`](dtype_mpi::Exchange) of many parts of a grid.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "ranks and small sizes"
)]

use dtype_mpi::traits::*;
use dtype_mpi::{Error, Exchange, Neighbours, Part};
use dtype_runtime::{Basic, Order, Type};
use mpi::topology::{CartesianCommunicator, SimpleCommunicator};
use mpi::traits::*;

/// Sizes of a rank's part of the grid, with the border.
const SIZES: [usize; 3] = [7, 8, 9];
const CELLS: usize = SIZES[0] * SIZES[1] * SIZES[2];

/// The value of a cell, if it is in the whole grid. `place` is relative to the rank's own cells.
fn cell(
    cartesian: &CartesianCommunicator,
    width: usize,
    place: [usize; 3],
    wrap: bool,
) -> Option<f64> {
    let layout = cartesian.get_layout();
    let mut number = 0;
    for at in 0..3 {
        let own = (SIZES[at] - 2 * width) as i32;
        let all = own * layout.dims[at];
        let along = layout.coords[at] * own + place[at] as i32 - width as i32;
        let is_periodic = layout.periods[at] && wrap;
        if !is_periodic && !(0..all).contains(&along) {
            return None;
        }
        number = number * 1000 + along.rem_euclid(all);
    }
    Some(f64::from(number))
}

/// Afterwards each cell of the border has the value of the rank that owns the cell.
fn halo(cartesian: &CartesianCommunicator, width: usize, neighbours: Neighbours) {
    let f64s = Type::basic(Basic::F64);
    let mut exchange = Exchange::halo(cartesian, &SIZES, width, &f64s, neighbours).unwrap();
    let places =
        || (0..CELLS).map(|i| [i / SIZES[2] / SIZES[1], i / SIZES[2] % SIZES[1], i % SIZES[2]]);
    let borders = |place: [usize; 3]| {
        (0..3).filter(|&at| place[at] < width || place[at] >= SIZES[at] - width).count()
    };
    let before: Vec<f64> = places()
        .map(|place| match borders(place) {
            0 => cell(cartesian, width, place, false).unwrap(),
            _ => -1.0,
        })
        .collect();
    let check = |grid: &[f64]| {
        for (place, &found) in places().zip(grid) {
            let is_filled = borders(place) <= if neighbours == Neighbours::All { 3 } else { 1 };
            let expected = cell(cartesian, width, place, true).filter(|_| is_filled);
            assert_eq!(found, expected.unwrap_or(-1.0), "{place:?}, {width} wide, {neighbours:?}");
        }
    };
    for _ in 0..3 {
        let mut grid = before.clone();
        exchange.run(&mut grid).unwrap();
        check(&grid);
    }
    // During the exchange the grid is not borrowed. The packed values are sent.
    let mut grid = before.clone();
    let started = exchange.start(&grid).unwrap();
    grid.fill(f64::NAN);
    grid.clone_from(&before);
    started.finish(&mut grid).unwrap();
    check(&grid);
    // The received parts go to another grid.
    let mut other = before.clone();
    exchange.run_between(&before, &mut other).unwrap();
    assert_eq!(other, grid);
    // A dropped exchange takes its messages with it: the next exchange gets its own.
    drop(exchange.start(&vec![f64::NAN; CELLS]).unwrap());
    grid.clone_from(&before);
    exchange.run(&mut grid).unwrap();
    check(&grid);
}

pub(crate) fn halos(world: &SimpleCommunicator) {
    let size = world.size();
    for (lengths, periods) in [
        ([size, 1, 1], [true; 3]),
        ([1, 1, size], [false; 3]),
        ([1, size.min(2), size.max(2) / 2], [true, false, true]),
    ] {
        let cartesian = world.create_cartesian_communicator(&lengths, &periods, false).unwrap();
        for (width, neighbours) in [
            (1, Neighbours::Faces),
            (2, Neighbours::Faces),
            (1, Neighbours::All),
            (2, Neighbours::All),
        ] {
            halo(&cartesian, width, neighbours);
        }
    }
}

/// Rank i sends to rank j the first j + 1 of the numbers that end in j. Rank j receives these in reverse order.
pub(crate) fn all_to_all(world: &SimpleCommunicator) {
    let (rank, size) = (world.rank(), world.size());
    let u32s = Type::basic(Basic::U32);
    let own: Vec<u32> = (0..40).map(|i| 100 * rank.unsigned_abs() + i).collect();
    let sends = (0..size).map(|to| {
        let ty = Type::vector(to as u64 + 1, 1, 10, &u32s).unwrap();
        Part::new(to, 5, &ty).origin(4 * to as usize)
    });
    let backwards = Type::resized(&u32s, 0, -4).unwrap();
    let number = rank as usize + 1;
    let receives = (0..size).map(|from| {
        let last = (from as usize + 1) * number - 1;
        Part::new(from, 5, &backwards).origin(4 * last).count(number)
    });
    let mut exchange = Exchange::between(world, sends.collect(), receives.collect()).unwrap();
    assert_eq!(exchange.bytes(), (1..=size as u64).sum::<u64>() * 4);
    let mut came = vec![u32::MAX; number * size as usize];
    exchange.run_between(&own, &mut came).unwrap();
    for (from, came) in (0..).zip(came.chunks_exact(number)) {
        let expected: Vec<u32> =
            (0..number as u32).rev().map(|i| 100 * from + rank.unsigned_abs() + 10 * i).collect();
        assert_eq!(came, expected);
    }
}

pub(crate) fn refused(world: &SimpleCommunicator) {
    let (rank, size) = (world.rank(), world.size());
    let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
    let last = size - 1;
    let f64s = Type::basic(Basic::F64);
    let column = |start| Type::subarray(&[4, 4], &[4, 1], &[0, start], Order::C, &f64s).unwrap();
    let row = |start| Type::subarray(&[4, 4], &[1, 4], &[start, 0], Order::C, &f64s).unwrap();
    let send = |ty: Type| vec![Part::new(next, 0, &ty)];
    let receive = |ty: Type| vec![Part::new(before, 0, &ty)];
    let twice =
        |one: Type, other: Type| vec![Part::new(before, 0, &one), Part::new(before, 0, &other)];

    // A row and a column have one byte in common, and neighbouring columns none.
    Exchange::new(world, send(column(1)), receive(column(2))).unwrap();
    let overlap =
        |received, other, is_sent, byte| Error::Overlap { received, other, is_sent, byte };
    let error = Exchange::new(world, send(row(2)), receive(column(1))).unwrap_err();
    assert_eq!(error, overlap(0, 0, true, 72));
    Exchange::between(world, send(row(2)), receive(column(1))).unwrap();
    let sends = vec![Part::new(next, 0, &row(0)), Part::new(next, 0, &row(0))];
    let error = Exchange::between(world, sends.clone(), twice(column(3), row(3))).unwrap_err();
    assert_eq!(error, overlap(0, 1, false, 120));
    Exchange::new(world, sends, twice(row(1), row(2))).unwrap();
    let same = Type::vector(4, 1, 0, &f64s).unwrap();
    let error = Exchange::between(world, send(row(0)), receive(same)).unwrap_err();
    assert_eq!(error, overlap(0, 0, false, 0));
    // Only one rank has the mistake, and the other ranks get an error, too.
    let error = if rank == last {
        Exchange::new(world, send(row(0)), receive(row(0))).unwrap_err()
    } else {
        Exchange::new(world, send(row(0)), receive(row(1))).unwrap_err()
    };
    let expected = if rank == last { overlap(0, 0, true, 0) } else { Error::Peer { rank: last } };
    assert_eq!(error, expected);

    for wrong in [-1, size] {
        let error = Exchange::new(world, vec![Part::new(wrong, 0, &f64s)], vec![]).unwrap_err();
        assert_eq!(error, Error::Rank { rank: wrong, last });
    }
    for tag in [-1, 32_768] {
        let error = Exchange::new(world, vec![Part::new(next, tag, &f64s)], vec![]).unwrap_err();
        assert_eq!(error, Error::Tag { rank: next, tag });
    }
    // More bytes sent than received, fewer bytes, and another tag.
    let unmatched = |tag, sent, received| Error::Unmatched { rank: before, tag, sent, received };
    let error = Exchange::new(world, send(row(0)), vec![]).unwrap_err();
    assert_eq!(error, unmatched(0, 1, 0));
    let error = Exchange::new(world, send(row(0)), twice(row(1), row(2))).unwrap_err();
    assert_eq!(error, unmatched(0, 1, 2));
    let error =
        Exchange::new(world, send(row(0)), vec![Part::new(before, 7, &row(1))]).unwrap_err();
    assert_eq!(error, unmatched(0, 1, 0));
    // Another type with as many bytes, and another number of elements.
    let others = Type::contiguous(4, &Type::basic(Basic::U64)).unwrap();
    let error = Exchange::between(world, send(row(0)), receive(others)).unwrap_err();
    let text = str::to_owned;
    let expected =
        Error::Elements { rank: before, ours: text("{4×u64}"), theirs: text("{4×f64}") };
    assert_eq!(error, expected);
    let five = Type::contiguous(5, &f64s).unwrap();
    let error = Exchange::between(world, send(row(0)), receive(five)).unwrap_err();
    assert!(matches!(error, Error::Elements { .. }), "{error}");

    // More bytes than the library can count.
    if !cfg!(large_counts) {
        let bytes = Type::contiguous(1 << 31, &Type::basic(Basic::U8)).unwrap();
        let error = Exchange::between(world, send(bytes.clone()), receive(bytes)).unwrap_err();
        let (count, limit) = (1 << 31, (1 << 31) - 2);
        assert_eq!(error, Error::Count { call: "MPI_Irecv", count, limit });
    }

    let cartesian = world.create_cartesian_communicator(&[size, 1], &[true; 2], false).unwrap();
    for (sizes, width) in [(&[6, 5][..], 2), (&[6], 1), (&[6, 6, 6], 1), (&[6, 6], usize::MAX)] {
        let error = Exchange::halo(&cartesian, sizes, width, &f64s, Neighbours::All).unwrap_err();
        assert_eq!(error, Error::Halo { sizes: sizes.to_vec(), width, dimensions: 2 });
    }
}

pub(crate) fn misfits(world: &SimpleCommunicator) {
    let (rank, size) = (world.rank(), world.size());
    let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
    let f64s = Type::basic(Basic::F64);
    let sends = vec![Part::new(next, 4, &f64s)];
    let receives = vec![Part::new(before, 4, &f64s).origin(24)];
    let mut exchange = Exchange::new(world, sends, receives).unwrap();
    let outside = |error: Error| {
        assert!(matches!(error, Error::Type(dtype_runtime::Error::OutOfBounds { .. })), "{error}");
    };
    let mut grid = [0.5, 1.5, 2.5, 3.5];
    outside(exchange.run(&mut grid[..3]).unwrap_err());
    outside(exchange.start(&grid[..0]).unwrap_err());
    outside(exchange.run_between(&grid, &mut [0_u8; 31]).unwrap_err());
    // The messages were sent before the error, so all of them must be received.
    outside(exchange.start(&grid).unwrap().finish(&mut [0.0; 3]).unwrap_err());
    exchange.run(&mut grid).unwrap();
    assert_eq!(grid, [0.5, 1.5, 2.5, 0.5]);
    // Messages from outside the exchange, with its tag.
    for (other, bytes) in [(&[9_u8; 7][..], 7), (&[9; 5000], 0)] {
        let process = world.process_at_rank(next);
        let request = process.immediate_send_packed(other, 4).unwrap();
        let started = exchange.start(&grid).unwrap();
        // The part itself: the exchange has received the other message.
        world.process_at_rank(before).recv_packed::<f64>(4).unwrap();
        let error = started.finish(&mut grid).unwrap_err();
        request.wait().unwrap();
        match error {
            Error::Short { source_rank, tag: 4, bytes: found, expected: 8 } => {
                assert_eq!((source_rank, found), (before, bytes));
            }
            Error::Truncated { source_rank, tag: 4, capacity: 8, .. } if bytes == 0 => {
                assert_eq!(source_rank, before);
            }
            error => panic!("{error}"),
        }
        assert_eq!(grid, [0.5, 1.5, 2.5, 0.5]);
    }
}
