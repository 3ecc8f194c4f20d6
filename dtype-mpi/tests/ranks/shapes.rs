//! Structs of many shapes, with random values.

use dtype_runtime::{Datatype, packed_size, unpack};
use dtype_test_support::numbers::Numbers;

/// Bytes that are the same in every run.
pub(crate) fn noise(seed: u64, number: usize) -> Vec<u8> {
    bytes(&mut Numbers(seed), number)
}

fn bytes(numbers: &mut Numbers, number: usize) -> Vec<u8> {
    (0..number).map(|_| numbers.byte()).collect()
}

/// A type with random values.
pub(crate) trait Shape: Datatype + 'static {
    fn some(count: usize, random: &mut Numbers) -> Vec<Self>;
}

/// Any bytes are valid values, and no field is skipped.
pub(crate) trait Plain: Shape {}

macro_rules! plain {
    ($($ty:ty),+ $(,)?) => {$(
        impl Shape for $ty {
            fn some(count: usize, random: &mut Numbers) -> Vec<Self> {
                unpack(&bytes(random, packed_size::<Self>(count))).expect("any bytes are values")
            }
        }
        impl Plain for $ty {}
    )+};
}

#[derive(Datatype, Clone, Debug)]
pub(crate) struct Padded {
    _a: u8,
    _b: f64,
    _c: u16,
}

#[derive(Datatype, Clone, Debug)]
#[repr(C)]
pub(crate) struct InOrder {
    _a: i8,
    _b: [u32; 3],
    _c: Inner<i16>,
    _d: u8,
}

#[derive(Datatype, Clone, Debug)]
pub(crate) struct Inner<T: Datatype> {
    _x: T,
    _y: u8,
}

#[derive(Datatype, Clone, Debug)]
#[repr(C, packed)]
pub(crate) struct Packed {
    _a: u8,
    _b: u64,
    _c: [u16; 3],
}

#[derive(Datatype, Clone, Debug)]
#[repr(C, align(32))]
pub(crate) struct Aligned {
    _a: [Inner<u32>; 2],
    _b: f32,
}

#[derive(Datatype, Clone, Debug)]
#[dtype(resize(lb = -8, extent = 200))]
pub(crate) struct Resized {
    _a: u8,
    _b: u32,
}

#[derive(Datatype, Clone, Debug)]
pub(crate) struct OfResized {
    _a: u8,
    _b: [Resized; 3],
    _c: Wide,
}

#[derive(Datatype, Clone, Debug)]
pub(crate) struct Wide {
    _a: u8,
    _b: u128,
    _c: Option<std::num::NonZero<i128>>,
}

/// All bytes are data, but their order in memory is not the packed order, because the compiler puts the `u16` first or last.
#[derive(Datatype, Clone, Debug)]
pub(crate) struct Dense {
    _a: u8,
    _b: u16,
    _c: u8,
}

/// Fields that the compiler reorders.
#[derive(Datatype, Clone, Debug)]
pub(crate) struct Reordered {
    _a: u8,
    _b: [u16; 2],
    _c: (u8, u64),
    _d: u64,
    _e: [u8; 2],
    _f: u32,
}

#[derive(Datatype, Clone, Debug)]
pub(crate) struct Matrix<const N: usize> {
    _rows: [[f32; N]; N],
    _name: [u8; 5],
}

/// A field without data moves the end. For some types with such a part, Open MPI copies the wrong bytes.
#[derive(Datatype, Clone, Debug)]
#[repr(C)]
pub(crate) struct Hollow {
    _a: [u8; 3],
    _none: [u64; 0],
    _units: [(); 2],
}

plain!(
    u8,
    f64,
    Padded,
    InOrder,
    Inner<f64>,
    Inner<Inner<u8>>,
    Packed,
    Aligned,
    Resized,
    OfResized,
    Wide,
    Reordered,
    Dense,
    Hollow,
    Matrix<1>,
    Matrix<6>,
    (u8, [Padded; 2], i32),
    [Inner<u16>; 3],
);

/// Not all bytes are valid values.
#[derive(Datatype, Clone, Debug, PartialEq)]
pub(crate) struct Flagged {
    pub(crate) flag: bool,
    pub(crate) value: f64,
    pub(crate) letter: char,
    pub(crate) kind: Kind,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
pub(crate) enum Kind {
    Free = 3,
    Fixed = 9,
}

impl Shape for Flagged {
    fn some(count: usize, random: &mut Numbers) -> Vec<Self> {
        let one = |_| Self {
            flag: random.next().is_multiple_of(2),
            value: random.below(1000) as f64,
            letter: char::from_u32(u32::try_from(random.below(0xd000)).unwrap()).unwrap(),
            kind: if random.next().is_multiple_of(2) { Kind::Free } else { Kind::Fixed },
        };
        (0..count).map(one).collect()
    }
}

/// Some fields are not sent.
#[derive(Datatype, Clone, Debug, PartialEq)]
pub(crate) struct Skipping {
    pub(crate) sent: u16,
    #[dtype(skip)]
    pub(crate) kept: u64,
    pub(crate) also: [u8; 3],
}

/// Calls a generic function for every plain type.
macro_rules! for_each_plain {
    ($function:ident($($argument:expr),*)) => {{
        use crate::shapes::{Aligned, InOrder, Inner, Matrix, OfResized, Packed, Padded, Resized, Wide};
        use crate::shapes::{Dense, Hollow, Reordered};
        $function::<u8>($($argument),*);
        $function::<f64>($($argument),*);
        $function::<Padded>($($argument),*);
        $function::<InOrder>($($argument),*);
        $function::<Inner<f64>>($($argument),*);
        $function::<Inner<Inner<u8>>>($($argument),*);
        $function::<Packed>($($argument),*);
        $function::<Aligned>($($argument),*);
        $function::<Resized>($($argument),*);
        $function::<OfResized>($($argument),*);
        $function::<Wide>($($argument),*);
        $function::<Reordered>($($argument),*);
        $function::<Dense>($($argument),*);
        $function::<Hollow>($($argument),*);
        $function::<Matrix<1>>($($argument),*);
        $function::<Matrix<6>>($($argument),*);
        $function::<(u8, [Padded; 2], i32)>($($argument),*);
        $function::<[Inner<u16>; 3]>($($argument),*);
    }};
}
pub(crate) use for_each_plain;

/// Checks that two slices have equal packed bytes.
pub(crate) fn assert_same<T: Datatype>(left: &[T], right: &[T]) {
    assert_eq!(left.len(), right.len(), "{}", std::any::type_name::<T>());
    assert!(
        dtype_runtime::pack(left) == dtype_runtime::pack(right),
        "{}: other data",
        std::any::type_name::<T>()
    );
}
