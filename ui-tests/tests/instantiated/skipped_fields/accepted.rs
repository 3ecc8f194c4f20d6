//! Without skipped fields, new values are initialised, and all bytes between the fields are padding.
use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Padded {
    value: f64,
    label: u8,
}

fn main() {
    let _: Vec<Padded> = dtype_runtime::unpack(&[]).unwrap();
    let mut items: [Padded; 0] = [];
    dtype_runtime::zero_gaps(&mut items);
}
