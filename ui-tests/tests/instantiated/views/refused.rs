//! Types whose memory is not their packed records, or for which some bytes are not a value.
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[repr(C)]
struct Padded {
    value: u32,
    flag: u8,
}

/// All data, in another order than it is packed in: Rust puts `wide` first.
#[derive(Datatype)]
struct Reordered {
    first: u16,
    wide: u32,
    last: u16,
}

#[derive(Datatype)]
struct Cached {
    value: f64,
    #[dtype(skip)]
    label: (),
}

fn main() {
    let _ = dtype_runtime::view::<Padded>(&[]);
    let _ = dtype_runtime::view_mut::<Reordered>(&mut []);
    let _ = dtype_runtime::bytes_of::<Cached>(&[]);
    let _ = dtype_runtime::bytes_of_mut::<[bool; 2]>(&mut []);
    let packed = dtype_runtime::Packed::<Cached>::new(&[]).unwrap();
    let _ = packed.get(0);
    let _ = dtype_runtime::unpack_one::<Cached>(&[]);
}
