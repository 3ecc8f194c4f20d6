//! Exchanges and layouts in slices of all kinds of elements.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "ranks and small numbers"
)]

use std::any::type_name;

use dtype_mpi::traits::*;
use dtype_mpi::{Error, Exchange, Layout, Neighbours, Part, ReceiveBuffer, SendBuffer};
use dtype_runtime::{Basic, Datatype, Type};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

use crate::packed::ring;

/// Padding between the fields and at the end.
#[derive(Datatype, Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
struct Cell {
    material: u8,
    density: f64,
    age: u16,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
enum State {
    Solid = 1,
    Liquid = 4,
}

/// Values that must be checked, and bounds that an attribute sets.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[dtype(resize(lb = 0, extent = 64))]
struct Checked {
    state: State,
    density: f64,
    wet: bool,
}

/// An invariant.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[dtype(check = is_ordered)]
struct Range {
    from: u32,
    to: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature of a check")]
fn is_ordered(range: &Range) -> bool {
    range.from <= range.to
}

/// A field that is not sent.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Skips {
    range: Range,
    #[dtype(skip)]
    own: u64,
    wet: bool,
}

/// Sends the cells inside the border of a ring of rows to the neighbours, and returns the row with the border.
fn around<T: Datatype + Copy>(
    world: &SimpleCommunicator,
    ty: &Type,
    border: T,
    own: impl Fn(i32) -> T,
) -> Result<Vec<T>, Error> {
    let ring = world.create_cartesian_communicator(&[world.size()], &[true], false).unwrap();
    let mut exchange = Exchange::halo(&ring, &[6], 1, ty, Neighbours::All)?;
    let mut row = vec![border; 6];
    row[1..5].fill_with({
        let mut number = world.rank() * 4;
        let own = &own;
        move || {
            number += 1;
            own(number)
        }
    });
    exchange.run(&mut row)?;
    Ok(row)
}

/// The numbers of a row of [`around`].
fn numbers(world: &SimpleCommunicator) -> [i32; 6] {
    let all = 4 * world.size();
    let first = 4 * world.rank();
    [-1, 0, 1, 2, 3, 4].map(|at| (first + at).rem_euclid(all) + 1)
}

/// Halos of whole elements, whatever they are made of.
pub(crate) fn whole(world: &SimpleCommunicator) {
    fn check<T: Datatype + Copy + PartialEq + std::fmt::Debug>(
        world: &SimpleCommunicator,
        border: T,
        own: impl Fn(i32) -> T,
    ) {
        for ty in [Type::of_record::<T>(), Type::contiguous(1, &Type::of_record::<T>()).unwrap()] {
            let expected: Vec<T> = numbers(world).into_iter().map(&own).collect();
            assert_eq!(around(world, &ty, border, &own).unwrap(), expected);
        }
    }
    check(world, 0.0, f64::from);
    check(world, [0_i16; 3], |number| [number as i16; 3]);
    check(world, Cell::default(), |number| Cell {
        material: number as u8,
        density: f64::from(number),
        age: 7,
    });
    check(world, [Cell::default(); 2], |number| {
        [Cell { material: 3, density: f64::from(number), age: 8 }; 2]
    });
    check(world, false, |number| number % 2 == 0);
    check(world, 'a', |number| char::from(b'a' + number as u8));
    let state = |number| if number % 3 == 0 { State::Solid } else { State::Liquid };
    check(world, State::Solid, state);
    check(world, [State::Solid; 2], |number| [state(number), State::Solid]);
    let checked = |number| Checked { state: state(number), density: 0.5, wet: number % 2 == 0 };
    check(world, checked(0), checked);
    check(world, [[checked(0); 2]; 3], |number| [[checked(number); 2]; 3]);
    let range = |number| Range { from: number as u32, to: number as u32 + 1 };
    check(world, range(0), range);
    check(world, Skips { range: range(0), own: 9, wet: true }, |number| Skips {
        range: range(number),
        own: 9,
        wet: number % 2 == 0,
    });

    // The grid is an array of arrays, and the parts are made of their elements.
    let (next, before) = ring(world);
    let cells = Type::of_record::<Checked>();
    let sends = vec![Part::new(next.rank(), 0, &Type::vector(3, 1, 4, &cells).unwrap())];
    let receives = vec![
        Part::new(before.rank(), 0, &Type::vector(3, 1, 4, &cells).unwrap())
            .origin(3 * size_of::<Checked>()),
    ];
    let mut exchange = Exchange::new(world, sends, receives).unwrap();
    let mut grid = [[checked(world.rank()); 4]; 3];
    exchange.run(&mut grid).unwrap();
    for row in grid {
        assert_eq!(row[3], checked(before.rank()));
        assert_eq!(row[2], checked(world.rank()));
    }
}

/// The elements lack the data that a type names, or have other data there.
pub(crate) fn others(world: &SimpleCommunicator) {
    let f64s = Type::basic(Basic::F64);
    let refused = |error: Error, element, offset, found, expected| {
        assert_eq!(error, Error::Memory { element, offset, found, expected });
    };
    let f64_in = |error, element, expected| refused(error, element, 0, "f64", expected);
    f64_in(around(world, &f64s, 0_u64, |i| i as u64).unwrap_err(), "u64", "u64");
    f64_in(around(world, &f64s, [0_f32; 2], |i| [i as f32; 2]).unwrap_err(), "[f32; 2]", "f32");
    f64_in(around(world, &f64s, 'a', |_| 'b').unwrap_err(), "char", "char");
    let cells = Type::of::<Cell>();
    let cell = |density| Cell { material: 1, density, age: 2 };
    let other = around(world, &f64s, cell(0.0), |_| cell(1.0)).unwrap_err();
    f64_in(other, type_name::<Cell>(), "u8");
    // A slice of bytes is memory without a type, and other elements of one byte are not.
    around(world, &f64s, [0_u8; 8], |_| [1; 8]).unwrap();
    f64_in(around(world, &f64s, [0_i8; 8], |_| [1; 8]).unwrap_err(), "[i8; 8]", "i8");
    let moved = Type::resized(&Type::hindexed(&[1], &[8], &f64s).unwrap(), 0, 24).unwrap();
    around(world, &moved, cell(0.0), |_| cell(1.0)).unwrap();
    // In the padding, and inside a number.
    for (place, expected) in [(4, "no data"), (12, "f64"), (1, "no data"), (18, "no data")] {
        let byte = Type::hindexed(&[1], &[place], &Type::basic(Basic::U8)).unwrap();
        let byte = Type::resized(&byte, 0, 24).unwrap();
        let error = around(world, &byte, cell(0.0), |_| cell(1.0)).unwrap_err();
        refused(error, type_name::<Cell>(), place as u64, "u8", expected);
    }
    let error = around(world, &cells, [0_f64; 3], |_| [1.0; 3]).unwrap_err();
    refused(error, "[f64; 3]", 0, "u8", "f64");
    let own = std::mem::offset_of!(Skips, own) as i64;
    let skips = Type::hindexed(&[1], &[own], &Type::basic(Basic::U64)).unwrap();
    let skips = Type::resized(&skips, 0, size_of::<Skips>() as i64).unwrap();
    let own = Skips { range: Range { from: 0, to: 2 }, own: 1, wet: true };
    let error = around(world, &skips, own, |_| own).unwrap_err();
    assert!(matches!(error, Error::Memory { expected: "no data", .. }), "{error}");

    // Every call of an exchange, and every place of an instance.
    let (next, before) = ring(world);
    let sends = vec![Part::new(next.rank(), 0, &f64s).count(2)];
    let receives = vec![Part::new(before.rank(), 0, &f64s).origin(8).count(2)];
    let mut exchange = Exchange::between(world, sends, receives).unwrap();
    let (doubles, mut floats, mut numbers) = ([1.5_f64; 3], [0.0_f32; 6], [2_i64; 3]);
    f64_in(exchange.run_between(&floats, &mut numbers).unwrap_err(), "i64", "i64");
    f64_in(exchange.run_between(&numbers, &mut doubles.clone()).unwrap_err(), "i64", "i64");
    f64_in(exchange.start(&floats).unwrap_err(), "f32", "f32");
    let started = exchange.start(&doubles).unwrap();
    f64_in(started.finish(&mut numbers).unwrap_err(), "i64", "i64");
    assert_eq!((numbers, floats), ([2; 3], [0.0; 6]));
    f64_in(exchange.run(&mut floats).unwrap_err(), "f32", "f32");
    let mut pairs = [(0.0_f64, 1_i64), (2.0, 3)];
    refused(exchange.run(&mut pairs).unwrap_err(), "(f64, i64)", 8, "f64", "i64");
    let mut came = [0.0; 3];
    exchange.run_between(&doubles, &mut came).unwrap();
    assert_eq!(came, [0.0, 1.5, 1.5]);
    let misplaced = vec![Part::new(next.rank(), 0, &f64s).origin(4)];
    let receives = vec![Part::new(before.rank(), 0, &f64s).origin(16)];
    let mut exchange = Exchange::new(world, misplaced, receives).unwrap();
    refused(exchange.run(&mut came).unwrap_err(), "f64", 4, "f64", "f64");

    // Layouts.
    let layout = Layout::new(&f64s).unwrap();
    let me = world.process_at_rank(world.rank());
    f64_in(layout.packer(&numbers, 0, 2).map(drop).unwrap_err(), "i64", "i64");
    f64_in(layout.unpacker(&mut numbers, 0, 2).map(drop).unwrap_err(), "i64", "i64");
    f64_in(SendBuffer::from_layout(&layout, &numbers, 0, 2).map(drop).unwrap_err(), "i64", "i64");
    let error = ReceiveBuffer::from_layout(&layout, &mut numbers, 0, 2).map(drop).unwrap_err();
    f64_in(error, "i64", "i64");
    f64_in(me.send_layout(&layout, &numbers, 0, 2, 0).unwrap_err(), "i64", "i64");
    f64_in(me.recv_layout(&layout, &mut numbers, 0, 2, 0).unwrap_err(), "i64", "i64");
    // Of structs with padding, one field.
    let densities = Layout::new(&moved).unwrap();
    let from = [cell(1.0), cell(2.0)];
    let mut into = [cell(3.0), cell(4.0)];
    let request = me.immediate_send_stream(densities.packer(&from, 0, 2).unwrap(), 1).unwrap();
    me.recv_layout(&densities, &mut into, 0, 2, 1).unwrap();
    request.wait().unwrap();
    assert_eq!(into, from);
}

/// What arrives is not what the elements can be.
pub(crate) fn restricted(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    let bytes = Type::basic(Basic::U8);
    // Single values that must be checked as a whole.
    for place in [0, 16] {
        let basic = if place == 0 { &bytes } else { &Type::basic(Basic::Bool) };
        let offset = if place == 0 {
            std::mem::offset_of!(Checked, state)
        } else {
            std::mem::offset_of!(Checked, wet)
        };
        let one = Type::hindexed(&[1], &[offset as i64], basic).unwrap();
        let one = Type::resized(&one, 0, size_of::<Checked>() as i64).unwrap();
        let checked = Checked { state: State::Solid, density: 1.0, wet: true };
        let error = around(world, &one, checked, |_| checked).unwrap_err();
        assert_eq!(
            error,
            Error::Unchecked { element: type_name::<Checked>(), offset: offset as u64 }
        );
    }
    // Neighbouring values of two elements: the bytes are booleans, but the elements may have an invariant.
    let pairs = Type::resized(&Type::contiguous(2, &Type::basic(Basic::Bool)).unwrap(), 0, 2);
    let shifted = Part::new(next.rank(), 0, &pairs.clone().unwrap());
    let receives = vec![Part::new(before.rank(), 0, &pairs.unwrap()).origin(3)];
    let mut exchange = Exchange::between(world, vec![shifted], receives).unwrap();
    let error = exchange.run(&mut [(true, false); 3]).unwrap_err();
    assert_eq!(error, Error::Unchecked { element: "(bool, bool)", offset: 1 });
    exchange.run(&mut [true, false, true, true, false, true]).unwrap();
    // A field of any value, beside one that is checked.
    let offset = std::mem::offset_of!(Checked, density) as i64;
    let density = Type::hindexed(&[1], &[offset], &Type::basic(Basic::F64)).unwrap();
    let density = Type::resized(&density, 0, size_of::<Checked>() as i64).unwrap();
    let checked = |i| Checked { state: State::Solid, density: f64::from(i), wet: true };
    let came = around(world, &density, checked(0), checked).unwrap();
    let densities: Vec<f64> = came.iter().map(|checked| checked.density).collect();
    assert_eq!(densities, numbers(world).map(f64::from));

    // The peer sends the same types, from memory without any.
    let parts = |ty: &Type| {
        let receives = vec![Part::new(before.rank(), 0, ty).count(2)];
        (vec![Part::new(next.rank(), 0, ty).count(2)], receives)
    };
    let (sends, receives) = parts(&Type::basic(Basic::Bool));
    let mut flags = Exchange::between(world, sends, receives).unwrap();
    let mut came = [false; 2];
    let error = flags.run_between(&[1_u8, 2], &mut came).unwrap_err();
    assert!(matches!(error, Error::Type(dtype_runtime::Error::InvalidValue { .. })), "{error}");
    assert_eq!(came, [false; 2], "nothing is written");
    flags.run_between(&[1_u8, 1], &mut came).unwrap();
    assert_eq!(came, [true; 2]);
    // Parts of an array of four.
    let mut came = [[false; 4]];
    let error = flags.run_between(&[1_u8, 2], &mut came).unwrap_err();
    assert!(matches!(error, Error::Type(dtype_runtime::Error::InvalidValue { .. })), "{error}");
    flags.run_between(&[1_u8, 1], &mut came).unwrap();
    assert_eq!(came, [[true, true, false, false]]);

    let (sends, receives) = parts(&Type::of::<Range>());
    let mut ranges = Exchange::between(world, sends, receives).unwrap();
    let range = |from, to| Range { from, to };
    let mut bytes = vec![0_u8; 2 * size_of::<Range>()];
    bytes[size_of::<Range>() + std::mem::offset_of!(Range, from)] = 1;
    let mut came = [range(3, 4); 2];
    let error = ranges.run_between(&bytes, &mut came).unwrap_err();
    assert!(matches!(error, Error::Type(dtype_runtime::Error::CheckFailed { .. })), "{error}");
    assert_eq!(came, [range(3, 4); 2]);
    bytes.fill(0);
    ranges.run_between(&bytes, &mut came).unwrap();
    assert_eq!(came, [range(0, 0); 2]);
}
