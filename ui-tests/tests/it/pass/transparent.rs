//! `repr(transparent)`, plain and generic.
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[repr(transparent)]
struct Metres(f64);

#[derive(Datatype)]
#[repr(transparent)]
struct Transparent<T>(T);

#[test]
fn main() {
    assert_eq!((Metres::TYPE_MAP.size(), Metres::TYPE_MAP.stride()), (8, 8));
    assert_eq!(Metres::TYPE_MAP.signature_hash(), f64::TYPE_MAP.signature_hash());
    assert!(Transparent::<[bool; 3]>::TYPE_MAP.is_restricted());
    assert_eq!(Transparent::<[bool; 3]>::TYPE_MAP.size(), 3);
}
