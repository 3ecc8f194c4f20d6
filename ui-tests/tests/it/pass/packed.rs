//! `packed` and `packed(2)`: no reference to a field is made.
use dtype_runtime::Datatype;
use dtype_runtime::typemap::Node;

#[derive(Datatype)]
#[repr(C, packed)]
struct Packed {
    value: f64,
    flag: u8,
}

#[derive(Datatype)]
#[repr(C, packed(2))]
struct Packed2 {
    flag: u8,
    value: f64,
}

#[derive(Datatype)]
#[repr(packed)]
struct Generic<T> {
    flag: bool,
    value: T,
}

fn offsets<T: Datatype>() -> Vec<usize> {
    let Node::Structure { fields, .. } = T::TYPE_MAP.node() else { panic!() };
    fields.iter().map(|field| field.offset()).collect()
}

#[test]
fn main() {
    assert_eq!((Packed::TYPE_MAP.size(), Packed::TYPE_MAP.stride()), (9, 9));
    assert_eq!(offsets::<Packed>(), [0, 8]);
    assert_eq!((Packed2::TYPE_MAP.size(), Packed2::TYPE_MAP.stride()), (9, 10));
    assert_eq!(offsets::<Packed2>(), [0, 2]);
    assert_eq!(Generic::<u64>::TYPE_MAP.stride(), 9);
}
