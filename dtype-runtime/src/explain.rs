//! Plans in plain English.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use crate::commit::Committed;
use crate::convertor::Conversion;
use crate::kernel::explain::{self, Kernel, PerBlock};
use crate::plan::{Blocks, Elements, Op, Plan, numbered_items};
use crate::representation::Form;

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
    /// machine, with the selected [instructions](crate::kernels):
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

    /// The name of a routine, if kernels are named.
    fn kernel(&self, kernel: Kernel) -> String {
        if self.kernels { name(kernel) } else { String::new() }
    }

    fn plan(&mut self, plan: &Plan, count: u64) -> fmt::Result {
        if let Some((all, kernel)) = explain::single(plan, count) {
            let ops = [Op::Blocks(all)];
            return self.repeated(plan, &ops, count, plan.extent(), kernel, 0);
        }
        let all = plan.ops();
        match count {
            0 => self.line(0, "nothing"),
            1 => match self.kernels.then(|| explain::one(plan)).flatten() {
                Some(kernel) => {
                    self.line(0, &format!("at once{}", name(kernel)))?;
                    self.ops(plan, all, false, 1)
                }
                None => self.ops(plan, all, true, 0),
            },
            _ => {
                let kernel = explain::instances(plan, count).unwrap_or_else(|| {
                    explain::repeated(all, plan.program(), count, plan.extent())
                });
                self.repeated(plan, all, count, plan.extent(), kernel, 0)
            }
        }
    }

    /// Repetitions of operations, and the routine that copies them.
    fn repeated(
        &mut self,
        plan: &Plan,
        ops: &[Op],
        count: u64,
        stride: i64,
        kernel: Kernel,
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
                self.ops(plan, ops, kernel == Kernel::Walk, depth + 1)
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
            let named = |kernel: Kernel| if kernels { name(kernel) } else { String::new() };
            match op {
                Op::Blocks(blocks) => {
                    let kernel = named(explain::blocks(*blocks, program));
                    self.line(depth, &format!("{}{kernel}", copies(blocks)))?;
                }
                Op::List(list) => {
                    let length = match list.block_len() {
                        Some(len) => format!("{len} bytes each"),
                        None => "different lengths".to_string(),
                    };
                    let kernel = named(explain::list(list, program));
                    let count = list.count();
                    self.line(depth, &format!("list of {count} blocks of {length}{kernel}"))?;
                }
                Op::Elements(all) => self.line(depth, &values(all))?,
                Op::Loop { count, stride, .. } => {
                    if alone {
                        let kernel = explain::repeated(body, program, *count, *stride);
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

/// The name of a routine, appended to the operation that it copies.
fn name(kernel: Kernel) -> String {
    let moves = |each| match each {
        PerBlock::Moves { number: 1, width } => width.to_string(),
        PerBlock::Moves { number, width } => format!("{width}x{number}"),
        PerBlock::Touching { first, second } => format!("{first}+{second}"),
        PerBlock::Long => "_long".to_string(),
        PerBlock::Masked { width } => format!("_masked{width}"),
        PerBlock::Varied => "_varied".to_string(),
    };
    match kernel {
        Kernel::Copy => ", kernel copy".to_string(),
        Kernel::Strided(each) => format!(", kernel strided{}", moves(each)),
        Kernel::Grid(each) => format!(", kernel grid{}", moves(each)),
        Kernel::Tiles => ", kernel tiles".to_string(),
        Kernel::Permutation { records: 1 } => ", kernel permute".to_string(),
        Kernel::Permutation { records } => format!(", kernel permute, {records} at once"),
        Kernel::Records { runs } => format!(", kernel records, {}", number(runs as u64, "run")),
        Kernel::List(each) => format!(", kernel list{}", moves(each)),
        Kernel::Walk => String::new(),
    }
}
