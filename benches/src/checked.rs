//! Records with values for which some bit patterns are invalid, and loops over them that check as much as the library does.
//!
//! A loop unpacks to a plain struct of its own, with the fields that a person would write without the library: an array of
//! bytes and a length for a text, an `Option` for a value that may be absent.

#![allow(
    clippy::cast_possible_truncation,
    reason = "samples of any bits, and short texts and lists"
)]

use core::num::NonZero;
use core::str;

use dtype_runtime::time::{Microseconds, Nanoseconds};
use dtype_runtime::{
    Datatype, FixedDuration, FixedSocketAddr, FixedStr, FixedVec, Maybe, TimeSpan, Timestamp,
};

/// The error for bytes that are not a valid value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid;

/// The type of a field, and what a loop reads in its place.
pub trait Field: Datatype + Clone + PartialEq + core::fmt::Debug {
    /// The value that the loop makes.
    type Plain: Copy + PartialEq + core::fmt::Debug;

    /// Any value, for the unused items of a list.
    const UNUSED: Self::Plain;

    /// Whether all bytes are values.
    const IS_ANY: bool = false;

    /// A value made of the bits.
    fn sample(bits: u64) -> Self;

    /// The same value, as the loop makes it.
    fn plain(&self) -> Self::Plain;

    /// The value of the packed bytes, which are as long as [`size`] says.
    ///
    /// # Errors
    ///
    /// If the bytes are not a valid value.
    fn read(bytes: &[u8]) -> Result<Self::Plain, Invalid>;
}

/// The packed size of a field in bytes.
pub const fn size<F: Datatype>() -> usize {
    F::TYPE_MAP.size()
}

/// Other bits for the next value.
const fn next(bits: u64) -> u64 {
    let bits = bits.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
    bits ^ bits >> 32
}

/// The value as an array: one load.
#[inline(always)]
fn whole<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Invalid> {
    bytes.try_into().map_err(|_| Invalid)
}

/// Implements [`Field`] for types that a loop makes, too.
macro_rules! plain_fields {
    ($($ty:ty, $unused:expr, $any:literal: |$bits:ident| $sample:expr, |$bytes:ident| $read:expr;)*) => { $(
        impl Field for $ty {
            type Plain = Self;

            const UNUSED: Self = $unused;

            const IS_ANY: bool = $any;

            #[allow(clippy::cast_precision_loss, reason = "any value will do")]
            #[allow(clippy::cast_lossless, trivial_numeric_casts, reason = "for every type")]
            fn sample($bits: u64) -> Self {
                $sample
            }

            fn plain(&self) -> Self {
                *self
            }

            #[inline(always)]
            fn read(bytes: &[u8]) -> Result<Self, Invalid> {
                let $bytes = whole(bytes)?;
                $read
            }
        }
    )* };
}

plain_fields! {
    u8, 0, true: |bits| bits as u8, |bytes| Ok(Self::from_ne_bytes(bytes));
    u16, 0, true: |bits| bits as u16, |bytes| Ok(Self::from_ne_bytes(bytes));
    u32, 0, true: |bits| bits as u32, |bytes| Ok(Self::from_ne_bytes(bytes));
    u64, 0, true: |bits| bits, |bytes| Ok(Self::from_ne_bytes(bytes));
    f32, 0.0, true: |bits| bits as f32, |bytes| Ok(Self::from_ne_bytes(bytes));
    f64, 0.0, true: |bits| bits as f64, |bytes| Ok(Self::from_ne_bytes(bytes));
    bool, false, false: |bits| bits % 2 == 1, |bytes| match bytes {
        [0] => Ok(false),
        [1] => Ok(true),
        [_] => Err(Invalid),
    };
    char, '\0', false: |bits| char::from_u32(bits as u32 % 0x0011_0000).unwrap_or('ß'),
        |bytes| char::from_u32(u32::from_ne_bytes(bytes)).ok_or(Invalid);
    NonZero<u16>, Self::MIN, false: |bits| Self::new(bits as u16).unwrap_or(Self::MIN),
        |bytes| Self::new(u16::from_ne_bytes(bytes)).ok_or(Invalid);
    NonZero<u64>, Self::MIN, false: |bits| Self::new(bits).unwrap_or(Self::MIN),
        |bytes| Self::new(u64::from_ne_bytes(bytes)).ok_or(Invalid);
    Timestamp<Microseconds>, Self::new(0), true: |bits| Self::new(bits.cast_signed()), |bytes| Ok(Self::new(i64::from_ne_bytes(bytes)));
    TimeSpan<Nanoseconds>, Self::new(0), true: |bits| Self::new(bits.cast_signed()), |bytes| Ok(Self::new(i64::from_ne_bytes(bytes)));
    Option<NonZero<u32>>, None, true: |bits| NonZero::new(bits as u32), |bytes| Ok(NonZero::new(u32::from_ne_bytes(bytes)));
}

