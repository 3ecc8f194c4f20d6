//! `check` where there is no value to check.
use dtype_runtime::Datatype;

mod foreign {
    pub struct Point(pub u8);
}

#[derive(Datatype)]
#[dtype(remote = foreign::Point, check = holds)]
struct Remote(u8);

#[derive(Datatype)]
#[dtype(check = holds)]
struct Skips {
    value: u8,
    #[dtype(skip)]
    cache: String,
}

#[derive(Datatype)]
#[dtype(check = holds)]
#[repr(u8)]
enum Kind {
    A,
}

#[derive(Datatype)]
#[dtype(check = "holds", check)]
struct Shape {
    #[dtype(check = holds)]
    field: u8,
}

#[derive(Datatype)]
#[dtype(check = holds, check = holds)]
struct Twice(u8);

fn main() {}
