use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Borrowed<'a> {
    value: &'static u32,
    slice: &'a [u8],
    text: &'a mut str,
}

// Behind an alias only the compiler sees it.
type Alias = &'static u32;

#[derive(Datatype)]
struct Hidden {
    value: Alias,
}

fn main() {}
