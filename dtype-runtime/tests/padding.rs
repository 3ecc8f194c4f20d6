//! Padding that really is uninitialised. Valgrind's memcheck, which tracks every byte, shows that no padding byte
//! reaches a decision or the packed bytes.

#![cfg(feature = "derive")]

use core::mem::MaybeUninit;

use dtype_runtime::{Datatype, Type, pack, runs, unpack};

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
    // The comparison makes memcheck check every byte.
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
}
