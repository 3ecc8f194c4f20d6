//! Plans in plain English.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use crate::commit::Committed;
use crate::convertor::Conversion;
use crate::datatype::Datatype;
use crate::isa::selected;
use crate::plan::choose::{self, Kernel, PerBlock, Use};
use crate::plan::{Blocks, Elements, Op, Plan, numbered_items};
use crate::representation::Form;
use crate::typed::Layout;

/// How [`Committed::explain`] explains a plan: for how many instances, and in how many lines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainStyle {
    /// The number of instances to pack or unpack. A few instances are copied in another way than many.
    pub instances: u64,
    /// The maximum number of lines; further operations are only counted.
    pub lines: usize,
}

impl ExplainStyle {
    /// Sets [`instances`](Self::instances).
    #[must_use]
    pub const fn with_instances(mut self, instances: u64) -> Self {
        self.instances = instances;
        self
    }

    /// Sets [`lines`](Self::lines).
    #[must_use]
    pub const fn with_lines(mut self, lines: usize) -> Self {
        self.lines = lines;
        self
    }
}

impl Default for ExplainStyle {
    /// A thousand instances, in at most 60 lines.
    fn default() -> Self {
        Self { instances: 1000, lines: 60 }
    }
}

/// The explanation of a plan: its `Display`. Made by [`Committed::explain`] and [`Conversion::explain`].
#[derive(Clone, Debug)]
pub struct Explanation<'a> {
    plan: &'a Plan,
    of: Of<'a>,
    style: ExplainStyle,
}

/// The owner of the plan.
#[derive(Clone, Copy, Debug)]
enum Of<'a> {
    Committed(&'a Committed),
    Conversion(&'a Conversion),
}

impl Committed {
    /// Explains the operations that pack or unpack instances in one call: one line for each operation, with all
    /// numbers in bytes. The body of a loop follows on the same line, or indented below it. The first line gives
    /// the number of packed bytes, and of contiguous pieces in memory.
    ///
    /// If one routine copies all of an operation, the line ends with its name. The choice is made for this
    /// machine, with the selected [instructions](crate::isa):
    ///
    /// | kernel | what it does |
    /// |---|---|
    /// | `copy` | copies one block |
    /// | `strided8`, `strided8+4`, `strided8x2`, `strided_long` | copies blocks with a fixed stride: each block by one move of 8 bytes, by moves of 8 and 4, by two of 8 that overlap, or by as many as it takes |
    /// | `grid8` and so on | the same in two dimensions |
    /// | `tiles` | copies several columns of a matrix at a time, row by row |
    /// | `permute` | rearranges several records at once in registers; also used for calls that copy a single record of three operations or more |
    /// | `records` | copies one run of many records, then the next run |
    /// | `list8` and so on, `list_masked32`, `list_varied` | copies blocks at irregular displacements |
    ///
    /// A loop without a routine is executed operation by operation.
    ///
    /// ```
    /// use dtype_runtime::explain::ExplainStyle;
    /// use dtype_runtime::{Basic, Type};
    /// // Three elements with a stride of two, in each of 64 rows of 1000 bytes.
    /// let row = Type::vector(3, 1, 2, &Type::basic(Basic::F64))?;
    /// let rows = Type::hvector(64, 1, 1000, &row)?.commit();
    /// let style = ExplainStyle::default().with_instances(1);
    /// assert_eq!(
    ///     rows.explain(&style).to_string(),
    ///     "\
    /// 1 instance: 1536 packed bytes from 192 pieces of memory
    /// loop of 64, stride 1000: 3 copies of 8 bytes at 0, every 16, kernel grid8
    /// "
    /// );
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn explain(&self, style: &ExplainStyle) -> Explanation<'_> {
        Explanation { plan: self.plan(), of: Of::Committed(self), style: style.clone() }
    }
}

