//! The structs, and the loops over them.

use dtype_runtime::Datatype;

/// A struct with hand-written packing and unpacking.
pub trait Shape: Datatype + Clone + Default + PartialEq + core::fmt::Debug + 'static {
    /// The types of the fields, as the bench prints them.
    const NAME: &'static str;

    /// Item `i` of a series of different values, which use each number's full range. The floats among them are
    /// finite, as some formats require.
    fn sample(i: usize) -> Self;

    /// Packs by hand, to the front of `out`.
    fn pack_by_hand(items: &[Self], out: &mut [u8]);

    /// Unpacks by hand, over `items`.
    fn unpack_by_hand(bytes: &[u8], items: &mut [Self]);
}

/// Defines a struct and implements [`Shape`] for it.
///
/// A field's name is its number. A type is a single token or in brackets, so that every derive sees it unchanged.
#[macro_export]
macro_rules! shape {
    (
        $(#[$meta:meta])*
        $name:ident = $text:literal {
            $($(#[$of_field:meta])* $field:ident: $ty:tt,)*
        }
        places { $($place:ident $([$index:literal])? $(.$part:ident)?: $leaf:ty,)* }
    ) => {
        #[derive(::dtype_runtime::Datatype, Clone, Debug, Default, PartialEq)]
        #[repr(C)]
        $(#[$meta])*
        pub struct $name {
            $(
                #[doc = concat!("A field of `", stringify!($ty), "`.")]
                $(#[$of_field])*
                pub $field: $ty,
            )*
        }

        impl $crate::shape::Shape for $name {
            const NAME: &'static str = $text;

            #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "any value will do")]
            #[allow(clippy::cast_lossless, clippy::unnecessary_cast, reason = "for every type")]
            fn sample(i: usize) -> Self {
                let mut item = Self::default();
                let mut value = i as u64;
                $(
                    value = value.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
                    item.$place $([$index])? $(.$part)? = (value ^ value >> 32) as $leaf;
                )*
                item
            }

            fn pack_by_hand(items: &[Self], out: &mut [u8]) {
                const SIZE: usize = 0 $(+ size_of::<$leaf>())*;
                for (item, chunk) in items.iter().zip(out.chunks_exact_mut(SIZE)) {
                    let mut at = 0;
                    $(
                        let bytes = item.$place $([$index])? $(.$part)?.to_ne_bytes();
                        chunk[at..at + bytes.len()].copy_from_slice(&bytes);
                        at += bytes.len();
                    )*
                    debug_assert_eq!(at, SIZE);
                }
            }

            fn unpack_by_hand(bytes: &[u8], items: &mut [Self]) {
                const SIZE: usize = 0 $(+ size_of::<$leaf>())*;
                for (item, chunk) in items.iter_mut().zip(bytes.chunks_exact(SIZE)) {
                    let mut at = 0;
                    $(
                        let mut bytes = [0; size_of::<$leaf>()];
                        bytes.copy_from_slice(&chunk[at..at + size_of::<$leaf>()]);
                        item.$place $([$index])? $(.$part)? = <$leaf>::from_ne_bytes(bytes);
                        at += size_of::<$leaf>();
                    )*
                    debug_assert_eq!(at, SIZE);
                }
            }
        }
    };
}

/// Defines the measured structs where this macro is invoked. Attributes can be added, such as the derives of other crates.
#[macro_export]
macro_rules! shapes {
    ($(#[$meta:meta])*) => {
        $crate::shape! {
            /// 13 bytes of 16: padding at the end.
            $(#[$meta])*
            Tail = "f64,u32,u8" { a: f64, b: u32, c: u8, }
            places { a: f64, b: u32, c: u8, }
        }

        $crate::shape! {
            /// 9 bytes of 16: padding in the middle.
            $(#[$meta])*
            Hole = "u8,u64" { a: u8, b: u64, }
            places { a: u8, b: u64, }
        }

        $crate::shape! {
            /// 6 bytes of 8.
            $(#[$meta])*
            Small = "u32,u16" { a: u32, b: u16, }
            places { a: u32, b: u16, }
        }

        $crate::shape! {
            /// 53 bytes of 56: two vectors, an identity and a kind.
            $(#[$meta])*
            Body = "3f64,3f64,u32,u8" { position: [f64; 3], velocity: [f64; 3], id: u32, kind: u8, }
            places {
                position[0]: f64, position[1]: f64, position[2]: f64,
                velocity[0]: f64, velocity[1]: f64, velocity[2]: f64,
                id: u32, kind: u8,
            }
        }

        $crate::shape! {
            /// 24 bytes of 32: padding in the middle and at the end.
            $(#[$meta])*
            Mixed = "3f32,f64,2i16" { a: [f32; 3], b: f64, c: [i16; 2], }
            places { a[0]: f32, a[1]: f32, a[2]: f32, b: f64, c[0]: i16, c[1]: i16, }
        }

        $crate::shape! {
            /// 16 bytes of 24: padding in two places and at the end.
            $(#[$meta])*
            Scattered = "u8,i16,i32,f64,u8" { a: u8, b: i16, c: i32, d: f64, e: u8, }
            places { a: u8, b: i16, c: i32, d: f64, e: u8, }
        }

        $crate::shape! {
            /// 12 bytes of 16. [`Nested`] contains this struct.
            $(#[$meta])*
            Pair = "i32,f64" { a: i32, b: f64, }
            places { a: i32, b: f64, }
        }

        $crate::shape! {
            /// 48 bytes of 72: padded structs in a struct.
            $(#[$meta])*
            Nested = "{i32,f64},2{u8,i16,i32,f64,u8},f32" { head: Pair, parts: [Scattered; 2], weight: f32, }
            places {
                head.a: i32, head.b: f64,
                parts[0].a: u8, parts[0].b: i16, parts[0].c: i32, parts[0].d: f64, parts[0].e: u8,
                parts[1].a: u8, parts[1].b: i16, parts[1].c: i32, parts[1].d: f64, parts[1].e: u8,
                weight: f32,
            }
        }
    };
}