impl Field for FixedDuration {
    type Plain = (u64, u32);

    const UNUSED: (u64, u32) = (0, 0);

    fn sample(bits: u64) -> Self {
        core::time::Duration::from_nanos(bits).into()
    }

    fn plain(&self) -> (u64, u32) {
        (self.get().as_secs(), self.get().subsec_nanos())
    }

    #[inline(always)]
    fn read(bytes: &[u8]) -> Result<(u64, u32), Invalid> {
        let (seconds, nanos) = (u64::read(&bytes[..8])?, u32::read(&bytes[8..])?);
        if nanos < 1_000_000_000 { Ok((seconds, nanos)) } else { Err(Invalid) }
    }
}

impl Field for FixedSocketAddr {
    /// Version, address, port, flow and scope.
    type Plain = (u8, [u8; 16], u16, u32, u32);

    const UNUSED: Self::Plain = (4, [0; 16], 0, 0, 0);

    fn sample(bits: u64) -> Self {
        let port = bits as u16;
        let bits = u128::from(bits);
        let address = core::net::IpAddr::from((bits << 64 | bits).to_be_bytes());
        core::net::SocketAddr::new(address, port).into()
    }

    fn plain(&self) -> Self::Plain {
        match self.get() {
            core::net::SocketAddr::V4(_) => (4, [0; 16], 0, 0, 0),
            core::net::SocketAddr::V6(v6) => {
                (6, v6.ip().octets(), v6.port(), v6.flowinfo(), v6.scope_id())
            }
        }
    }

    #[inline(always)]
    fn read(bytes: &[u8]) -> Result<Self::Plain, Invalid> {
        let version @ (4 | 6) = bytes[0] else { return Err(Invalid) };
        let (port, flow) = (u16::read(&bytes[17..19])?, u32::read(&bytes[19..23])?);
        Ok((version, whole(&bytes[1..17])?, port, flow, u32::read(&bytes[23..])?))
    }
}

/// A text as a loop stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<const N: usize> {
    len: u32,
    bytes: [u8; N],
}

impl<const N: usize> Field for FixedStr<N> {
    type Plain = Text<N>;

    const UNUSED: Text<N> = Text { len: 0, bytes: [0; N] };

    /// A text of up to `N` bytes; in one of eight, not all of it is ASCII.
    fn sample(bits: u64) -> Self {
        let len = (bits >> 8) as usize % (N + 1);
        let letters = (0..len).map(|i| (b'a' + ((bits >> (i % 56)) % 26) as u8) as char);
        let mut text: String = letters.collect();
        if bits.is_multiple_of(8) && len >= 2 {
            text.replace_range(..2, "ü");
        }
        Self::new(&text).unwrap_or_default()
    }

    fn plain(&self) -> Text<N> {
        let mut bytes = [0; N];
        bytes[..self.len()].copy_from_slice(self.as_bytes());
        Text { len: self.len() as u32, bytes }
    }

    #[inline(always)]
    fn read(bytes: &[u8]) -> Result<Text<N>, Invalid> {
        let (len, bytes) = (u32::read(&bytes[..4])?, &bytes[4..]);
        let text = bytes.get(..len as usize).ok_or(Invalid)?;
        str::from_utf8(text).map_err(|_| Invalid)?;
        Ok(Text { len, bytes: whole(bytes)? })
    }
}

/// A list as a loop stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Items<T, const N: usize> {
    len: u32,
    items: [T; N],
}

impl<T: Field + Copy, const N: usize> Field for FixedVec<T, N> {
    type Plain = Items<T::Plain, N>;

    const UNUSED: Self::Plain = Items { len: 0, items: [T::UNUSED; N] };

    fn sample(bits: u64) -> Self {
        let mut bits = bits;
        let mut list = Self::new();
        for _ in 0..(bits >> 8) as usize % (N + 1) {
            bits = next(bits);
            list.push(T::sample(bits)).expect("at most `N` items");
        }
        list
    }

    fn plain(&self) -> Self::Plain {
        let mut items = [T::UNUSED; N];
        for (item, value) in items.iter_mut().zip(self) {
            *item = value.plain();
        }
        Items { len: self.len() as u32, items }
    }

