//! Structs with `#[derive(Datatype)]`, in slices.

use core::hint::black_box;
use core::marker::PhantomData;
use core::{array, slice};

use dtype_runtime::{
    Datatype, Packer, Unpacker, pack, pack_into, packed_size, unpack, unpack_into,
};

use crate::class::Work;
use crate::interface::Sizes;
use crate::noise::Random;
use crate::timed::{Timed, done};

/// A type with random values. A value whose bytes are all zero must be valid.
pub(crate) trait Sample: Datatype + 'static {
    fn sample(random: &mut Random) -> Self;
}

macro_rules! numbers {
    ($($ty:ty)*) => { $(
        impl Sample for $ty {
            fn sample(random: &mut Random) -> Self {
                Self::from_ne_bytes(array::from_fn(|_| random.below(256) as u8))
            }
        }
    )* };
}

numbers! { u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 }

impl Sample for bool {
    fn sample(random: &mut Random) -> Self {
        random.below(2) == 1
    }
}

impl Sample for char {
    fn sample(random: &mut Random) -> Self {
        Self::from_u32(random.below(0xD800)).unwrap_or_default()
    }
}

impl<T: Sample, const N: usize> Sample for [T; N] {
    fn sample(random: &mut Random) -> Self {
        array::from_fn(|_| T::sample(random))
    }
}

/// Defines structs by their fields, and a list of them.
macro_rules! records {
    ($($(#[$repr:meta])? $name:ident($($field:ty),+);)+) => {
        $(
            $(#[$repr])?
            #[derive(Datatype)]
            struct $name($($field),+);

            impl Sample for $name {
                fn sample(random: &mut Random) -> Self {
                    Self($(<$field>::sample(random)),+)
                }
            }
        )+

        /// The fields of each struct, and the work on slices of it.
        pub(crate) const ALL: &[(&str, fn() -> Box<dyn Timed>)] =
            &[$((stringify!($($field),+), || Box::new(Records::<$name>(PhantomData)))),+];
    };
}

// Half of the structs are not `repr(C)`: the compiler orders their fields.
records! {
    #[repr(C)] A(u64, [u8; 5]);
    B(u64, u32);
    #[repr(C)] C([u64; 30], u8);
    #[repr(C)] D(bool, u8, u16);
    E([bool; 3], f64);
    #[repr(C)] F(f64, bool);
    G(u32, bool, u64, bool);
    #[repr(C)] H(f64, i16);
    I(u8, u16, u32, u64);
    #[repr(C)] J(u32, [u8; 9], u64);
    K([u16; 7], u64, u8);
    #[repr(C)] L([u32; 3], [u8; 7], u16);
    M(B, u16, [H; 2]);
    #[repr(C)] N(u8, [f64; 12], u8, [f32; 5]);
    O(u16, u8);
    #[repr(C)] P(f32, [u8; 2]);
    Q(char, u8);
    #[repr(C)] R([f32; 3], u64, [u8; 3]);
    S([u64; 2], u32, u8);
    #[repr(C)] T(i64, f32, [i8; 3], f64);
    U(u8, [u64; 2], u8, [u64; 2], u8);
    #[repr(C)] V([u8; 33], u64);
    W(f64, f64, f64, u32);
    #[repr(C)] X(u32, u64, u32, u64);
    Y(u16, char, bool, f32);
    #[repr(C)] Z(u8, u8, f64, u8, i32, f64);
}

/// Slices of records.
struct Records<T>(PhantomData<T>);

impl<T: Sample> Records<T> {
    /// The memory as records.
    ///
    /// # Safety
    ///
    /// The memory must be aligned to 16 bytes, have a multiple of a record's bytes, and be zeros or what `fill` wrote.
    unsafe fn items(memory: &mut [u8]) -> &mut [T] {
        const { assert!(align_of::<T>() <= 16) };
        let count = memory.len() / size_of::<T>();
        // SAFETY: the memory is aligned and borrowed, and the slice has its length. Zeros are a valid value of every `Sample`,
        // and later values were unpacked over them.
        unsafe { slice::from_raw_parts_mut(memory.as_mut_ptr().cast(), count) }
    }
}

impl<T: Sample> Timed for Records<T> {
    fn sizes(&self, count: usize) -> Sizes {
        Sizes { memory: size_of::<T>() * count, packed: packed_size::<T>(count) }
    }

    unsafe fn fill(&self, memory: &mut [u8], seed: u64) {
        let mut random = Random::new(seed);
        // SAFETY: the caller's promise.
        let items = unsafe { Self::items(memory) };
        for item in &mut *items {
            // An assignment could write to the padding, which must remain zero.
            done(unpack_into(&pack(&[T::sample(&mut random)]), slice::from_mut(item)));
        }
        // The bench compares only the buffers, so compare the new vectors here.
        let mut bytes = vec![0; packed_size::<T>(items.len())];
        done(pack_into(items, &mut bytes));
        assert!(pack(items) == bytes, "a new vector has other bytes");
        assert!(pack(&done(unpack::<T>(&bytes))) == bytes, "a new vector has other records");
    }

    unsafe fn run(
        &self,
        work: Work,
        memory: &mut [u8],
        packed: &mut [u8],
        _: usize,
        repetitions: u32,
    ) {
        // SAFETY: the caller's promise.
        let items = unsafe { Self::items(memory) };
        let fragment = work.fragment().unwrap_or(usize::MAX);
        let all = 0..repetitions;
        match work {
            Work::Pack => all.for_each(|_| {
                done(pack_into(black_box::<&[T]>(items), black_box::<&mut [u8]>(packed)));
            }),
            Work::Unpack => all.for_each(|_| {
                let to = black_box::<&mut [T]>(items);
                done(unpack_into(black_box::<&[u8]>(packed), to));
            }),
            Work::PackKib | Work::Pack8Kib => all.for_each(|_| {
                let mut packer = Packer::new(black_box::<&[T]>(items));
                for out in black_box::<&mut [u8]>(packed).chunks_mut(fragment) {
                    packer.pack(out);
                }
            }),
            Work::UnpackKib | Work::Unpack8Kib => all.for_each(|_| {
                let mut unpacker = Unpacker::new(black_box::<&mut [T]>(items));
                for bytes in black_box::<&[u8]>(packed).chunks(fragment) {
                    done(unpacker.unpack(bytes));
                }
            }),
            Work::PackNew => all.for_each(|_| drop(black_box(pack(black_box::<&[T]>(items))))),
            Work::UnpackNew => {
                all.for_each(|_| drop(black_box(done(unpack::<T>(black_box::<&[u8]>(packed))))));
            }
            Work::Create => unreachable!("records are not made at run time"),
        }
    }
}
