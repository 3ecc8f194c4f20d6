//! A default type parameter.
use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Vector<T = f32, const N: usize = 3> {
    elements: [T; N],
}

#[test]
fn main() {
    assert_eq!(<Vector as Datatype>::TYPE_MAP.size(), 12);
    assert_eq!(Vector::<u8, 5>::TYPE_MAP.size(), 5);
}
