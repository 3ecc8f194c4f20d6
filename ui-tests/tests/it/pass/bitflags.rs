//! Flags of the crate `bitflags`, in the `impl` form of its macro.
use dtype_runtime::Datatype;

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Flags(u32);

bitflags::bitflags! {
    impl Flags: u32 {
        const A = 1;
        const B = 0x100;
    }
}

#[test]
fn main() {
    let bytes = dtype_runtime::pack(&[Flags::A | Flags::B]);
    assert_eq!(bytes, 0x101_u32.to_ne_bytes());
    assert_eq!(dtype_runtime::unpack::<Flags>(&bytes).unwrap(), [Flags::A | Flags::B]);
}
