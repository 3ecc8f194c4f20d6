//! A raw name is shown without `r#`.
#![allow(non_camel_case_types)]

use std::mem::offset_of;

use dtype_runtime::Datatype;
use dtype_runtime::typemap::Node;

#[derive(Datatype)]
struct r#struct {
    r#type: u8,
    r#fn: u32,
}

#[derive(Datatype)]
struct Generic<r#type> {
    r#match: r#type,
}

#[test]
fn main() {
    let Node::Structure { name, fields, .. } = r#struct::TYPE_MAP.node() else { panic!() };
    let found: Vec<_> = fields.iter().map(|field| (field.name(), field.offset())).collect();
    assert_eq!(*name, "struct");
    assert_eq!(found, [("type", offset_of!(r#struct, r#type)), ("fn", offset_of!(r#struct, r#fn))]);
    assert_eq!(Generic::<u16>::TYPE_MAP.size(), 2);
}
