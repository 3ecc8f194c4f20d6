//! A runtime under another name, as a crate that re-exports it must declare.
mod facade {
    pub use dtype_runtime as runtime;

    #[macro_export]
    macro_rules! point {
        ($name:ident) => {
            #[derive($crate::pass::crate_path::facade::runtime::Datatype)]
            #[dtype(crate = $crate::pass::crate_path::facade::runtime)]
            struct $name(f32, f32);
        };
    }
}

/// Shadows the crate where no path is given.
#[allow(unused, reason = "it is there to be found by mistake")]
mod dtype_runtime {}

use facade::runtime::Datatype;

#[derive(Datatype)]
#[dtype(crate = facade::runtime)]
struct Here(u16);

#[derive(Datatype)]
#[dtype(crate = crate::pass::crate_path::facade::runtime)]
#[repr(u8)]
enum Kind {
    One,
}

crate::point!(Point);

#[test]
fn main() {
    assert_eq!(Here::TYPE_MAP.size(), 2);
    assert_eq!(Kind::TYPE_MAP.size(), 1);
    assert_eq!(Point::TYPE_MAP.size(), 8);
    let _ = Kind::One;
}
