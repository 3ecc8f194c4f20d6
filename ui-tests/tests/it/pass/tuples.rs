//! Tuples as fields, the empty one included.
use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Tuples {
    pair: (u32, u32),
    nothing: (),
    mixed: (u8, (f64, bool)),
}

#[test]
fn main() {
    let map = Tuples::TYPE_MAP;
    assert_eq!((map.size(), map.stride()), (18, size_of::<Tuples>()));
    assert!(map.is_restricted());
}
