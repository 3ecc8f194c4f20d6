//! A `check` that is the function of a trait.
use dtype_runtime::{Datatype, pack, unpack};

trait Invariant {
    fn holds(&self) -> bool;
}

#[derive(Datatype)]
#[dtype(check = <Self as Invariant>::holds)]
struct Even(u8);

impl Invariant for Even {
    fn holds(&self) -> bool {
        self.0.is_multiple_of(2)
    }
}

#[test]
fn main() {
    assert!(unpack::<Even>(&pack(&[4_u8])).is_ok());
    assert!(unpack::<Even>(&pack(&[5_u8])).is_err());
}
