// A mistake in a struct that may have an unsized tail is the only one that is reported.
use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Tail<T: ?Sized> {
    #[dtype(bad)]
    length: u8,
    data: T,
}

fn main() {}
