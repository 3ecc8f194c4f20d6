//! Names other than those of the source, on every kind of field.
use dtype_runtime::basic::Validity;
use dtype_runtime::typemap::{Node, TypeMap};
use dtype_runtime::{Datatype, Describes};

/// Foreign structs.
pub mod geometry {
    pub struct Point {
        pub x: f32,
        pub y: f32,
    }
}

#[derive(Datatype)]
#[dtype(remote = geometry::Point)]
struct Point {
    #[dtype(rename = "x [m]")]
    x: f32,
    #[dtype(rename = "y [m]")]
    y: f32,
}

#[derive(Datatype)]
struct Named<T> {
    #[dtype(rename = "total blocks")]
    total_blocks: i32,
    // Two fields that exchange their names.
    #[dtype(rename = "second")]
    first: u8,
    #[dtype(rename = "first")]
    second: u8,
    #[dtype(rename = "kind")]
    r#type: u8,
    #[dtype(rename = "r#type")]
    raw: u8,
    #[dtype(rename = "größe \"in\" <m>")]
    size: T,
    #[dtype(rename = "with", with = Point)]
    point: geometry::Point,
    // A skipped field is in no file, so another one may have its name.
    #[dtype(skip, rename = "first", ub)]
    skipped: u8,
    #[dtype(skip)]
    time: u8,
    #[dtype(rename = "time")]
    seconds: f64,
    #[dtype(rename = "same")]
    same: u8,
}

#[derive(Datatype)]
struct Tuple(#[dtype(rename = "1")] u8, #[dtype(rename = "0")] u16, u32);

#[derive(Datatype)]
#[repr(u8)]
#[allow(dead_code, non_camel_case_types, reason = "only their names matter")]
enum Side {
    #[dtype(rename = "Right")]
    Left,
    #[dtype(rename = "Left")]
    Right,
    #[dtype(rename = "on top")]
    Top,
    #[dtype(rename = "r#type")]
    Raw,
    r#type,
}

macro_rules! renamed {
    ($name:literal, $field:ident) => {
        #[derive(Datatype)]
        struct OfMacro {
            #[dtype(rename = $name)]
            $field: u8,
        }
    };
}

renamed!("from a macro", field);

fn names(map: &TypeMap) -> Vec<&'static str> {
    let Node::Structure { fields, .. } = map.node() else { panic!("a struct") };
    fields.iter().map(|field| field.name()).collect()
}

#[test]
fn main() {
    assert_eq!(
        names(Named::<f32>::TYPE_MAP),
        [
            "total blocks",
            "second",
            "first",
            "kind",
            "r#type",
            "größe \"in\" <m>",
            "with",
            "first",
            "time",
            "time",
            "same"
        ]
    );
    assert_eq!(names(<Point as Describes<geometry::Point>>::FOREIGN_MAP), ["x [m]", "y [m]"]);
    assert_eq!(names(Tuple::TYPE_MAP), ["1", "0", "2"]);
    assert_eq!(names(OfMacro::TYPE_MAP), ["from a macro"]);
    let Node::Basic { validity: Validity::Enum(set), .. } = Side::TYPE_MAP.node() else { panic!() };
    assert_eq!(set.names(), ["Right", "Left", "on top", "r#type", "type"]);
    assert_eq!(set.values(), [0, 1, 2, 3, 4]);
}
