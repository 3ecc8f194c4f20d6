//! Nothing would initialise a skipped field in a new value, and zeroing it would destroy one.

use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Cached {
    value: f64,
    #[dtype(skip)]
    label: String,
}

#[derive(Datatype)]
struct Holder {
    inner: [Cached; 2],
}

fn main() {
    let _: Vec<Cached> = dtype_runtime::unpack(&[]).unwrap();
    let _: Vec<Holder> = dtype_runtime::unpack(&[]).unwrap();
    let mut items: [Cached; 0] = [];
    dtype_runtime::zero_gaps(&mut items);
}
