//! Derived types, with random values and canaries in the padding, compared with a naive walk of their type maps.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use core::mem::MaybeUninit;
use core::num::{NonZero, Wrapping};

use dtype_runtime::typemap::{Node, TypeMap};
use dtype_runtime::types::Combiner;
use dtype_runtime::{
    Committed, Datatype, Error, Flags, Type, gaps, pack, pack_into, packed_size, runs, unpack,
    unpack_into, zero_gaps,
};
use dtype_test_support::cases::cases;
use dtype_test_support::numbers::Numbers;
use proptest::prelude::*;

/// A leaf of a type map: its displacement and its valid values.
struct Leaf {
    offset: usize,
    size: usize,
    validity: dtype_runtime::Validity,
}

fn leaves(map: &TypeMap, base: usize, out: &mut Vec<Leaf>) {
    match map.node() {
        Node::Basic { basic, validity, .. } => {
            out.push(Leaf { offset: base, size: basic.size(), validity: *validity });
        }
        Node::Array { count, element } => {
            for i in 0..*count {
                leaves(element, base + i * element.stride(), out);
            }
        }
        Node::Structure { fields, .. } => {
            for field in *fields {
                if let Some(map) = field.map() {
                    leaves(map, base + field.offset(), out);
                }
            }
        }
    }
}

fn leaves_of<T: Datatype>() -> Vec<Leaf> {
    let mut out = Vec::new();
    leaves(T::TYPE_MAP, 0, &mut out);
    out
}

/// Records as bytes: random valid values in the data, `canary` everywhere else.
struct Records<T> {
    memory: Vec<MaybeUninit<T>>,
}

impl<T: Datatype> Records<T> {
    fn new(count: usize, canary: u8, random: &mut Numbers) -> Self {
        let mut memory: Vec<MaybeUninit<T>> = Vec::with_capacity(count);
        memory.resize_with(count, MaybeUninit::uninit);
        let mut records = Self { memory };
        records.bytes_mut().fill(MaybeUninit::new(canary));
        let leaves = leaves_of::<T>();
        for i in 0..count {
            for leaf in &leaves {
                let value = valid(leaf, random);
                let at = i * size_of::<T>() + leaf.offset;
                for (cell, byte) in records.bytes_mut()[at..at + leaf.size].iter_mut().zip(value) {
                    cell.write(byte);
                }
            }
        }
        records
    }

    fn bytes_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        let len = size_of_val(&*self.memory);
        // SAFETY: the memory of the records, borrowed exclusively, as bytes that need not be initialised.
        unsafe { core::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), len) }
    }

    fn bytes(&self) -> Vec<u8> {
        let len = size_of_val(&*self.memory);
        // SAFETY: `new` wrote every byte, and no record has moved since, so padding still holds the canary.
        unsafe { core::slice::from_raw_parts(self.memory.as_ptr().cast::<u8>(), len) }.to_vec()
    }

    fn as_slice(&self) -> &[T] {
        // SAFETY: the data are valid, and all other bytes are initialised.
        unsafe { core::slice::from_raw_parts(self.memory.as_ptr().cast(), self.memory.len()) }
    }

    fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as in `as_slice`.
        unsafe {
            core::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.memory.len())
        }
    }
}

fn valid(leaf: &Leaf, random: &mut Numbers) -> Vec<u8> {
    use dtype_runtime::Validity;
    loop {
        let mut bits = [0_u8; 16];
        for byte in &mut bits[..leaf.size] {
            *byte = random.byte();
        }
        let mut value = u128::from_le_bytes(bits);
        match leaf.validity {
            Validity::Bool => value &= 1,
            Validity::Char => value &= 0xFFFF,
            Validity::Enum(set) => {
                value = set.values()[value as usize % set.values().len()];
            }
            _ => {}
        }
        if leaf.validity.accepts(value) {
            let bytes = value.to_le_bytes();
            return if cfg!(target_endian = "little") {
                bytes[..leaf.size].to_vec()
            } else {
                bytes[..leaf.size].iter().rev().copied().collect()
            };
        }
    }
}

