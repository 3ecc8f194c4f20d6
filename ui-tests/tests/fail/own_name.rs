// A datatype of the author's own that has the name of one of the standard library, and a parameter that is no datatype.
use dtype_runtime::Datatype;

trait Unit {
    type Value;
}

#[derive(Datatype)]
struct Cell<U: Unit> {
    value: U::Value,
}

#[derive(Datatype)]
struct Measured<U: Unit> {
    cell: Cell<U>,
}

#[derive(Datatype)]
#[dtype(bound = "Cell<U>: Datatype")]
struct Bounded<U: Unit> {
    cell: Cell<U>,
}

fn main() {}
