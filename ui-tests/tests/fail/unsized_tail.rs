use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Bytes {
    length: u32,
    data: [u8],
}

#[derive(Datatype)]
struct Text {
    data: str,
}

#[derive(Datatype)]
struct Object {
    data: dyn Send,
}

fn main() {}