/// The properties of every derived type.
fn check<T: Datatype>(count: usize, seed: u64) {
    let name = core::any::type_name::<T>();
    let mut random = Numbers(seed);
    let (size, stride) = (T::TYPE_MAP.size(), size_of::<T>());
    let leaves = leaves_of::<T>();
    assert_eq!(size, leaves.iter().map(|leaf| leaf.size).sum::<usize>(), "{name}");

    // Packing copies the data in the order of the type map, and nothing else.
    let records = Records::<T>::new(count, 0xCC, &mut random);
    let memory = records.bytes();
    let expected: Vec<u8> = (0..count)
        .flat_map(|i| leaves.iter().map(move |leaf| i * stride + leaf.offset..))
        .zip(leaves.iter().cycle())
        .flat_map(|(from, leaf)| memory[from.start..from.start + leaf.size].to_vec())
        .collect();
    assert_eq!(pack(records.as_slice()), expected, "{name}");
    assert_eq!(packed_size::<T>(count), expected.len());
    let mut out = vec![0xA5; expected.len() + 1];
    assert_eq!(pack_into(records.as_slice(), &mut out), Ok(expected.len()));
    assert_eq!((&out[..expected.len()], out[expected.len()]), (&*expected, 0xA5), "{name}");
    if let Some(short) = expected.len().checked_sub(1) {
        let mut out = vec![0xA5; short];
        let (needed, available) = (expected.len() as u64, short as u64);
        let refused = Error::DestinationTooSmall { needed, available };
        assert_eq!(pack_into(records.as_slice(), &mut out), Err(refused));
        assert!(out.iter().all(|&byte| byte == 0xA5));
    }

    // Unpacking writes the data, and leaves the canaries unchanged.
    let mut target = Records::<T>::new(count, 0x33, &mut random);
    let mut wanted = target.bytes();
    for i in 0..count {
        for leaf in &leaves {
            let at = i * stride + leaf.offset..i * stride + leaf.offset + leaf.size;
            wanted[at.clone()].copy_from_slice(&memory[at]);
        }
    }
    assert_eq!(unpack_into(&expected, target.as_mut_slice()), Ok(expected.len()), "{name}");
    assert_eq!(target.bytes(), wanted, "{name}");
    let mut longer = expected.clone();
    longer.push(0);
    let (wants, actual) = (expected.len() as u64, longer.len() as u64);
    let refused = Error::PackedLength { expected: wants, actual };
    assert_eq!(unpack_into(&longer, target.as_mut_slice()), Err(refused));
    assert_eq!(target.bytes(), wanted, "{name}");

    // Types built at run time give the same results.
    for ty in [Type::of::<T>(), Type::of_record::<T>()] {
        assert_eq!(ty.size(), size as u64);
        assert_eq!(ty.signature_hash(), T::TYPE_MAP.signature_hash(), "{name}");
        assert!(!ty.flags().contains(Flags::OVERLAP), "{name}");
        let places: Vec<(usize, usize)> = ty
            .type_map()
            .map(|entry| (usize::try_from(entry.displacement).unwrap(), entry.basic.size()))
            .collect();
        assert!(
            places.iter().copied().eq(leaves.iter().map(|leaf| (leaf.offset, leaf.size))),
            "{name}"
        );
    }
    let record = Type::of_record::<T>();
    assert_eq!((record.lb(), record.ub()), (0, stride as i64), "{name}");
    dynamic(&record.commit(), &memory, &expected, count);

    // Runs have the bytes that the type names, and gaps have the others.
    let mut named = vec![false; stride];
    for leaf in &leaves {
        named[leaf.offset..leaf.offset + leaf.size].fill(true);
    }
    for (ranges, data) in [(runs::<T>(), true), (gaps::<T>(), false)] {
        let mut seen = vec![!data; stride];
        let mut end = None;
        for range in ranges {
            assert!(!range.is_empty() && end.is_none_or(|end| end < range.start), "{name}");
            end = Some(range.end);
            seen[range].fill(data);
        }
        assert_eq!(seen, named, "{name}");
        assert_eq!(ranges.len(), named.iter().filter(|&&n| n == data).count(), "{name}");
    }
}

