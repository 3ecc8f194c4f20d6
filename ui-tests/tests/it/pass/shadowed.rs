//! A module in which every name that an expansion might want means something else.
use dtype_runtime::Datatype as Derive;

mod user {
    #![allow(non_camel_case_types, dead_code, unused_imports, unused_macros)]

    pub mod core {}
    pub mod std {}
    pub mod alloc {}
    pub mod dtype_runtime {}
    pub mod memoffset {}
    pub struct Option;
    pub struct Some;
    pub struct None;
    pub struct TypeMap;
    pub struct Field;
    pub struct Markers;
    pub struct Basic;
    pub struct Describes;
    pub struct PhantomData;
    pub struct Fn;
    pub struct Sized;
    pub struct i64;
    pub struct u128;
    pub struct usize;
    pub struct u8;
    pub trait Datatype {}
    macro_rules! offset_of {
        () => {};
    }
    pub(crate) use offset_of;

    type Real = f64;

    #[derive(super::Derive)]
    #[dtype(ub = 64)]
    pub struct Shadowed {
        #[dtype(lb)]
        a: Real,
        b: [u16; 3],
    }

    #[derive(super::Derive)]
    #[dtype(resize(lb = -8, extent = 64))]
    pub struct Resized<T> {
        a: T,
        #[dtype(skip)]
        b: Option,
    }

    #[derive(super::Derive)]
    #[repr(u32)]
    pub enum Kind {
        None,
        Some,
    }
}

#[test]
fn main() {
    assert_eq!(<user::Shadowed as dtype_runtime::Datatype>::TYPE_MAP.size(), 14);
    assert_eq!(<user::Resized<u16> as dtype_runtime::Datatype>::TYPE_MAP.size(), 2);
    assert_eq!(<user::Kind as dtype_runtime::Datatype>::TYPE_MAP.size(), 4);
}
