//! Discriminants that the compiler counts, the names of the variants, and an enum as a field.
use dtype_runtime::typemap::Node;
use dtype_runtime::{Datatype, Validity};

#[derive(Clone, Copy, Datatype)]
#[repr(u8)]
#[allow(non_camel_case_types)]
enum Kind {
    Quark,
    Lepton,
    r#type,
}

#[derive(Datatype)]
struct Particle {
    kind: Kind,
    energy: f64,
    decays: [Kind; 2],
}

#[test]
fn main() {
    let map = Particle::TYPE_MAP;
    assert!(map.is_restricted());
    assert_eq!(map.size(), 11);
    let Node::Basic { validity: Validity::Enum(set), .. } = Kind::TYPE_MAP.node() else {
        panic!("{:?}", Kind::TYPE_MAP)
    };
    for bits in 0..300 {
        assert_eq!(set.contains(bits), bits < 3, "{bits}");
    }
    assert_eq!((set.values(), set.names()), (&[0, 1, 2][..], &["Quark", "Lepton", "type"][..]));
    assert_eq!(Kind::r#type as u8 + Kind::Lepton as u8 + Kind::Quark as u8, 3);
}
