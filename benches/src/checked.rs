//! Structs with values for which some bit patterns are invalid, and loops over them that check as much as the library does.

use core::num::NonZero;

use dtype_runtime::Datatype;

/// The error for bytes that are not a valid value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid;

/// A value of a basic datatype.
pub trait Leaf: Copy {
    /// The value's bytes.
    type Bytes: AsRef<[u8]> + for<'a> TryFrom<&'a [u8]>;

    /// A value made of the bits.
    fn sample(bits: u64) -> Self;

    /// Returns the value's bytes.
    fn to_bytes(self) -> Self::Bytes;

    /// Returns the value of the bytes.
    ///
    /// # Errors
    ///
    /// If the bytes are not a valid value.
    fn from_bytes(bytes: Self::Bytes) -> Result<Self, Invalid>;
}

macro_rules! numbers {
    ($($ty:ty)*) => { $(
        impl Leaf for $ty {
            type Bytes = [u8; size_of::<$ty>()];

            #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "any value will do")]
            #[allow(clippy::cast_lossless, trivial_numeric_casts, reason = "for every type")]
            fn sample(bits: u64) -> Self {
                bits as $ty
            }

            #[inline(always)]
            fn to_bytes(self) -> Self::Bytes {
                self.to_ne_bytes()
            }

            #[inline(always)]
            fn from_bytes(bytes: Self::Bytes) -> Result<Self, Invalid> {
                Ok(Self::from_ne_bytes(bytes))
            }
        }
    )* };
}

numbers! { u8 u16 u32 u64 f32 f64 }

macro_rules! non_zero {
    ($($ty:ty)*) => { $(
        impl Leaf for NonZero<$ty> {
            type Bytes = [u8; size_of::<$ty>()];

            fn sample(bits: u64) -> Self {
                NonZero::new(<$ty>::sample(bits)).unwrap_or(NonZero::<$ty>::MIN)
            }

            #[inline(always)]
            fn to_bytes(self) -> Self::Bytes {
                self.get().to_ne_bytes()
            }

            #[inline(always)]
            fn from_bytes(bytes: Self::Bytes) -> Result<Self, Invalid> {
                NonZero::new(<$ty>::from_ne_bytes(bytes)).ok_or(Invalid)
            }
        }
    )* };
}

non_zero! { u16 u64 }

impl Leaf for bool {
    type Bytes = [u8; 1];

    fn sample(bits: u64) -> Self {
        bits % 2 == 1
    }

    #[inline(always)]
    fn to_bytes(self) -> Self::Bytes {
        [self.into()]
    }

    #[inline(always)]
    fn from_bytes([byte]: Self::Bytes) -> Result<Self, Invalid> {
        match byte {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Invalid),
        }
    }
}

impl Leaf for char {
    type Bytes = [u8; 4];

    fn sample(bits: u64) -> Self {
        char::from_u32(u32::sample(bits) % 0x0011_0000).unwrap_or('ß')
    }

    #[inline(always)]
    fn to_bytes(self) -> Self::Bytes {
        u32::from(self).to_ne_bytes()
    }

    #[inline(always)]
    fn from_bytes(bytes: Self::Bytes) -> Result<Self, Invalid> {
        char::from_u32(u32::from_ne_bytes(bytes)).ok_or(Invalid)
    }
}