    #[inline(always)]
    fn read(bytes: &[u8]) -> Result<Self::Plain, Invalid> {
        let (len, bytes) = (u32::read(&bytes[..4])?, &bytes[4..]);
        if len as usize > N {
            return Err(Invalid);
        }
        // Without checks, all items are read: their number is a constant.
        let count = if T::IS_ANY { N } else { len as usize };
        let mut items = [T::UNUSED; N];
        for (item, value) in items.iter_mut().zip(bytes.chunks_exact(size::<T>())).take(count) {
            *item = T::read(value)?;
        }
        Ok(Items { len, items })
    }
}

impl<T: Field + Clone> Field for Maybe<T> {
    type Plain = Option<T::Plain>;

    const UNUSED: Self::Plain = None;

    fn sample(bits: u64) -> Self {
        (bits >> 9 & 1 == 1).then(|| T::sample(next(bits))).into()
    }

    fn plain(&self) -> Self::Plain {
        self.get().map(T::plain)
    }

    #[inline(always)]
    fn read(bytes: &[u8]) -> Result<Self::Plain, Invalid> {
        if bool::read(&bytes[..1])? { T::read(&bytes[1..]).map(Some) } else { Ok(None) }
    }
}

impl<T: Field, const N: usize> Field for [T; N] {
    type Plain = [T::Plain; N];

    const UNUSED: Self::Plain = [T::UNUSED; N];

    fn sample(bits: u64) -> Self {
        let mut bits = bits;
        core::array::from_fn(|_| {
            bits = next(bits);
            T::sample(bits)
        })
    }

    fn plain(&self) -> Self::Plain {
        self.each_ref().map(T::plain)
    }

    #[inline(always)]
    fn read(bytes: &[u8]) -> Result<Self::Plain, Invalid> {
        let mut all = [T::UNUSED; N];
        for (item, value) in all.iter_mut().zip(bytes.chunks_exact(size::<T>())) {
            *item = T::read(value)?;
        }
        Ok(all)
    }
}

