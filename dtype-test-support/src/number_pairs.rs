//! Every kind of value, stored in a format and read as every other kind: either the same value, or an error that says why not.
//!
//! The formats share one table. Here it is once more, written naively; the tests of each format compare the format with it.

use std::fmt::Debug;

use dtype_runtime::time::{Nanoseconds, Seconds};
use dtype_runtime::{Datatype, FixedStr, FixedVec, Maybe, TimeSpan, Timestamp};
use half::{bf16, f16};
use num_complex::Complex;

/// A file format, or memory of another kind.
pub trait Format {
    /// Some records as they are stored.
    type Stored;

    /// Whether a time is another value there than an `i64`. Otherwise nothing is read as a time.
    const HAS_TIMES: bool;

    /// Whether the least number of a time is no time.
    const HAS_NAT: bool = false;

    fn write<T: Datatype + Copy>(&self, records: &[T]) -> Self::Stored;

    /// Reads with conversion of numbers.
    fn read<T: Datatype>(&self, stored: &Self::Stored) -> Result<Vec<T>, String>;
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Integer(i128),
    Float(f64),
    /// Anything else.
    Bytes([u8; 16]),
}

impl Value {
    /// Whether it is the same, with the signs of zeros and NaNs.
    fn is(self, other: Self) -> bool {
        match (self, other) {
            (Self::Float(a), Self::Float(b)) if a.is_nan() => {
                b.is_nan() && a.is_sign_negative() == b.is_sign_negative()
            }
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            _ => self == other,
        }
    }
}

/// Which kinds become each other.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Class {
    Integer,
    Float,
    /// Also an integer, and a time of another unit.
    Time,
    /// No other kind.
    Own,
}

trait Kind: Datatype + Copy + Debug {
    /// As what it is stored.
    const STORED: Class;
    /// As what it is read.
    const READ: Class = Self::STORED;
    /// Of a time: whether it is a point, and the nanoseconds of its unit.
    const UNIT: Option<(bool, i128)> = None;

    fn samples() -> Vec<Self>;

    fn value(self) -> Value;

    /// Whether the type has this value.
    fn has(_value: Value) -> bool {
        true
    }
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Kind for $t {
            const STORED: Class = Class::Integer;

            fn samples() -> Vec<Self> {
                let wide = [0, 1, 2, -1, 97, 127, 128, -128, -129, 200, 255, 256, 32_767, 32_768, 65_535, 65_536, -32_769,
                    0xD800, 0x0010_FFFF, 0x0011_0000, i128::from(i32::MAX), 1 << 31, i128::from(i32::MIN) - 1,
                    (1 << 32) - 1, 1 << 32, (1 << 53) + 1, i128::from(i64::MAX), i128::from(i64::MIN), 1 << 63,
                    i128::from(u64::MAX)];
                wide.into_iter().filter_map(|value| value.try_into().ok()).collect()
            }

            fn value(self) -> Value {
                Value::Integer(self.into())
            }

            fn has(value: Value) -> bool {
                matches!(value, Value::Integer(value) if Self::try_from(value).is_ok())
            }
        }
    )*};
}

integers! { i8 i16 i32 i64 u8 u16 u32 u64 }

