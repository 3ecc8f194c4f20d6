//! Bounds of the struct's own stay, in either place.
use dtype_runtime::Datatype;

trait Unit {
    const FACTOR: f64;
}

struct Metres;

impl Unit for Metres {
    const FACTOR: f64 = 1.0;
}

impl Unit for u16 {
    const FACTOR: f64 = 0.5;
}

#[derive(Datatype)]
struct Quantity<U: Unit> {
    value: f64,
    unit: std::marker::PhantomData<U>,
}

#[derive(Datatype)]
struct Clause<U>
where
    U: Unit + Copy,
{
    value: [U; 3],
}

#[derive(Datatype)]
struct Trailing<A, B>(A, B)
where
    A: Copy,
    B: Copy;

#[test]
fn main() {
    assert_eq!(Quantity::<Metres>::TYPE_MAP.size(), 8);
    assert_eq!(Clause::<u16>::TYPE_MAP.size(), 6);
    assert_eq!(Trailing::<u8, u32>::TYPE_MAP.size(), 5);
    assert!(Metres::FACTOR > u16::FACTOR);
}