impl Conversion {
    /// Explains the operations that pack or unpack instances in another representation, as [`Committed::explain`]
    /// does; kernels are not named.
    ///
    /// ```
    /// use dtype_runtime::explain::ExplainStyle;
    /// use dtype_runtime::{Basic, Representation, Type};
    /// let [f64, u8] = [Basic::F64, Basic::U8].map(Type::basic);
    /// let pairs = Type::structure(&[1, 2], &[0, 8], &[f64, u8])?.commit();
    /// let big = pairs.conversion(Representation::BigEndian)?;
    /// # #[cfg(target_endian = "little")]
    /// assert_eq!(
    ///     big.explain(&ExplainStyle::default()).to_string(),
    ///     "\
    /// 1000 instances: 10000 packed bytes
    /// loop of 1000, stride 16
    ///   value of 8 bytes, reversed, at 0
    ///   2 values of 1 byte as they are at 8, every 1
    /// "
    /// );
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn explain(&self, style: &ExplainStyle) -> Explanation<'_> {
        Explanation { plan: self.plan(), of: Of::Conversion(self), style: style.clone() }
    }
}

/// Explains how [`pack`](crate::pack) copies a slice of that many values, with the selected [instructions](crate::isa): in one
/// line, with the names that [`Committed::explain`] gives. The kernel `copy` here is inlined moves, whose lengths the compiler
/// knows; `shuffle` rearranges the bytes of several values at once in registers.
///
/// ```
/// use dtype_runtime::explain::slice;
/// # dtype_runtime::isa::select(dtype_runtime::isa::Isa::Portable)?;
/// assert_eq!(slice::<(f64, u8)>(1000), "1000 values: 9000 packed bytes, kernel copy");
/// # Ok::<(), dtype_runtime::isa::UnavailableError>(())
/// ```
pub fn slice<T: Datatype>(values: usize) -> String {
    let size = T::TYPE_MAP.size() as u128 * values as u128;
    let kernel = name(Layout::<T>::kernel(values, &mut None));
    format!("{}: {size} packed bytes{kernel}", number(values as u64, "value"))
}

impl fmt::Display for Explanation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.style.instances;
        write!(f, "{}: ", number(count, "instance"))?;
        // Memory cannot hold this many instances, so there is nothing to explain.
        let size = u128::from(self.plan.size()) * u128::from(count);
        let Ok(instances) = usize::try_from(count) else {
            return writeln!(f, "more than can be addressed");
        };
        if isize::try_from(size).is_err() {
            return writeln!(f, "{size} packed bytes, more than can be addressed");
        }
        match self.of {
            Of::Committed(committed) => {
                let end = committed.packed_size(instances).unwrap_or(0);
                write!(f, "{end} packed bytes")?;
                if let Ok(iov) = committed.iov(instances, 0..end as u64) {
                    write!(f, " from {} of memory", number(iov.segments(), "piece"))?;
                }
            }
            Of::Conversion(conversion) => {
                write!(f, "{} packed bytes", conversion.packed_size(instances).unwrap_or(0))?;
                if let Some(width) = conversion.reversed() {
                    write!(f, ", each {width} of them reversed")?;
                }
            }
        }
        f.write_str("\n")?;
        let kernels = matches!(self.of, Of::Committed(_));
        let mut lines = Lines { f, kernels, left: self.style.lines, more: 0 };
        lines.plan(self.plan, count)?;
        match lines.more {
            0 => Ok(()),
            more => writeln!(f, "… and {} more", number(more, "operation")),
        }
    }
}

