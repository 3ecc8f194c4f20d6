//! A type whose memory is its packed records, and all of whose bytes are values.
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[repr(C)]
struct Dense {
    value: u32,
    flags: [u8; 4],
}

fn main() {
    let _ = dtype_runtime::view::<Dense>(&[]);
    let _ = dtype_runtime::view_mut::<Dense>(&mut []);
    let _ = dtype_runtime::bytes_of::<Dense>(&[]);
    let _ = dtype_runtime::bytes_of_mut::<Dense>(&mut []);
    let packed = dtype_runtime::Packed::<Dense>::new(&[]).unwrap();
    let _ = packed.get(0);
    let _ = dtype_runtime::unpack_one::<Dense>(&[]);
}
