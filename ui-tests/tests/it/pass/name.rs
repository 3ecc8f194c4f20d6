//! `name` is what the map shows, of structs and of enums.
use dtype_runtime::Datatype;
use dtype_runtime::typemap::Node;

#[derive(Datatype)]
#[dtype(name = "geometry::Point")]
struct Point(f64);

#[derive(Datatype)]
#[dtype(name = "colour")]
#[repr(u8)]
enum Colour {
    Red,
}

#[test]
fn main() {
    let Node::Structure { name, .. } = Point::TYPE_MAP.node() else { panic!() };
    assert_eq!(*name, "geometry::Point");
    let Node::Basic { name, .. } = Colour::TYPE_MAP.node() else { panic!() };
    assert_eq!(*name, "colour");
    let _ = Colour::Red;
}
