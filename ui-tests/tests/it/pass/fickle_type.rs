//! A macro in type position that gives another type each time it is expanded: the map describes the field of the struct.
use dtype_adversary::fickle;
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[repr(C)]
struct Fickle {
    a: fickle!(),
    b: fickle!(),
    c: fickle!(),
    d: [fickle!(); 3],
}

fn size<S, F>(_: fn(&S) -> &F) -> usize {
    size_of::<F>()
}

#[test]
fn main() {
    let fields = size(|s: &Fickle| &s.a)
        + size(|s: &Fickle| &s.b)
        + size(|s: &Fickle| &s.c)
        + size(|s: &Fickle| &s.d);
    assert_eq!(Fickle::TYPE_MAP.size(), fields);
}
