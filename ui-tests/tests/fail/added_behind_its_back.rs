//! Attributes below the derive that add to the item what the derive has not seen.
use dtype_adversary::replace;
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[replace({ a: u8 } => { a: u8, b: bool })]
struct Field {
    a: u8,
}

#[derive(Datatype)]
#[replace({ u8 } => { u8, bool })]
struct TupleField(u8);

#[derive(Datatype)]
#[replace({ struct } => { union })]
struct Union {
    a: u8,
}

#[derive(Datatype)]
#[replace({ One } => { One, Two })]
#[repr(u8)]
enum Variant {
    One,
}

#[derive(Datatype)]
#[replace({ One } => { One(bool) })]
#[repr(u8)]
enum Data {
    One,
}

#[derive(Datatype)]
#[replace({ repr(u8) } => { repr(u32) })]
#[repr(u8)]
enum Repr {
    One,
}

#[derive(Datatype)]
#[replace({ u32 } => { &'static u32 })]
struct Type {
    a: u32,
}

fn main() {}