macro_rules! enumeration {
    ($(#[$meta:meta])* $name:ident: $repr:ty { $($variant:ident = $value:literal,)* }) => {
        $(#[$meta])*
        #[derive(Datatype, Clone, Copy, Debug, PartialEq)]
        #[repr($repr)]
        pub enum $name { $(#[doc = stringify!($variant)] $variant = $value,)* }

        impl Leaf for $name {
            type Bytes = [u8; size_of::<$repr>()];

            fn sample(bits: u64) -> Self {
                let all = [$(Self::$variant),*];
                all[usize::from(u16::sample(bits)) % all.len()]
            }

            #[inline(always)]
            fn to_bytes(self) -> Self::Bytes {
                (self as $repr).to_ne_bytes()
            }

            #[inline(always)]
            fn from_bytes(bytes: Self::Bytes) -> Result<Self, Invalid> {
                match <$repr>::from_ne_bytes(bytes) {
                    $($value => Ok(Self::$variant),)*
                    _ => Err(Invalid),
                }
            }
        }
    };
}

enumeration! {
    /// Variants without a gap.
    Side: u8 { Buy = 0, Sell = 1, Short = 2, }
}

enumeration! {
    /// Variants with gaps.
    State: u16 { New = 1, Open = 2, Filled = 4, Cancelled = 8, Expired = 32, }
}

/// A struct with values to check, and hand-written packing and unpacking.
pub trait CheckedShape: Datatype + Clone + PartialEq + core::fmt::Debug + 'static {
    /// The types of the fields, as the bench prints them.
    const NAME: &'static str;

    /// Item `i` of a series of different values.
    fn sample(i: usize) -> Self;

    /// Packs by hand, to the front of `out`.
    fn pack_by_hand(items: &[Self], out: &mut [u8]);

    /// Unpacks by hand, over `items`. If a record is invalid, the items before it are overwritten, unlike in the library.
    ///
    /// # Errors
    ///
    /// If the bytes make an invalid value.
    fn unpack_by_hand(bytes: &[u8], items: &mut [Self]) -> Result<(), Invalid>;

    /// Unpacks by hand to a new vector.
    ///
    /// # Errors
    ///
    /// If the bytes make an invalid value.
    fn collect_by_hand(bytes: &[u8]) -> Result<Vec<Self>, Invalid>;
}

/// Defines a struct and implements [`CheckedShape`] for it. `places` are its leaves, and `made of` is the expression that a new
/// value is made with, of variables with the names in front of the places.
macro_rules! shape {
    (
        $(#[$meta:meta])*
        $name:ident = $text:literal { $($field:ident: $ty:ty,)* }
        places { $($var:ident = $place:ident $([$index:literal])? $(.$part:ident)?: $leaf:ty,)* }
        made of $value:expr;
    ) => {
        $(#[$meta])*
        #[derive(Datatype, Clone, Debug, PartialEq)]
        #[repr(C)]
        pub struct $name {
            $(#[doc = concat!("A field of `", stringify!($ty), "`.")] pub $field: $ty,)*
        }

        impl $name {
            const SIZE: usize = 0 $(+ size_of::<$leaf>())*;
        }

        impl CheckedShape for $name {
            const NAME: &'static str = $text;

            #[allow(unused_assignments, reason = "the last leaf's bits lead nowhere")]
            fn sample(i: usize) -> Self {
                let mut bits = i as u64;
                $(
                    bits = bits.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
                    let $var = <$leaf>::sample(bits ^ bits >> 32);
                )*
                $value
            }

            fn pack_by_hand(items: &[Self], out: &mut [u8]) {
                for (item, chunk) in items.iter().zip(out.chunks_exact_mut(Self::SIZE)) {
                    let mut at = 0;
                    $(
                        let bytes = item.$place $([$index])? $(.$part)?.to_bytes();
                        chunk[at..at + bytes.len()].copy_from_slice(&bytes);
                        at += bytes.len();
                    )*
                    debug_assert_eq!(at, Self::SIZE);
                }
            }

            fn unpack_by_hand(bytes: &[u8], items: &mut [Self]) -> Result<(), Invalid> {
                for (item, chunk) in items.iter_mut().zip(bytes.chunks_exact(Self::SIZE)) {
                    let mut at = 0;
                    $(
                        let bytes = chunk[at..at + size_of::<$leaf>()].try_into().map_err(|_| Invalid)?;
                        item.$place $([$index])? $(.$part)? = <$leaf>::from_bytes(bytes)?;
                        at += size_of::<$leaf>();
                    )*
                    debug_assert_eq!(at, Self::SIZE);
                }
                Ok(())
            }

            fn collect_by_hand(bytes: &[u8]) -> Result<Vec<Self>, Invalid> {
                let mut items = Vec::with_capacity(bytes.len() / Self::SIZE);
                for chunk in bytes.chunks_exact(Self::SIZE) {
                    let mut at = 0;
                    $(
                        let bytes = chunk[at..at + size_of::<$leaf>()].try_into().map_err(|_| Invalid)?;
                        let $var = <$leaf>::from_bytes(bytes)?;
                        at += size_of::<$leaf>();
                    )*
                    debug_assert_eq!(at, Self::SIZE);
                    items.push($value);
                }
                Ok(items)
            }
        }
    };
}

shape! {
    /// 17 bytes of 24, 5 of which are checked.
    Glyph = "bool,char,f32,u64" { shown: bool, code: char, width: f32, id: u64, }
    places { shown = shown: bool, code = code: char, width = width: f32, id = id: u64, }
    made of Self { shown, code, width, id };
}

shape! {
    /// 18 bytes of 24: two truth values.
    Switches = "f64,bool,bool,u64" { level: f64, on: bool, locked: bool, id: u64, }
    places { level = level: f64, on = on: bool, locked = locked: bool, id = id: u64, }
    made of Self { level, on, locked, id };
}

shape! {
    /// 21 bytes of 32: an enum whose variants have no gap, and numbers that are not zero.
    Order = "NonZeroU64,Side,u32,f64" { id: NonZero<u64>, side: Side, amount: u32, price: f64, }
    places { id = id: NonZero<u64>, side = side: Side, amount = amount: u32, price = price: f64, }
    made of Self { id, side, amount, price };
}

shape! {
    /// 8 bytes of 8: an enum whose variants have gaps.
    Event = "State,NonZeroU16,u32" { state: State, count: NonZero<u16>, time: u32, }
    places { state = state: State, count = count: NonZero<u16>, time = time: u32, }
    made of Self { state, count, time };
}

shape! {
    /// 5 bytes of 8: hardly anything but values to check.
    Letter = "char,bool" { code: char, bold: bool, }
    places { code = code: char, bold = bold: bool, }
    made of Self { code, bold };
}

shape! {
    /// 42 bytes of 56: structs in a struct.
    Line = "f64,2{bool,char,f32,u64}" { height: f64, ends: [Glyph; 2], }
    places {
        height = height: f64,
        a = ends[0].shown: bool, b = ends[0].code: char, c = ends[0].width: f32, d = ends[0].id: u64,
        e = ends[1].shown: bool, f = ends[1].code: char, g = ends[1].width: f32, h = ends[1].id: u64,
    }
    made of Self {
        height,
        ends: [Glyph { shown: a, code: b, width: c, id: d }, Glyph { shown: e, code: f, width: g, id: h }],
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same_work<S: CheckedShape>() {
        for count in [0, 1, 2, 17] {
            let items: Vec<S> = (0..count).map(S::sample).collect();
            let packed = dtype_runtime::pack(&items);
            let mut by_hand = vec![0; packed.len()];
            S::pack_by_hand(&items, &mut by_hand);
            assert_eq!(packed, by_hand, "{}", S::NAME);
            let mut back = vec![S::sample(99); count];
            assert_eq!(S::unpack_by_hand(&by_hand, &mut back), Ok(()));
            assert_eq!(back, items, "{}", S::NAME);
            assert_eq!(S::collect_by_hand(&by_hand), Ok(items));
        }
        assert_ne!(S::sample(1), S::sample(2));
        let refused = vec![0xFF; size_of_val(&S::sample(0))];
        assert_eq!(S::collect_by_hand(&refused), Err(Invalid), "{}", S::NAME);
        assert_eq!(S::unpack_by_hand(&refused, &mut [S::sample(0)]), Err(Invalid));
    }

    #[test]
    fn the_loops_do_the_same_work_as_the_library() {
        same_work::<Glyph>();
        same_work::<Switches>();
        same_work::<Order>();
        same_work::<Event>();
        same_work::<Letter>();
        same_work::<Line>();
    }
}
