//! What the program prints.

use std::io::{self, Write};
use std::time::Duration;

use dtype_runtime::typemap::{Field, Node};
use dtype_runtime::{Datatype, Type, packed_size};
use dtype_show::{Diagram, View};

/// Bytes over time.
#[derive(Clone, Copy)]
pub(crate) struct Throughput {
    bytes: usize,
    each: Duration,
}

impl Throughput {
    /// `bytes` in each repetition. All repetitions together took `elapsed`.
    pub(crate) fn new(bytes: usize, repetitions: u32, elapsed: Duration) -> Self {
        Self { bytes, each: elapsed / repetitions.max(1) }
    }
}

/// Prints the layout of a struct: a picture in the order of addresses, and the fields in packing order.
pub(crate) fn layout<T: Datatype>(out: &mut impl Write) -> io::Result<()> {
    let Node::Structure { name, fields, .. } = T::TYPE_MAP.node() else { return Ok(()) };
    writeln!(out, "{name} in memory (■ data, □ padding or skipped):\n")?;
    writeln!(
        out,
        "  {}\n",
        Diagram::of_type(&Type::of::<T>(), &View::default()).to_string().replace('\n', "\n  ")
    )?;
    writeln!(out, "  {:<10} {:>6} {:>6}  travels as", "field", "offset", "bytes")?;
    for field in *fields {
        let ty = field.map().map_or("(skipped)".to_owned(), ToString::to_string);
        let (offset, size) = (field.offset(), field.size());
        writeln!(out, "  {:<10} {offset:>6} {size:>6}  {ty}", Field::name(field))?;
    }
    writeln!(out)
}

/// Prints how many bytes packing saves.
pub(crate) fn sizes<T: Datatype>(count: usize, out: &mut impl Write) -> io::Result<()> {
    let (memory, packed) = (size_of::<T>() * count, packed_size::<T>(count));
    let saved = memory - packed;
    writeln!(out, "In memory {memory:>10} bytes, {} each", size_of::<T>())?;
    writeln!(out, "Packed    {packed:>10} bytes, {} each", packed_size::<T>(1))?;
    writeln!(out, "Saved     {saved:>10} bytes, {} %\n", saved * 100 / memory.max(1))
}

/// Prints a line for each kind of work.
pub(crate) fn throughput(lines: &[(&str, Throughput)], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{:>9} {:>10}", "GB/s", "µs")?;
    for (work, Throughput { bytes, each }) in lines {
        let seconds = each.as_secs_f64();
        let rate = u32::try_from(*bytes).map_or(f64::NAN, f64::from) / seconds / 1e9;
        writeln!(out, "{rate:>9.2} {:>10.1}  {work}", seconds * 1e6)?;
    }
    Ok(())
}
