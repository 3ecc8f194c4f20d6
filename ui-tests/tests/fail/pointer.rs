use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Pointers {
    constant: *const u32,
    mutable: [*mut u8; 4],
}

fn main() {}