const FLOATS: [f64; 24] = [
    0.0,
    -0.0,
    1.0,
    -3.0,
    0.5,
    0.1,
    2049.0,
    65_504.0,
    65_520.0,
    1e9,
    16_777_217.0,
    9_007_199_254_740_993.0,
    3.402_823_466_385_288_6e38,
    3.5e38,
    1e300,
    f64::MAX,
    // The least and the greatest subnormals of the three formats, or nearly.
    5e-324,
    2.225e-308,
    1.401_298_464_324_817e-45,
    1.175e-38,
    5.960_464_477_539_063e-8,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

macro_rules! floats {
    ($($t:ident, $narrow:expr, $wide:expr;)*) => {$(
        impl Kind for $t {
            const STORED: Class = Class::Float;

            fn samples() -> Vec<Self> {
                let signs = FLOATS.iter().flat_map(|value| [*value, -value]);
                // Rounded to numbers of the type.
                signs.map($narrow).collect()
            }

            fn value(self) -> Value {
                Value::Float($wide(self))
            }

            fn has(value: Value) -> bool {
                let Value::Float(value) = value else { return false };
                Value::Float($wide($narrow(value))).is(Value::Float(value))
            }
        }
    )*};
}

#[expect(clippy::cast_possible_truncation, reason = "compared with the value")]
fn single(value: f64) -> f32 {
    value as f32
}

floats! {
    f16, f16::from_f64, f16::to_f64;
    f32, single, f64::from;
    f64, |value: f64| value, f64::from;
}

fn bytes_of<T: Datatype>(value: T) -> Value {
    let mut bytes = [0; 16];
    let packed = dtype_runtime::pack(&[value]);
    bytes[..packed.len()].copy_from_slice(&packed);
    Value::Bytes(bytes)
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
enum Choice {
    No = 0,
    Maybe = 97,
    Yes = 200,
}

impl Kind for Choice {
    const STORED: Class = Class::Integer;

    fn samples() -> Vec<Self> {
        vec![Self::No, Self::Maybe, Self::Yes]
    }

    fn value(self) -> Value {
        Value::Integer(self as i128)
    }

    fn has(value: Value) -> bool {
        Self::samples().into_iter().any(|one| one.value() == value)
    }
}

impl Kind for bool {
    const STORED: Class = Class::Own;
    const READ: Class = Class::Integer;

    fn samples() -> Vec<Self> {
        vec![false, true]
    }

    fn value(self) -> Value {
        Value::Integer(self.into())
    }

    fn has(value: Value) -> bool {
        matches!(value, Value::Integer(0 | 1))
    }
}

/// Only read: in some formats it is stored as an integer.
impl Kind for char {
    const STORED: Class = Class::Own;
    const READ: Class = Class::Integer;

    fn samples() -> Vec<Self> {
        Vec::new()
    }

    fn value(self) -> Value {
        Value::Integer(u32::from(self).into())
    }

    fn has(value: Value) -> bool {
        let Value::Integer(value) = value else { return false };
        u32::try_from(value).ok().and_then(Self::from_u32).is_some()
    }
}

macro_rules! others {
    ($($t:ty, $class:ident, [$($sample:expr),*];)*) => {$(
        impl Kind for $t {
            const STORED: Class = Class::$class;

            fn samples() -> Vec<Self> {
                vec![$($sample),*]
            }

            fn value(self) -> Value {
                bytes_of(self)
            }
        }
    )*};
}

others! {
    Complex<f32>, Own, [Complex::new(1.0, -0.0)];
    Complex<f64>, Own, [Complex::new(1.0, -0.0)];
    FixedStr<4>, Own, ["7".parse().unwrap()];
    // Only read: not every format has them.
    u128, Own, [];
    bf16, Own, [];
}

macro_rules! times {
    ($($t:ty, $is_point:expr, $unit:expr;)*) => {$(
        impl Kind for $t {
            const STORED: Class = Class::Time;
            const UNIT: Option<(bool, i128)> = Some(($is_point, $unit));

            fn samples() -> Vec<Self> {
                let more = [86_400_000_000_000, -3_000_000_000, 9_223_372_036, 9_223_372_037];
                i64::samples().into_iter().chain(more).map(Self::new).collect()
            }

            fn value(self) -> Value {
                Value::Integer(self.count().into())
            }
        }
    )*};
}

times! {
    Timestamp<Seconds>, true, 1_000_000_000;
    Timestamp<Nanoseconds>, true, 1;
    TimeSpan<Seconds>, false, 1_000_000_000;
}

/// A value by itself or in something else.
pub trait Wrap {
    type Of<T: Datatype + Copy>: Datatype + Copy;

    fn wrap<T: Datatype + Copy>(value: T) -> Self::Of<T>;

    fn unwrap<T: Datatype + Copy>(of: Self::Of<T>) -> T;
}

macro_rules! wraps {
    ($($(#[$doc:meta])* $name:ident, $t:ident, $of:ty, $value:ident: $wrap:expr, $unwrap:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        impl Wrap for $name {
            type Of<$t: Datatype + Copy> = $of;

            fn wrap<$t: Datatype + Copy>($value: $t) -> $of {
                $wrap
            }

            fn unwrap<$t: Datatype + Copy>($value: $of) -> $t {
                $unwrap
            }
        }
    )*};
}

wraps! {
    Itself, T, T, value: value, value;
    InArray, T, [T; 2], value: [value; 2], value[1];
    InMaybe, T, Maybe<T>, value: Maybe::some(value), value.into_option().unwrap();
    InList, T, FixedVec<T, 3>, value: FixedVec::from_slice(&[value; 2]).unwrap(), value[1];
}

/// Reads a value as a type, with the type's name, its class and the values that it has.
struct Target<F: Format> {
    name: &'static str,
    class: Class,
    unit: Option<(bool, i128)>,
    has: fn(Value) -> bool,
    read: fn(&F, &F::Stored) -> Result<Value, String>,
}

fn target<F: Format, W: Wrap, T: Kind>() -> Target<F> {
    let read = |format: &F, stored: &F::Stored| {
        let records = format.read::<(W::Of<T>,)>(stored)?;
        assert_eq!(records.len(), 1);
        Ok(W::unwrap::<T>(records[0].0).value())
    };
    Target { name: std::any::type_name::<T>(), class: T::READ, unit: T::UNIT, has: T::has, read }
}

/// Stores all samples of a type, and reads each as each of the targets.
fn read_as_all<F: Format, W: Wrap, S: Kind>(format: &F, targets: &[Target<F>]) {
    for sample in S::samples() {
        let stored = format.write(&[(W::wrap(sample),)]);
        for target in targets {
            if !F::HAS_TIMES && target.class == Class::Time {
                continue;
            }
            let found = (target.read)(format, &stored);
            let what = format!("{sample:?}: {} as {}", std::any::type_name::<S>(), target.name);
            let is_own = std::any::type_name::<S>() == target.name;
            let is_number = matches!(
                (S::STORED, target.class),
                (Class::Integer | Class::Time, Class::Integer) | (Class::Float, Class::Float)
            );
            let value = sample.value();
            // What is read; `None` if the kinds do not become each other, and none inside if the target lacks the value.
            let expected = match (S::UNIT, target.unit) {
                _ if is_own => Some(Some(value)),
                (Some((is_point, from)), Some((other, to))) => {
                    (is_point == other).then(|| rescaled(value, from, to, F::HAS_NAT))
                }
                _ => is_number.then(|| (target.has)(value).then_some(value)),
            };
            match (found, expected) {
                (Ok(found), Some(Some(expected))) => {
                    assert!(found.is(expected), "{what}: {found:?}");
                }
                (Err(error), Some(None)) => {
                    let at = error.starts_with("record 0, field 0");
                    assert!(at && error.contains("not a valid"), "{what}: {error}");
                    assert!(error.len() < 140, "{what}: {error}");
                }
                (Err(error), None) => assert!(!error.starts_with("record"), "{what}: {error}"),
                (found, _) => panic!("{what}: {found:?}"),
            }
        }
    }
}

/// A number of units of `from` nanoseconds in units of `to`.
fn rescaled(value: Value, from: i128, to: i128, has_nat: bool) -> Option<Value> {
    let Value::Integer(value) = value else { return None };
    if has_nat && value == i64::MIN.into() {
        return Some(Value::Integer(value));
    }
    let nanoseconds = value * from;
    let is_there = nanoseconds % to == 0 && i64::try_from(nanoseconds / to).is_ok();
    is_there.then(|| Value::Integer(nanoseconds / to))
}

macro_rules! each {
    ($($t:ty),*; $format:expr, $f:ident, $w:ident) => {
        let targets = [$(target::<$f, $w, $t>()),*];
        $(read_as_all::<$f, $w, $t>($format, &targets);)*
    };
}

/// Compares a format with the table.
pub fn check<F: Format, W: Wrap>(format: &F) {
    each! {
        i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64, Choice, bool, char, Complex<f32>, Complex<f64>, FixedStr<4>,
        Timestamp<Seconds>, Timestamp<Nanoseconds>, TimeSpan<Seconds>, u128, bf16; format, F, W
    }
}
