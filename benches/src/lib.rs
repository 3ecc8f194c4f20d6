//! The structs that the benches pack, each with the loop that a person would write for it.
//!
//! A hand-written loop copies field by field, in chunks of the record's packed size, so that the
//! compiler knows every length and drops every bounds check. The tests make sure that it does the
//! same work as the library.

pub mod turns;

use dtype_runtime::Datatype;

/// A struct with hand-written packing and unpacking.
pub trait Shape: Datatype + Clone + PartialEq + core::fmt::Debug {
    /// The fields, as a bench's name.
    const NAME: &'static str;

    /// The `i`-th of a series of different values.
    fn sample(i: usize) -> Self;

    /// Packs by hand, to the front of `out`.
    fn pack_by_hand(items: &[Self], out: &mut [u8]);

    /// Unpacks by hand, over `items`.
    fn unpack_by_hand(bytes: &[u8], items: &mut [Self]);
}

macro_rules! copy_out {
    ($chunk:ident, $at:ident, $value:expr) => {{
        let bytes = $value.to_ne_bytes();
        $chunk[$at..$at + bytes.len()].copy_from_slice(&bytes);
        $at += bytes.len();
    }};
}

macro_rules! copy_in {
    ($chunk:ident, $at:ident, $place:expr, $ty:ty) => {{
        let mut bytes = [0; size_of::<$ty>()];
        bytes.copy_from_slice(&$chunk[$at..$at + size_of::<$ty>()]);
        $place = <$ty>::from_ne_bytes(bytes);
        $at += size_of::<$ty>();
    }};
}

macro_rules! shape {
    (
        $(#[$doc:meta])*
        $name:ident = $text:literal {
            $($field:ident: $ty:ty,)*
        }
        places { $($place:ident $([$index:literal])? $(.$part:ident)?: $leaf:ty,)* }
    ) => {
        $(#[$doc])*
        #[derive(Datatype, Clone, Debug, PartialEq)]
        #[repr(C)]
        pub struct $name {
            $(#[doc = concat!("A field of `", stringify!($ty), "`.")] pub $field: $ty,)*
        }

        impl Shape for $name {
            const NAME: &'static str = $text;

            fn sample(i: usize) -> Self {
                let mut item = Self { $($field: Default::default(),)* };
                let mut value = i as u64;
                $(
                    value = value.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
                    // Small enough for every type, floats included, to hold it exactly.
                    item.$place $([$index])? $(.$part)? = (value >> 58) as u8 as $leaf;
                )*
                item
            }

            fn pack_by_hand(items: &[Self], out: &mut [u8]) {
                const SIZE: usize = 0 $(+ size_of::<$leaf>())*;
                for (item, chunk) in items.iter().zip(out.chunks_exact_mut(SIZE)) {
                    let mut at = 0;
                    $(copy_out!(chunk, at, item.$place $([$index])? $(.$part)?);)*
                    debug_assert_eq!(at, SIZE);
                }
            }

            fn unpack_by_hand(bytes: &[u8], items: &mut [Self]) {
                const SIZE: usize = 0 $(+ size_of::<$leaf>())*;
                for (item, chunk) in items.iter_mut().zip(bytes.chunks_exact(SIZE)) {
                    let mut at = 0;
                    $(copy_in!(chunk, at, item.$place $([$index])? $(.$part)?, $leaf);)*
                    debug_assert_eq!(at, SIZE);
                }
            }
        }
    };
}

shape! {
    /// 13 bytes of 16: padding at the end.
    Tail = "f64,u32,u8" { a: f64, b: u32, c: u8, }
    places { a: f64, b: u32, c: u8, }
}

shape! {
    /// 9 bytes of 16: padding in the middle.
    Hole = "u8,u64" { a: u8, b: u64, }
    places { a: u8, b: u64, }
}

shape! {
    /// 6 bytes of 8.
    Small = "u32,u16" { a: u32, b: u16, }
    places { a: u32, b: u16, }
}

shape! {
    /// 53 bytes of 56: two vectors, an identity and a kind.
    Body = "3f64,3f64,u32,u8" { position: [f64; 3], velocity: [f64; 3], id: u32, kind: u8, }
    places {
        position[0]: f64, position[1]: f64, position[2]: f64,
        velocity[0]: f64, velocity[1]: f64, velocity[2]: f64,
        id: u32, kind: u8,
    }
}

shape! {
    /// 24 bytes of 32: padding in the middle and at the end.
    Mixed = "3f32,f64,2i16" { a: [f32; 3], b: f64, c: [i16; 2], }
    places { a[0]: f32, a[1]: f32, a[2]: f32, b: f64, c[0]: i16, c[1]: i16, }
}

shape! {
    /// 16 bytes of 24: padding in three places.
    Scattered = "u8,i16,i32,f64,u8" { a: u8, b: i16, c: i32, d: f64, e: u8, }
    places { a: u8, b: i16, c: i32, d: f64, e: u8, }
}

/// A part of [`Nested`]: 12 bytes of 16.
#[derive(Datatype, Clone, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Pair {
    /// A field of `i32`.
    pub a: i32,
    /// A field of `f64`.
    pub b: f64,
}

shape! {
    /// 52 bytes of 72: structs in a struct, which spans more than a cache line.
    Nested = "{i32,f64},[{i32,f64};3],f32" { one: Pair, more: [Pair; 3], end: f32, }
    places {
        one.a: i32, one.b: f64,
        more[0].a: i32, more[0].b: f64, more[1].a: i32, more[1].b: f64, more[2].a: i32, more[2].b: f64,
        end: f32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same_work<S: Shape>() {
        for count in [0, 1, 2, 17] {
            let items: Vec<S> = (0..count).map(S::sample).collect();
            let packed = dtype_runtime::pack(&items);
            let mut by_hand = vec![0; packed.len()];
            S::pack_by_hand(&items, &mut by_hand);
            assert_eq!(packed, by_hand, "{}", S::NAME);
            let mut back = vec![S::sample(99); count];
            S::unpack_by_hand(&by_hand, &mut back);
            assert_eq!(back, items, "{}", S::NAME);
        }
        assert_ne!(S::sample(1), S::sample(2));
    }

    #[test]
    fn the_loops_do_the_same_work_as_the_library() {
        same_work::<Tail>();
        same_work::<Hole>();
        same_work::<Small>();
        same_work::<Body>();
        same_work::<Mixed>();
        same_work::<Scattered>();
        same_work::<Nested>();
    }
}
