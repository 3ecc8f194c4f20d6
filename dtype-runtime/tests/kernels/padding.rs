//! Padding does not change, and neither a branch nor a packed byte depends on it. Some padding here is uninitialised, so that
//! Valgrind's memcheck, which tracks every byte, reports such a dependence.

use core::mem::MaybeUninit;

use crate::{alone, each_isa};
use dtype_runtime::{
    Datatype, Packer, Type, Unpacker, pack, packed_size, runs, unpack, unpack_into,
};

#[derive(Datatype, Clone, Copy)]
#[repr(C)]
struct Holes {
    a: u8,
    b: u64,
    c: u16,
    d: [(u8, u32); 3],
    e: bool,
}

/// Records in which only the data have ever been written.
fn records(count: usize) -> Vec<Holes> {
    let mut memory: Vec<MaybeUninit<Holes>> = Vec::with_capacity(count);
    memory.resize_with(count, MaybeUninit::uninit);
    for (i, record) in memory.iter_mut().enumerate() {
        let base = record.as_mut_ptr().cast::<u8>();
        for (n, at) in runs::<Holes>().into_iter().flatten().enumerate() {
            // SAFETY: a byte of data, inside the record. The `bool` gets 0 or 1.
            unsafe { base.add(at).write(u8::try_from((i + n) % 2).unwrap_or(0)) };
        }
    }
    // SAFETY: all data are initialised and valid; padding need not be.
    memory.into_iter().map(|record| unsafe { record.assume_init() }).collect()
}

#[test]
fn padding_is_not_read() {
    let records = records(40);
    let packed = pack(&records);
    // The comparison is a branch on every byte, which memcheck checks.
    assert!(packed.iter().all(|&byte| byte <= 1));
    assert!(packed.contains(&0) && packed.contains(&1));

    let committed = Type::of::<Holes>().commit();
    let mut out = vec![0xFF; packed.len()];
    // SAFETY: the type describes the records; `out` is another object.
    let length = unsafe { committed.pack_raw(records.as_ptr().cast(), records.len(), &mut out) };
    assert_eq!(length, Ok(out.len()));
    assert_eq!(out, packed);

    let back: Vec<Holes> = unpack(&packed).unwrap();
    assert_eq!(pack(&back), packed);
    let mut over = records;
    assert_eq!(unpack_into(&out, &mut over), Ok(out.len()));
    assert!(pack(&over).iter().all(|&byte| byte <= 1));
}

/// Structs with padding. A register of AVX2 holds several of them, one, or a part of one.
macro_rules! padded {
    ($($name:ident { $($field:ident: $type:ty),* } $(align $align:literal)?;)*) => { $(
        #[derive(Datatype)]
        #[repr(C $(, align($align))?)]
        struct $name { $($field: $type),* }
    )* };
}

padded! {
    Quarter { a: u32, b: u16 };
    Bytes { a: u8, b: u16, c: u8 };
    Half { a: f64, b: u32, c: u8 };
    Behind { a: u8, b: u64 };
    OddHalf { a: [i16; 5], b: i16, c: i8 };
    Three { a: u64, b: u8, c: u32, d: f64 };
    Five { a: u16, b: u64, c: u8, d: u32, e: u16, f: u64 };
    Seven { a: [f64; 6], b: u32, c: u8 };
    SevenOfEight { a: [u16; 12], b: u16, c: u8 };
    Shifted { a: [u32; 4], b: u8, c: [u32; 4] };
    Wide { a: u8, b: [u16; 40], c: u32, d: u8 };
    Sparse { a: u8, b: u32 } align 32;
    Checked { a: bool, b: bool, c: f32, d: u64 };
}

fn check<T: Datatype>() {
    const CANARY: u8 = 0xC5;
    let (size, stride) = (packed_size::<T>(1), size_of::<T>());
    let mut is_data = vec![false; stride];
    runs::<T>().into_iter().for_each(|run| is_data[run].fill(true));
    let counts: Vec<usize> =
        if cfg!(miri) { vec![1, 30] } else { (0..40).chain([64, 99, 130, 200, 511]).collect() };
    // In a checked type, zeros and ones are valid everywhere.
    let most = if T::TYPE_MAP.is_restricted() { 2_usize } else { 251 };
    for count in counts {
        let bytes: Vec<u8> = (0..count * size).map(|i| (i * 7 % most).to_le_bytes()[0]).collect();
        let mut memory: Vec<T> = Vec::with_capacity(count);
        let start = memory.as_mut_ptr().cast::<u8>();
        for at in 0..count * stride {
            // SAFETY: a byte of the memory. The data become zeros, which are valid values.
            unsafe { start.add(at).write(if is_data[at % stride] { 0 } else { CANARY }) };
        }
        // SAFETY: all data are valid.
        unsafe { memory.set_len(count) };
        // The fields lie in memory in the order in which they are packed.
        let compare = |memory: &[T], bytes: &[u8]| {
            let mut next = bytes.iter();
            for at in 0..count * stride {
                // SAFETY: a byte that was written above, in memory that nothing moved.
                let byte = unsafe { memory.as_ptr().cast::<u8>().add(at).read() };
                let expected = if is_data[at % stride] { *next.next().unwrap() } else { CANARY };
                assert_eq!(byte, expected, "{count} records, byte {at}");
            }
        };
        assert_eq!(unpack_into(&bytes, &mut memory), Ok(bytes.len()));
        compare(&memory, &bytes);
        assert_eq!(pack(&memory), bytes);
        let other: Vec<u8> = bytes.iter().map(|byte| (most - 1).to_le_bytes()[0] - byte).collect();
        let mut unpacker = Unpacker::new(&mut memory);
        for fragment in other.chunks(777) {
            assert_eq!(unpacker.unpack(fragment), Ok(fragment.len()));
        }
        assert!(unpacker.is_complete());
        compare(&memory, &other);
        let (mut packer, mut out) = (Packer::new(&memory), vec![0xEE; other.len()]);
        out.chunks_mut(1001).for_each(|fragment| assert_eq!(packer.pack(fragment), fragment.len()));
        assert_eq!(out, other);
        let new: Vec<T> = unpack(&bytes).unwrap();
        assert_eq!(pack(&new), bytes);
    }
}

#[test]
fn padding_is_kept_by_every_instruction_set() {
    let _alone = alone();
    for _ in each_isa() {
        check::<Half>();
        check::<Three>();
        check::<Checked>();
        // These take minutes under Miri.
        if cfg!(miri) {
            continue;
        }
        check::<Quarter>();
        check::<Bytes>();
        check::<Behind>();
        check::<OddHalf>();
        check::<Five>();
        check::<Seven>();
        check::<SevenOfEight>();
        check::<Shifted>();
        check::<Wide>();
        check::<Sparse>();
    }
}
