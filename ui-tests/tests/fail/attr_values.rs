//! Bounds that are no `i64`, or too large for any object.
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[dtype(lb = 1.5, ub = size_of::<u64>())]
struct NotAnInteger(u8);

#[derive(Datatype)]
#[dtype(resize(lb = "0", extent = missing))]
struct Resized(u8);

#[derive(Datatype)]
#[dtype(ub = i64::MAX)]
struct TooLarge(u8);

#[derive(Datatype)]
#[dtype(ub = 1 - 2 * 0x4000_0000_0000_0000)]
struct Overflows(u8);

fn main() {}
