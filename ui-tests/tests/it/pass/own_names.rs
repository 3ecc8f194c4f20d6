//! The user's own datatypes, with the names of types of the standard library that are not datatypes.
use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Vec<T> {
    x: T,
    y: T,
}

#[derive(Datatype)]
struct String([u8; 16]);

#[derive(Datatype)]
struct Cell {
    population: u32,
}

#[derive(Datatype)]
struct Duration(u64);

#[derive(Datatype)]
struct MaybeUninit<T>(T);

#[derive(Datatype)]
struct Option<T>(bool, T);

#[derive(Datatype)]
struct All<T> {
    vec: Vec<T>,
    vecs: [Vec<f64>; 2],
    string: String,
    cell: Cell,
    duration: Duration,
    uninit: MaybeUninit<T>,
    option: Option<T>,
}

#[test]
fn main() {
    assert_eq!(All::<u8>::TYPE_MAP.size(), 2 + 32 + 16 + 4 + 8 + 1 + 2);
}
