//! The records as zerocopy requires them: without padding, in packed structs that are copied field by field.

use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::structs::{Body, Hole, Mixed, Nested, Pair, Scattered, Small, Tail};

/// A type that has a form without padding.
pub(crate) trait Wired: Sized {
    type Wire: FromBytes + IntoBytes + Immutable;

    fn to_wire(&self) -> Self::Wire;

    fn of_wire(wire: &Self::Wire) -> Self;
}

macro_rules! number {
    ($($ty:ty),*) => { $(
        impl Wired for $ty {
            type Wire = Self;

            fn to_wire(&self) -> Self {
                *self
            }

            fn of_wire(wire: &Self) -> Self {
                *wire
            }
        }
    )* };
}

number!(u8, i16, u16, i32, u32, u64, f32, f64);

impl<T: Wired, const N: usize> Wired for [T; N] {
    type Wire = [T::Wire; N];

    fn to_wire(&self) -> Self::Wire {
        self.each_ref().map(T::to_wire)
    }

    fn of_wire(wire: &Self::Wire) -> Self {
        wire.each_ref().map(T::of_wire)
    }
}

macro_rules! wire {
    ($name:ident for $record:ident { $($field:ident: $ty:ty,)* }) => {
        #[derive(Clone, Copy, FromBytes, IntoBytes, Immutable)]
        #[repr(C, packed)]
        pub(crate) struct $name {
            $($field: <$ty as Wired>::Wire,)*
        }

        impl Wired for $record {
            type Wire = $name;

            fn to_wire(&self) -> $name {
                $name { $($field: self.$field.to_wire(),)* }
            }

            fn of_wire(wire: &$name) -> Self {
                // Copies each field, because a field in a packed struct may not be aligned.
                $(let $field = wire.$field;)*
                Self { $($field: Wired::of_wire(&$field),)* }
            }
        }
    };
}

wire!(TailWire for Tail { a: f64, b: u32, c: u8, });
wire!(HoleWire for Hole { a: u8, b: u64, });
wire!(SmallWire for Small { a: u32, b: u16, });
wire!(BodyWire for Body { position: [f64; 3], velocity: [f64; 3], id: u32, kind: u8, });
wire!(MixedWire for Mixed { a: [f32; 3], b: f64, c: [i16; 2], });
wire!(ScatteredWire for Scattered { a: u8, b: i16, c: i32, d: f64, e: u8, });
wire!(PairWire for Pair { a: i32, b: f64, });
wire!(NestedWire for Nested { head: Pair, parts: [Scattered; 2], weight: f32, });

/// The records as bytes.
pub(crate) fn encode<S: Wired>(items: &[S]) -> Vec<u8> {
    let mut bytes = vec![0; items.len() * size_of::<S::Wire>()];
    for (item, place) in items.iter().zip(bytes.chunks_exact_mut(size_of::<S::Wire>())) {
        // The place has the length of the wire form, so this cannot fail.
        let _ = item.to_wire().write_to(place);
    }
    bytes
}

/// Reads records until the bytes end.
pub(crate) fn decode<S: Wired>(bytes: &[u8]) -> Vec<S> {
    bytes
        .chunks_exact(size_of::<S::Wire>())
        .map_while(|bytes| S::Wire::read_from_bytes(bytes).ok())
        .map(|wire| S::of_wire(&wire))
        .collect()
}
