//! What the program prints.

use std::time::Duration;

use dtype_runtime::typemap::{Field, Node};
use dtype_runtime::{Datatype, Type, packed_size};

/// Bytes over time.
#[derive(Clone, Copy)]
pub(crate) struct Throughput {
    bytes: usize,
    each: Duration,
}

impl Throughput {
    /// `bytes` moved in each of so many repetitions, which took `elapsed` together.
    pub(crate) fn new(bytes: usize, repetitions: u32, elapsed: Duration) -> Self {
        Self { bytes, each: elapsed / repetitions.max(1) }
    }
}

/// The layout of a struct: a picture in the order of addresses, and the fields in the order in which
/// they are packed.
pub(crate) fn layout<T: Datatype>() {
    let Node::Structure { name, fields, .. } = T::TYPE_MAP.node() else { return };
    println!("{name} in memory (■ data, □ padding or skipped):\n");
    println!("  {}\n", Type::of::<T>().diagram().to_string().replace('\n', "\n  "));
    println!("  {:<10} {:>6} {:>7}", "field", "offset", "bytes");
    for field in *fields {
        let bytes = field.map().map_or("skipped".to_owned(), |map| map.size().to_string());
        println!("  {:<10} {:>6} {bytes:>7}", Field::name(field), field.offset());
    }
    println!();
}

/// What packing saves.
pub(crate) fn sizes<T: Datatype>(count: usize) {
    let (memory, packed) = (size_of::<T>() * count, packed_size::<T>(count));
    let saved = memory - packed;
    println!("In memory {memory:>10} bytes, {} each", size_of::<T>());
    println!("Packed    {packed:>10} bytes, {} each", packed_size::<T>(1));
    println!("Saved     {saved:>10} bytes, {} %\n", saved * 100 / memory.max(1));
}

/// A line for each kind of work.
pub(crate) fn throughput(lines: &[(&str, Throughput)]) {
    println!("{:>9} {:>10}", "GB/s", "µs");
    for (work, Throughput { bytes, each }) in lines {
        let seconds = each.as_secs_f64();
        let rate = u32::try_from(*bytes).map_or(f64::NAN, f64::from) / seconds / 1e9;
        println!("{rate:>9.2} {:>10.1}  {work}", seconds * 1e6);
    }
}
