//! Checks that are not functions from `&Self` to a verdict.
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[dtype(check = number)]
struct WrongResult(u8);

fn number(_: &WrongResult) -> u8 {
    0
}

#[derive(Datatype)]
#[dtype(check = by_value)]
struct WrongArgument(u8);

fn by_value(_: WrongArgument) -> bool {
    true
}

#[derive(Datatype)]
#[dtype(check = missing)]
struct Missing(u8);

fn main() {}
