use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Node {
    value: u32,
    next: Box<Self>,
}

#[derive(Datatype)]
struct Generic<T> {
    value: T,
    next: Option<Box<Generic<T>>>,
}

fn main() {}