/// A count with its noun, in the plural unless it is 1.
fn number(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Writes lines up to the limit, and then only counts them.
struct Lines<'a, 'f> {
    f: &'a mut fmt::Formatter<'f>,
    /// Whether to name kernels.
    kernels: bool,
    left: usize,
    /// The number of operations left out.
    more: u64,
}

impl Lines<'_, '_> {
    fn line(&mut self, depth: usize, text: &str) -> fmt::Result {
        if self.left == 0 {
            self.more += 1;
            return Ok(());
        }
        self.left -= 1;
        writeln!(self.f, "{:1$}{text}", "", 2 * depth)
    }

    /// The name of a kernel, if kernels are named.
    fn kernel(&self, kernel: Kernel<'_>) -> String {
        if self.kernels { name(kernel) } else { String::new() }
    }

    fn plan(&mut self, plan: &Plan, count: u64) -> fmt::Result {
        let runs = &mut None;
        let (ops, extent) = (plan.ops(), plan.extent());
        match choose::instances(plan, count, selected(), Use::Pack, runs) {
            Kernel::Nothing => self.line(0, "nothing"),
            // Blocks at equal distances are explained as they are copied: all together.
            Kernel::Blocks(all) => {
                let kernel = choose::blocks(&all, plan.program(), selected(), Use::Pack);
                self.repeated(plan, ops, count, extent, kernel, 0)
            }
            // Of the records that it rearranges at once, there is only one.
            Kernel::Permutation(_) if count == 1 => {
                if self.kernels {
                    self.line(0, "at once, kernel permute")?;
                }
                self.ops(plan, ops, !self.kernels, usize::from(self.kernels))
            }
            _ if count == 1 => self.ops(plan, ops, true, 0),
            kernel => self.repeated(plan, ops, count, extent, kernel, 0),
        }
    }

    /// Repetitions of operations, and the routine that copies them.
    fn repeated(
        &mut self,
        plan: &Plan,
        ops: &[Op],
        count: u64,
        stride: i64,
        kernel: Kernel<'_>,
        depth: usize,
    ) -> fmt::Result {
        let named = self.kernel(kernel);
        match ops {
            [] => Ok(()),
            [Op::Blocks(blocks)] if count == 1 => {
                self.line(depth, &format!("{}{named}", copies(blocks)))
            }
            [Op::Blocks(blocks)] => {
                let copies = copies(blocks);
                self.line(depth, &format!("loop of {count}, stride {stride}: {copies}{named}"))
            }
            _ => {
                self.line(depth, &format!("loop of {count}, stride {stride}{named}"))?;
                let alone = matches!(kernel, Kernel::Walk | Kernel::Copy);
                self.ops(plan, ops, alone, depth + 1)
            }
        }
    }

    /// Operations one after another. `alone` says whether each is copied on its own.
    fn ops(&mut self, plan: &Plan, ops: &[Op], alone: bool, depth: usize) -> fmt::Result {
        let program = plan.program();
        for (at, op, body) in numbered_items(ops) {
            if self.left == 0 {
                self.more += (ops.len() - at) as u64;
                return Ok(());
            }
            let kernels = alone && self.kernels;
            let named = |kernel: Kernel<'_>| if kernels { name(kernel) } else { String::new() };
            match op {
                Op::Blocks(blocks) => {
                    let kernel = named(choose::blocks(blocks, program, selected(), Use::Pack));
                    self.line(depth, &format!("{}{kernel}", copies(blocks)))?;
                }
                Op::List(list) => {
                    let length = match list.block_len() {
                        Some(len) => format!("{len} bytes each"),
                        None => "different lengths".to_string(),
                    };
                    let kernel =
                        named(choose::of_list(list, program.lists(), selected(), Use::Pack));
                    let count = list.count();
                    self.line(depth, &format!("list of {count} blocks of {length}{kernel}"))?;
                }
                Op::Elements(all) => self.line(depth, &values(all))?,
                Op::Loop { count, stride, .. } => {
                    if alone {
                        let runs = &mut None;
                        let isa = selected();
                        let kernel =
                            choose::repeated(body, program, *count, *stride, isa, Use::Pack, runs);
                        self.repeated(plan, body, *count, *stride, kernel, depth)?;
                    } else {
                        // The enclosing routine executes this loop.
                        self.line(depth, &format!("loop of {count}, stride {stride}"))?;
                        self.ops(plan, body, false, depth + 1)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn copies(blocks: &Blocks) -> String {
    let Blocks { disp, len, count, stride } = blocks;
    let len = number(*len, "byte");
    match count {
        1 => format!("copy of {len} at {disp}"),
        _ => format!("{count} copies of {len} at {disp}, every {stride}"),
    }
}

fn values(elements: &Elements) -> String {
    let Blocks { disp, count, stride, .. } = elements.blocks;
    let what = match elements.form {
        Form::Same { width } => format!("of {} as they are", number(width.into(), "byte")),
        Form::Reversed { width } => format!("of {width} bytes, reversed,"),
        Form::Integer { memory, packed, .. } => {
            format!("of {} as {packed}", number(memory.into(), "byte"))
        }
        Form::Float { .. } => "in another floating-point format".to_string(),
    };
    match count {
        1 => format!("value {what} at {disp}"),
        _ => format!("{count} values {what} at {disp}, every {stride}"),
    }
}

/// The name of a kernel, appended to the operation that it copies.
fn name(kernel: Kernel<'_>) -> String {
    match kernel {
        Kernel::Copy => ", kernel copy".to_string(),
        Kernel::Strided(each) => format!(", kernel strided{}", moves(each)),
        Kernel::Grid(each) => format!(", kernel grid{}", moves(each)),
        Kernel::Tiles(_) => ", kernel tiles".to_string(),
        Kernel::Permutation(all) | Kernel::PermutedRows(all) => match all.records() {
            1 => ", kernel permute".to_string(),
            records => format!(", kernel permute, {records} at once"),
        },
        Kernel::Records(all) => records(all.runs.len()),
        Kernel::Steps(all) => {
            let steps = all.steps.as_ref().map_or(0, |steps| steps.len());
            format!(", kernel permute, in {}", number(steps as u64, "step"))
        }
        Kernel::Runs(all) => records(all.len()),
        Kernel::List(each) => format!(", kernel list{}", moves(each)),
        Kernel::Flat(all) => {
            format!(
                ", kernel list{}",
                moves(choose::list(
                    &all.lists.entries(&all.list),
                    all.list.moves(),
                    selected(),
                    Use::Pack
                ))
            )
        }
        Kernel::Shuffle(all) => format!(", kernel shuffle, {} at once", all.records()),
        Kernel::Nothing | Kernel::Walk | Kernel::Blocks(_) => String::new(),
    }
}

/// The name of the kernel that copies records run by run.
fn records(runs: usize) -> String {
    format!(", kernel records, {}", number(runs as u64, "run"))
}

/// The end of a kernel's name: how it copies a block.
const fn moves(each: PerBlock) -> &'static str {
    match each {
        PerBlock::None => "0",
        PerBlock::One1 => "1",
        PerBlock::One2 => "2",
        PerBlock::One4 => "4",
        PerBlock::One8 => "8",
        PerBlock::One16 => "16",
        PerBlock::One32 => "32",
        PerBlock::Touching2_1 => "2+1",
        PerBlock::Touching4_2 => "4+2",
        PerBlock::Touching8_2 => "8+2",
        PerBlock::Touching8_4 => "8+4",
        PerBlock::Touching16_4 => "16+4",
        PerBlock::Touching16_8 => "16+8",
        PerBlock::Touching32_8 => "32+8",
        PerBlock::Two1 => "1x2",
        PerBlock::Two2 | PerBlock::Halves2 => "2x2",
        PerBlock::Two4 | PerBlock::Halves4 => "4x2",
        PerBlock::Two8 | PerBlock::Halves8 => "8x2",
        PerBlock::Two16 => "16x2",
        PerBlock::Two32 => "32x2",
        PerBlock::Three16 => "16x3",
        PerBlock::Four1 => "1x4",
        PerBlock::Four2 => "2x4",
        PerBlock::Four4 => "4x4",
        PerBlock::Four8 => "8x4",
        PerBlock::Four16 => "16x4",
        PerBlock::Four32 => "32x4",
        PerBlock::Masked32 => "_masked32",
        PerBlock::Masked64 => "_masked64",
        PerBlock::Long => "_long",
        PerBlock::Varied => "_varied",
    }
}