fn dynamic(committed: &Committed, memory: &[u8], expected: &[u8], count: usize) {
    let mut out = vec![0; expected.len()];
    assert_eq!(committed.pack(memory, count, &mut out), Ok(expected.len()));
    assert_eq!(out, expected);
    let mut target = vec![0x77; memory.len()];
    assert_eq!(committed.unpack(expected, &mut target, count), Ok(expected.len()));
    assert_eq!(committed.pack(&target, count, &mut out), Ok(expected.len()));
    assert_eq!(out, expected);
}

/// Additional properties of a type that skips nothing.
fn check_complete<T: Datatype>(count: usize, seed: u64) {
    check::<T>(count, seed);
    let name = core::any::type_name::<T>();
    let mut random = Numbers(seed ^ 0xABCD);
    let mut records = Records::<T>::new(count, 0xEE, &mut random);
    let packed = pack(records.as_slice());

    // Unpacking to a new vector gives the same data.
    let back: Vec<T> = unpack(&packed).unwrap();
    if T::TYPE_MAP.size() > 0 {
        assert_eq!(back.len(), count, "{name}");
        assert_eq!(pack(&back), packed, "{name}");
        let mut longer = packed.clone();
        longer.push(0);
        if T::TYPE_MAP.size() > 1 {
            let (actual, record) = (longer.len() as u64, T::TYPE_MAP.size() as u64);
            let error = unpack::<T>(&longer).err();
            assert_eq!(error, Some(Error::PartialRecord { actual, record }), "{name}");
        }
    }

    let mut wanted = records.bytes();
    let ranges: Vec<_> = gaps::<T>().iter().collect();
    for i in 0..count {
        for gap in &ranges {
            wanted[i * size_of::<T>()..][gap.clone()].fill(0);
        }
    }
    assert_eq!(zero_gaps(records.as_mut_slice()), wanted, "{name}");
}