macro_rules! enumeration {
    ($(#[$meta:meta])* $name:ident: $repr:ty { $first:ident = $least:literal, $($variant:ident = $value:literal,)* }) => {
        $(#[$meta])*
        #[derive(Datatype, Clone, Copy, Debug, PartialEq)]
        #[repr($repr)]
        pub enum $name {
            #[doc = stringify!($first)] $first = $least,
            $(#[doc = stringify!($variant)] $variant = $value,)*
        }

        plain_fields! {
            $name, Self::$first, false:
            |bits| [Self::$first, $(Self::$variant),*][bits as usize % [$least, $($value),*].len()],
            |bytes| match <$repr>::from_ne_bytes(bytes) {
                $least => Ok(Self::$first),
                $($value => Ok(Self::$variant),)*
                _ => Err(Invalid),
            };
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

enumeration! {
    /// Variants far apart.
    Code: u16 { Ok = 200, Moved = 301, Missing = 404, Failed = 500, }
}

/// A record with values to check, and hand-written unpacking.
pub trait CheckedShape: Field + 'static {
    /// The types of the fields, as the bench prints them.
    const NAME: &'static str;

    /// Unpacks by hand, over `items`. If a record is invalid, the items before it are overwritten, unlike in the library.
    ///
    /// # Errors
    ///
    /// If the bytes make an invalid value.
    #[inline(always)]
    fn unpack_by_hand(bytes: &[u8], items: &mut [Self::Plain]) -> Result<(), Invalid> {
        for (item, record) in items.iter_mut().zip(bytes.chunks_exact(size::<Self>())) {
            *item = Self::read(record)?;
        }
        Ok(())
    }

    /// Unpacks by hand to a new vector.
    ///
    /// # Errors
    ///
    /// If the bytes make an invalid value.
    #[inline(always)]
    fn collect_by_hand(bytes: &[u8]) -> Result<Vec<Self::Plain>, Invalid> {
        let mut items = Vec::with_capacity(bytes.len() / size::<Self>());
        for record in bytes.chunks_exact(size::<Self>()) {
            items.push(Self::read(record)?);
        }
        Ok(items)
    }
}

/// Defines a record, and the plain struct and the code of the loop. A check is a condition on the plain struct's fields.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $name:ident, $plain:ident = $text:literal { $($field:ident: $ty:ty,)* }
        $(check $check:ident: |$value:ident| $holds:expr;)?
    ) => {
        $(#[$meta])*
        #[derive(Datatype, Clone, Copy, Debug, PartialEq)]
        $(#[dtype(check = Self::$check)])?
        #[repr(C)]
        pub struct $name {
            $(#[doc = concat!("A field of `", stringify!($ty), "`.")] pub $field: $ty,)*
        }

        #[doc = concat!("What a loop makes of [`", stringify!($name), "`].")]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $plain {
            $(#[doc = concat!("A field of `", stringify!($ty), "`.")] pub $field: <$ty as Field>::Plain,)*
        }

        $(impl $name {
            #[inline(always)]
            fn $check(&self) -> bool {
                let $value = self;
                $holds
            }
        })?

        impl Field for $name {
            type Plain = $plain;

            const UNUSED: $plain = $plain { $($field: <$ty>::UNUSED,)* };

            #[allow(unused_assignments, reason = "the last field's bits lead nowhere")]
            fn sample(bits: u64) -> Self {
                let mut bits = bits;
                loop {
                    $(
                        bits = next(bits);
                        let $field = <$ty>::sample(bits);
                    )*
                    let sample = Self { $($field,)* };
                    $(if !sample.$check() { continue; })?
                    break sample;
                }
            }

            fn plain(&self) -> $plain {
                $plain { $($field: self.$field.plain(),)* }
            }

            #[allow(unused_assignments, reason = "nothing follows the last field")]
            #[inline(always)]
            fn read(bytes: &[u8]) -> Result<$plain, Invalid> {
                let mut rest = bytes;
                $(
                    let (field, after) = rest.split_at(size::<$ty>());
                    let $field = <$ty>::read(field)?;
                    rest = after;
                )*
                let plain = $plain { $($field,)* };
                $({
                    let $value = &plain;
                    if !$holds { return Err(Invalid); }
                })?
                Ok(plain)
            }
        }

        impl CheckedShape for $name {
            const NAME: &'static str = $text;
        }
    };
}

record! {
    /// 17 bytes of 24, 5 of which are checked.
    Glyph, PlainGlyph = "bool,char,f32,u64" { shown: bool, code: char, width: f32, id: u64, }
}

record! {
    /// 18 bytes of 24: two truth values.
    Switches, PlainSwitches = "f64,bool,bool,u64" { level: f64, on: bool, locked: bool, id: u64, }
}

record! {
    /// 21 bytes of 32: an enum whose variants have no gap, and numbers that are not zero.
    Order, PlainOrder = "NonZeroU64,Side,u32,f64" { id: NonZero<u64>, side: Side, amount: u32, price: f64, }
}

record! {
    /// 8 bytes of 8: an enum whose variants have gaps.
    Event, PlainEvent = "State,NonZeroU16,u32" { state: State, count: NonZero<u16>, time: u32, }
}

record! {
    /// 5 bytes of 8: hardly anything but values to check.
    Letter, PlainLetter = "char,bool" { code: char, bold: bool, }
}

record! {
    /// 42 bytes of 56: structs in a struct.
    Line, PlainLine = "f64,2{bool,char,f32,u64}" { height: f64, ends: [Glyph; 2], }
}

record! {
    /// 14 bytes of 16: an enum whose variants lie far apart.
    Answer, PlainAnswer = "Code,u32,f64" { code: Code, size: u32, time: f64, }
}

record! {
    /// 17 bytes of 24, with an invariant.
    Span, PlainSpan = "u64,f64,u8, check" { start: u64, length: f64, kind: u8, }
    check is_finite: |value| value.length.is_finite();
}

record! {
    /// 18 bytes of 24: a number that may be absent.
    Reading, PlainReading = "u64,Maybe<f64>,u8" { time: u64, value: Maybe<f64>, kind: u8, }
}

record! {
    /// 21 bytes of 24: a short text.
    Named, PlainNamed = "u64,FixedStr<8>,u8" { id: u64, name: FixedStr<8>, kind: u8, }
}

record! {
    /// A text, and numbers.
    Station, PlainStation = "FixedStr<24>,f64,f64,u32" { name: FixedStr<24>, north: f64, east: f64, height: u32, }
}

record! {
    /// A long text.
    Note, PlainNote = "u64,FixedStr<100>" { time: u64, text: FixedStr<100>, }
}

record! {
    /// A list of numbers.
    Series, PlainSeries = "u64,FixedVec<f32,8>" { time: u64, values: FixedVec<f32, 8>, }
}

record! {
    /// A list of values to check.
    Word, PlainWord = "u32,FixedVec<char,6>" { id: u32, letters: FixedVec<char, 6>, }
}

record! {
    /// Times and a peer.
    Connection, PlainConnection = "FixedSocketAddr,Timestamp,TimeSpan,FixedDuration" {
        peer: FixedSocketAddr,
        since: Timestamp<Microseconds>,
        idle: TimeSpan<Nanoseconds>,
        limit: FixedDuration,
    }
}

record! {
    /// What most services send: a name, a time, a struct, an enum, an option and a list. 90 packed bytes.
    Record, PlainRecord = "FixedStr<16>,Timestamp,{f64,f64,f32},Side,Maybe<f32>,FixedVec<f32,8>" {
        name: FixedStr<16>,
        time: Timestamp<Microseconds>,
        place: Place,
        side: Side,
        humidity: Maybe<f32>,
        values: FixedVec<f32, 8>,
    }
}

record! {
    /// Numbers only.
    Place, PlainPlace = "f64,f64,f32" { north: f64, east: f64, height: f32, }
}

record! {
    /// Structs with a text, in an array.
    Team, PlainTeam = "u32,3{u64,FixedStr<8>,u8}" { id: u32, members: [Named; 3], }
}

record! {
    /// A struct that may be absent.
    Trade, PlainTrade = "u64,Maybe<{NonZeroU64,Side,u32,f64}>" { time: u64, order: Maybe<Order>, }
}

record! {
    /// A list of structs with values to check.
    Book, PlainBook = "FixedStr<8>,FixedVec<{NonZeroU64,Side,u32,f64},4>" { name: FixedStr<8>, orders: FixedVec<Order, 4>, }
}

record! {
    /// Numbers that may be absent, in an array.
    Cells, PlainCells = "u64,4Maybe<f32>" { id: u64, cells: [Maybe<f32>; 4], }
}

record! {
    /// Structs with an invariant, in an array.
    Track, PlainTrack = "u64,2{u64,f64,u8, check}" { id: u64, spans: [Span; 2], }
}

record! {
    /// A text that may be absent.
    User, PlainUser = "u64,Maybe<FixedStr<12>>,bool" { id: u64, alias: Maybe<FixedStr<12>>, active: bool, }
}

record! {
    /// A list of texts.
    Tags, PlainTags = "u64,FixedVec<FixedStr<8>,3>" { id: u64, tags: FixedVec<FixedStr<8>, 3>, }
}

record! {
    /// Truth values in an array, and a number for which zero means nothing.
    Mask, PlainMask = "16bool,Option<NonZeroU32>,u32" { bits: [bool; 16], next: Option<NonZero<u32>>, id: u32, }
}

record! {
    /// A record in a record.
    Envelope, PlainEnvelope = "u64,{FixedStr<16>,…},Code" { id: u64, record: Record, code: Code, }
}

/// Calls a macro with the paths of all records.
#[macro_export]
macro_rules! for_each_checked_record {
    ($call:ident) => {
        $call! {
            $crate::checked::Glyph
            $crate::checked::Switches
            $crate::checked::Order
            $crate::checked::Event
            $crate::checked::Letter
            $crate::checked::Line
            $crate::checked::Answer
            $crate::checked::Span
            $crate::checked::Reading
            $crate::checked::Named
            $crate::checked::Station
            $crate::checked::Note
            $crate::checked::Series
            $crate::checked::Word
            $crate::checked::Connection
            $crate::checked::Record
            $crate::checked::Team
            $crate::checked::Trade
            $crate::checked::Book
            $crate::checked::Cells
            $crate::checked::Track
            $crate::checked::User
            $crate::checked::Tags
            $crate::checked::Mask
            $crate::checked::Envelope
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same_work<S: CheckedShape>() {
        for count in [0_u64, 1, 2, 17] {
            let items: Vec<S> = (0..count).map(S::sample).collect();
            let plain: Vec<S::Plain> = items.iter().map(S::plain).collect();
            let packed = dtype_runtime::pack(&items);
            assert_eq!(packed.len(), size::<S>() * items.len());
            let mut back = vec![S::sample(99).plain(); items.len()];
            assert_eq!(S::unpack_by_hand(&packed, &mut back), Ok(()));
            assert_eq!(back, plain, "{}", S::NAME);
            assert_eq!(S::collect_by_hand(&packed), Ok(plain));
            assert_eq!(dtype_runtime::unpack::<S>(&packed), Ok(items));
        }
        assert_ne!(S::sample(1), S::sample(2));
        let refused = vec![0xFF; size::<S>()];
        assert_eq!(S::collect_by_hand(&refused), Err(Invalid), "{}", S::NAME);
        assert!(dtype_runtime::unpack::<S>(&refused).is_err(), "{}", S::NAME);
    }

    #[test]
    fn the_loops_do_the_same_work_as_the_library() {
        macro_rules! all {
            ($($record:path)*) => { $( same_work::<$record>(); )* };
        }
        for_each_checked_record!(all);
    }
}
