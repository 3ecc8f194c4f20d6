use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Callback {
    plain: fn(),
    foreign: unsafe extern "C" fn(u32) -> u32,
}

fn main() {}
