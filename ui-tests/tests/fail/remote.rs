//! Descriptions that are not those of the foreign struct.
use dtype_runtime::Datatype;

mod foreign {
    pub struct Point {
        pub x: f64,
        pub y: f64,
    }

    pub struct Private {
        pub x: f64,
        y: f64,
    }

    #[repr(C)]
    pub union Union {
        pub x: f64,
    }

    #[repr(u8)]
    pub enum Kind {
        One,
        Two,
    }

    impl Private {
        pub fn y(&self) -> f64 {
            self.y
        }
    }
}

#[derive(Datatype)]
#[dtype(remote = foreign::Point)]
struct FieldMissing {
    x: f64,
}

#[derive(Datatype)]
#[dtype(remote = foreign::Point)]
struct FieldTooMany {
    x: f64,
    y: f64,
    z: f64,
}

#[derive(Datatype)]
#[dtype(remote = foreign::Point)]
struct OtherType {
    x: f64,
    y: f32,
}

#[derive(Datatype)]
#[dtype(remote = foreign::Private)]
struct PrivateField {
    x: f64,
    y: f64,
}

#[derive(Datatype)]
#[dtype(remote = foreign::Union)]
struct OfAUnion {
    x: f64,
}

#[derive(Datatype)]
#[dtype(remote = foreign::Kind)]
#[repr(u8)]
enum VariantMissing {
    One,
}

#[derive(Datatype)]
#[dtype(remote = foreign::Kind)]
#[repr(u16)]
enum OtherSize {
    One,
    Two,
}

fn main() {}
