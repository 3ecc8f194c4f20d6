//! Words that mean nothing, each with the list of those that do.
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[dtype(align = 8)]
struct Struct {
    #[dtype(skipped)]
    field: u8,
}

#[derive(Datatype)]
#[dtype(rename_all = "lowercase")]
#[repr(u8)]
enum Enum {
    #[dtype(alias = "1")]
    One,
}

fn main() {}
