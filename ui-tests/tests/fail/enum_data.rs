use dtype_runtime::Datatype;

#[derive(Datatype)]
#[repr(u8)]
enum Primitive {
    Nothing,
    Value(f64),
}

#[derive(Datatype)]
#[repr(C, u8)]
enum AsInC {
    Point { x: f32, y: f32 },
    Nothing,
}

#[derive(Datatype)]
enum Rust<T> {
    Value(T),
}

fn main() {}
