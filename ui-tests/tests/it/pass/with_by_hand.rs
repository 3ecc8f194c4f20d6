//! A description written by hand, of a type whose fields are private.
use dtype_runtime::{Datatype, Describes, TypeMap};

mod foreign {
    #[repr(transparent)]
    pub struct Nanoseconds(u64);

    impl Nanoseconds {
        pub fn new(count: u64) -> Self {
            Self(count)
        }

        pub fn get(&self) -> u64 {
            self.0
        }
    }
}

struct AsInteger;

// SAFETY: the foreign type is `repr(transparent)` over a `u64` and accepts each of its values.
unsafe impl Describes<foreign::Nanoseconds> for AsInteger {
    const FOREIGN_MAP: &'static TypeMap = u64::TYPE_MAP;
}

#[derive(Datatype)]
struct Sample {
    value: u8,
    #[dtype(with = AsInteger)]
    time: foreign::Nanoseconds,
    #[dtype(with = AsInteger)]
    history: [foreign::Nanoseconds; 2],
}

#[test]
fn main() {
    let map = Sample::TYPE_MAP;
    assert_eq!((map.size(), map.stride()), (25, size_of::<Sample>()));
    assert_eq!(map.signature_hash(), <(u8, [u64; 3])>::TYPE_MAP.signature_hash());
    assert_eq!(foreign::Nanoseconds::new(3).get(), 3);
}
