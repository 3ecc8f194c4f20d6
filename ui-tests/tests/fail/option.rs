use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Maybe {
    value: Option<u32>,
}

#[derive(Datatype)]
struct Fallible {
    value: Result<u8, ()>,
}

fn main() {}
