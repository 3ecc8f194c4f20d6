//! `align(16)`: the tail is padding.
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[repr(align(16))]
struct Aligned {
    value: u32,
}

#[derive(Datatype)]
#[repr(C, align(64))]
struct CacheLine<T>(T);

#[test]
fn main() {
    assert_eq!((Aligned::TYPE_MAP.size(), Aligned::TYPE_MAP.stride()), (4, 16));
    assert_eq!((CacheLine::<u8>::TYPE_MAP.size(), CacheLine::<u8>::TYPE_MAP.stride()), (1, 64));
}