macro_rules! datatypes {
    ($($(#[$attribute:meta])* $vis:vis struct $name:ident $fields:tt $(;)?)*) => {
        $(#[derive(Datatype)] #[allow(dead_code, reason = "filled from bytes")] $(#[$attribute])* struct $name $fields)*
    };
}

datatypes! {
    #[repr(C)] struct Tail { a: f64, b: u32, c: u8 }
    #[repr(C)] struct Hole { a: u8, b: u64 }
    #[repr(C)] struct Small { a: u32, b: u16 }
    #[repr(C)] struct Body { at: [f64; 3], v: [f64; 3], id: u32, kind: u8 }
    #[repr(C)] struct Mixed { a: [f32; 3], b: f64, c: [i16; 2] }
    #[repr(C)] struct Jagged { a: u8, b: i16, c: i32, d: f64, e: u8 }
    #[repr(C)] struct Nested { a: Hole, b: [Hole; 2], c: f32 }
    // In this struct, the end of a record touches the start of the next record.
    #[repr(C)] struct Linked { a: u32, #[dtype(skip)] b: u32, c: u32 }
    #[repr(C)] struct LinkedThree { a: u8, b: u16, c: u64, d: u8, e: u32, f: u16, g: u16 }
    struct Reordered { a: u8, b: u64, c: u16, d: u32, e: bool, f: u128 }
    #[repr(C, packed)] struct Packed { a: u8, b: f64, c: bool, d: u32 }
    #[repr(C, packed(2))] struct Packed2 { a: u8, b: f64, c: char }
    #[repr(C, align(64))] struct Aligned { a: u32, b: [u8; 5] }
    struct Empty {}
    struct Restricted {
        flag: bool, letter: char, nonzero: NonZero<u16>, colour: Colour, flags: [bool; 5],
        nested: [(bool, u32); 3], wide: Option<NonZero<u128>>, wrapped: Wrapping<i64>,
        deep: [[(Sparse, bool, u16); 2]; 2],
    }
    // More runs than the plan writes out: they are in loops.
    #[repr(C)] struct Long { a: u32, b: [Hole; 100], c: [[Small; 7]; 9] }
    struct LongChecked { a: [[(bool, u32); 9]; 9], b: u8 }
    #[repr(C)] struct Skipping { a: u16, #[dtype(skip)] b: u64, c: [Linked; 3], d: u8 }
    #[dtype(resize(lb = -8, extent = 40))]
    #[repr(C)] struct Resized { a: u8, b: u32 }
    #[repr(C)] struct HoldsResized { a: u8, b: [Resized; 3], c: Resized }
    #[dtype(lb = -3, ub = 6)] struct Marked { a: i32 }
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
enum Colour {
    Red,
    Green,
    Blue,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(i16)]
enum Sparse {
    Low = -300,
    Zero = 0,
    High = 1000,
}

#[derive(Datatype)]
struct Generic<T, const N: usize> {
    head: u8,
    body: [T; N],
    tail: T,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(40, 1), failure_persistence: None, ..Default::default() })]

    #[test]
    fn derived_types(count in 0_usize..20, seed: u64) {
        let count = if cfg!(miri) { count % 3 } else { count };
        check_complete::<Tail>(count, seed);
        check_complete::<Hole>(count, seed);
        check_complete::<Small>(count, seed);
        check_complete::<Body>(count, seed);
        check_complete::<Mixed>(count, seed);
        check_complete::<Jagged>(count, seed);
        check_complete::<Nested>(count, seed);
        check::<Linked>(count, seed);
        check_complete::<LinkedThree>(count, seed);
        check_complete::<Reordered>(count, seed);
        check_complete::<Packed>(count, seed);
        check_complete::<Packed2>(count, seed);
        check_complete::<Aligned>(count, seed);
        check_complete::<Empty>(count, seed);
        check_complete::<Restricted>(count, seed);
        // Thousands of values take Miri minutes.
        if !cfg!(miri) {
            check_complete::<Long>(count, seed);
            check_complete::<LongChecked>(count, seed);
        }
        check::<Skipping>(count, seed);
        check_complete::<Resized>(count, seed);
        check_complete::<HoldsResized>(count, seed);
        check_complete::<Marked>(count, seed);
        check_complete::<[[Resized; 3]; 2]>(count, seed);
        check_complete::<[Marked; 2]>(count, seed);
        check_complete::<Generic<Hole, 3>>(count, seed);
        check_complete::<Generic<[u16; 2], 0>>(count, seed);
        check_complete::<Colour>(count, seed);
        check_complete::<Sparse>(count, seed);
        check_complete::<[Hole; 3]>(count, seed);
        check_complete::<(u8, (u16, u64), [bool; 2])>(count, seed);
        check_complete::<()>(count, seed);
        check_complete::<bool>(count, seed);
        check_complete::<f64>(count, seed);
    }
}

/// Bounds: 0 and `size_of`, unless an attribute says otherwise.
#[test]
fn bounds_of_derived_types() {
    fn bounds<T: Datatype>() -> (i64, i64) {
        let ty = Type::of::<T>();
        (ty.lb(), ty.ub())
    }
    assert_eq!(bounds::<Tail>(), (0, 16));
    assert_eq!(bounds::<Packed>(), (0, 14), "MPI alone would pad this to 16");
    assert_eq!(bounds::<Aligned>(), (0, 64));
    assert_eq!(bounds::<Skipping>(), (0, size_of::<Skipping>() as i64));
    assert_eq!(bounds::<Empty>(), (0, 0));
    assert_eq!(bounds::<Resized>(), (-8, 32));
    assert_eq!(bounds::<Marked>(), (-3, 6));
    assert!(Type::of::<Marked>().flags().contains(Flags::USER_LB | Flags::USER_UB));
    let resized = Type::of::<Resized>().flags();
    assert!(!resized.contains(Flags::USER_LB) && !resized.contains(Flags::USER_UB));
    // A natural bound leaves no marker: the neighbour's padding is not hidden.
    let plain = Type::of::<Tail>();
    let two = Type::structure(&[1, 1], &[0, 16], &[plain, Type::of::<u64>()]).unwrap();
    assert_eq!(two.ub(), 24);
}

#[test]
fn resized_elements_keep_rusts_stride_inside_a_struct() {
    let places: Vec<i64> =
        Type::of::<HoldsResized>().type_map().map(|entry| entry.displacement).collect();
    assert_eq!(places, [0, 4, 8, 12, 16, 20, 24, 28, 32]);
    // An array outside of a struct has that stride, too. If its elements have Rust's stride, the simpler call makes it.
    let [resized, plain] = [Type::of::<[Resized; 2]>(), Type::of::<[u32; 2]>()];
    let places: Vec<i64> = resized.type_map().map(|entry| entry.displacement).collect();
    assert_eq!((places, resized.envelope().combiner), (vec![0, 4, 8, 12], Combiner::Hvector));
    assert_eq!((plain.extent(), plain.envelope().combiner), (8, Combiner::Contiguous));
}

#[test]
fn invalid_values_are_named_and_nothing_is_written() {
    let mut random = Numbers(1);
    let mut records = Records::<Restricted>::new(3, 0x11, &mut random);
    let good = pack(records.as_slice());
    let record = packed_size::<Restricted>(1);
    let before = records.bytes();
    let ne = |bytes: &[u8]| -> Vec<u8> {
        if cfg!(target_endian = "little") {
            bytes.to_vec()
        } else {
            bytes.iter().rev().copied().collect()
        }
    };
    // The position in the record, the bytes written there, and the path, the expectation and the value in the error.
    let cases: [(usize, Vec<u8>, &str, &str, u128); 9] = [
        (0, vec![2], "flag", "bool", 2),
        (1, ne(&0xD800_u32.to_le_bytes()), "letter", "char", 0xD800),
        (1, ne(&0x11_0000_u32.to_le_bytes()), "letter", "char", 0x11_0000),
        (5, vec![0, 0], "nonzero", "NonZero<u16>", 0),
        (7, vec![3], "colour", "Colour", 3),
        (10, vec![255], "flags[2]", "bool", 255),
        (13 + 5, vec![7], "nested[1].0", "bool", 7),
        (13 + 15 + 16 + 8 + 5 + 2, vec![9], "deep[0][1].1", "bool", 9),
        (13 + 15 + 16 + 8 + 10, ne(&1_i16.to_le_bytes()), "deep[1][0].0", "Sparse", 1),
    ];
    for (position, bytes, path, expected, value) in cases {
        for index in 0..3 {
            let mut bad = good.clone();
            let at = index * record + position;
            bad[at..at + bytes.len()].copy_from_slice(&bytes);
            let error =
                Error::InvalidValue { record: index, path: path.to_owned(), expected, value };
            assert_eq!(unpack_into(&bad, records.as_mut_slice()), Err(error.clone()));
            assert_eq!(records.bytes(), before, "nothing was written");
            assert_eq!(unpack::<Restricted>(&bad).err(), Some(error));
        }
    }
    assert_eq!(
        unpack::<bool>(&[0, 1, 9]).unwrap_err().to_string(),
        "record 2: 0x9 is not a valid bool"
    );
    // A record of more leaves than are checked one by one.
    let mut long = vec![0; packed_size::<LongChecked>(2)];
    long[packed_size::<LongChecked>(1) + 5 * 80] = 2;
    let path = "a[8][8].0".to_owned();
    assert_eq!(
        unpack::<LongChecked>(&long).err(),
        Some(Error::InvalidValue { record: 1, path, expected: "bool", value: 2 })
    );
}

#[test]
fn the_least_record_with_a_mistake_is_named() {
    let records = [(1_u8, true), (2, false), (3, true)];
    let mut bytes = pack(&records);
    (bytes[3], bytes[5]) = (4, 5);
    let error = unpack::<(u8, bool)>(&bytes).unwrap_err();
    assert!(matches!(error, Error::InvalidValue { record: 1, value: 4, .. }), "{error}");
}

#[test]
fn runs_and_gaps_are_constants() {
    const RUNS: dtype_runtime::ByteRanges = runs::<Long>();
    const { assert!(RUNS.len() == 4 + 900 + 6 * 63 && !RUNS.is_empty()) };
    assert_eq!(gaps::<Tail>().iter().collect::<Vec<_>>(), vec![13..16; 1]);
    assert_eq!(runs::<Skipping>().iter().next(), Some(0..2));
    assert!(gaps::<u64>().is_empty());
    assert_eq!(format!("{:?}", gaps::<Tail>()), "[13..16]");
    // A record of a million elements is not expanded.
    assert_eq!(runs::<[(u8, u32); 1_000_000]>().len(), 5_000_000);
    assert_eq!(runs::<[u8; 1_000_000]>().iter().count(), 1);
}

#[test]
fn zero_sized_and_empty_input() {
    assert_eq!(pack::<()>(&[(); 5]), [0; 0]);
    assert_eq!(unpack::<()>(&[]), Ok(vec![]));
    assert_eq!(unpack::<()>(&[1]), Err(Error::PartialRecord { actual: 1, record: 0 }));
    assert_eq!(unpack_into(&[], &mut [(); 5]), Ok(0));
    assert_eq!(unpack::<u32>(&[]), Ok(vec![]));
    assert_eq!(packed_size::<u64>(usize::MAX), usize::MAX);
}

/// A record whose memory is far larger than its data does not exhaust the memory.
#[test]
#[cfg_attr(miri, ignore = "Miri has no limit of memory that an allocator reports")]
fn a_failed_allocation_is_an_error() {
    #[derive(Datatype)]
    #[repr(align(536_870_912))]
    struct Huge(#[allow(dead_code, reason = "filled from bytes")] u8);
    let bytes = vec![0; 1 << 20];
    let refused = Error::Allocation { count: 1 << 20, stride: 1 << 29 };
    // `black_box`: an optimizer may remove an unused allocation.
    let outcome = std::hint::black_box(unpack::<Huge>(&bytes));
    assert_eq!(outcome.err(), Some(refused));
}

mod geometry {
    pub(crate) struct Point {
        pub(crate) x: f32,
        pub(crate) y: f32,
    }
}

/// The lints of the author's code do not apply to the derive's patterns.
#[deny(clippy::unneeded_field_pattern)]
mod described {
    use dtype_runtime::Datatype;

    use super::geometry;

    #[derive(Datatype)]
    #[dtype(remote = geometry::Point)]
    struct Point {
        x: f32,
        y: f32,
    }

    #[derive(Datatype)]
    pub(crate) struct Triangle(#[dtype(with = Point)] pub(crate) [geometry::Point; 3]);
}

#[test]
fn a_described_field_is_packed() {
    let corners = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0_f32]];
    let triangle = described::Triangle(corners.map(|[x, y]| geometry::Point { x, y }));
    let bytes = pack(&[triangle]);
    assert_eq!(bytes, pack(&[corners]));
    assert!(unpack::<described::Triangle>(&bytes).is_ok());
}
