//! Functions require datatypes, too.

struct Plain(u8);

fn main() {
    dtype_runtime::pack(&[String::new()]);
    dtype_runtime::pack(&[Plain(1)]);
    let _ = dtype_runtime::unpack::<&str>(&[]);
    let _ = dtype_runtime::Type::of::<Vec<u8>>();
    const _: dtype_runtime::ByteRanges = dtype_runtime::runs::<Option<u8>>();
}
