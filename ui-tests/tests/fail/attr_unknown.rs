//! Words that mean nothing, each with the list of those that do.
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[dtype(align = 8)]
struct Struct {
    #[dtype(skipped)]
    field: u8,
}

#[derive(Datatype)]
#[dtype(rename = "kind")]
#[repr(u8)]
enum Enum {
    One,
}

fn main() {}
