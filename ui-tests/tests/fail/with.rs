//! `with` names a description of another type, a type that describes nothing, and a type that is missing.
use dtype_runtime::Datatype;

mod foreign {
    pub struct A(pub u8);
    pub struct B(pub u8);
}

#[derive(Datatype)]
#[dtype(remote = foreign::A)]
struct A(u8);

struct Nothing;

#[derive(Datatype)]
struct Wrong {
    #[dtype(with = A)]
    b: foreign::B,
    #[dtype(with = Nothing)]
    a: foreign::A,
    #[dtype(with = A)]
    array: [foreign::B; 2],
    #[dtype(with = Missing)]
    missing: foreign::A,
}

fn main() {}
