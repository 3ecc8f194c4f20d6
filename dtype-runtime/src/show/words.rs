//! What a plan does, in words.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use crate::commit::{Blocks, Committed, Elements, Op, Plan};
use crate::convertor::Conversion;
use crate::kernel::choice::{self, Choice, Each};
use crate::representation::Form;

/// For how many instances a plan is put into words, and how long these may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wording {
    /// How many instances are packed or unpacked: few are copied in another way than many.
    pub instances: u64,
    /// The most lines; the others are counted.
    pub lines: usize,
}

impl Default for Wording {
    /// A thousand instances, in at most 60 lines.
    fn default() -> Self {
        Self { instances: 1000, lines: 60 }
    }
}

/// A plan in words: its `Display`. Made by [`Committed::plan_in_words`] and [`Conversion::plan_in_words`].
#[derive(Clone, Debug)]
pub struct PlanInWords<'a> {
    plan: &'a Plan,
    of: Of<'a>,
    wording: Wording,
}

/// What the plan is for.
#[derive(Clone, Copy, Debug)]
enum Of<'a> {
    Committed(&'a Committed),
    Conversion(&'a Conversion),
}

impl Committed {
    /// What is executed when instances are packed or unpacked in one piece, in words: a line for each operation, in
    /// bytes, what a loop repeats behind it or indented below it. The first line says how many bytes are packed, and in
    /// how many pieces they lie in memory.
    ///
    /// Behind what one routine copies as a whole stands its name, as it is chosen on this machine with the
    /// [instructions](crate::kernels) that are selected:
    ///
    /// | kernel | what it does |
    /// |---|---|
    /// | `copy` | copies one block |
    /// | `strided8`, `strided8x2`, `strided_long` | copies blocks at equal distances: each by a move of 8 bytes, by two that may overlap, or by as many as it takes |
    /// | `grid8` and so on | the same in two dimensions |
    /// | `tiles` | copies columns of a matrix several at a time, row by row |
    /// | `permute` | rearranges several records at once in registers |
    /// | `records` | copies one run of many records, then the next run of these |
    /// | `list8` and so on, `list_varied` | copies blocks at irregular places |
    ///
    /// Loops without one are walked operation by operation.
    ///
    /// ```
    /// use dtype_runtime::show::Wording;
    /// use dtype_runtime::{Basic, Type};
    /// // Of each of 64 rows of 1000 bytes three elements, two apart.
    /// let row = Type::vector(3, 1, 2, &Type::basic(Basic::F64))?;
    /// let rows = Type::hvector(64, 1, 1000, &row)?.commit();
    /// let wording = Wording { instances: 1, ..Wording::default() };
    /// assert_eq!(
    ///     rows.plan_in_words(&wording).to_string(),
    ///     "\
    /// 1 instance: 1536 packed bytes from 192 pieces of memory
    /// loop of 64 over 3 copies of 8 bytes at 0, every 16; the next 1000 further, kernel grid8
    /// "
    /// );
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn plan_in_words(&self, wording: &Wording) -> PlanInWords<'_> {
        PlanInWords { plan: self.plan(), of: Of::Committed(self), wording: wording.clone() }
    }
}

impl Conversion {
    /// What is executed when instances are packed or unpacked in another representation, in words, as
    /// [`Committed::plan_in_words`]; kernels are not named.
    ///
    /// ```
    /// use dtype_runtime::show::Wording;
    /// use dtype_runtime::{Basic, Representation, Type};
    /// let [f64, u8] = [Basic::F64, Basic::U8].map(Type::basic);
    /// let pairs = Type::structure(&[1, 2], &[0, 8], &[f64, u8])?.commit();
    /// let big = pairs.conversion(Representation::BigEndian)?;
    /// # #[cfg(target_endian = "little")]
    /// assert_eq!(
    ///     big.plan_in_words(&Wording::default()).to_string(),
    ///     "\
    /// 1000 instances: 10000 packed bytes
    /// loop of 1000, 16 bytes apart
    ///   value of 8 bytes, reversed, at 0
    ///   2 values of 1 byte as they are at 8, every 1
    /// "
    /// );
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn plan_in_words(&self, wording: &Wording) -> PlanInWords<'_> {
        PlanInWords { plan: self.plan(), of: Of::Conversion(self), wording: wording.clone() }
    }
}

impl fmt::Display for PlanInWords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.wording.instances;
        write!(f, "{}: ", number(count, "instance"))?;
        // That many instances never are in memory, and what would be done with them has no answer.
        let [first, each, last] = self.plan.sizes().map(u128::from);
        let size = first + each * u128::from(self.plan.repetitions(count)) + last;
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
        let mut lines = Lines { f, kernels, left: self.wording.lines, more: 0 };
        lines.plan(self.plan, count)?;
        match lines.more {
            0 => Ok(()),
            more => writeln!(f, "… and {} more", number(more, "operation")),
        }
    }
}

/// A number of things.
fn number(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Writes lines until there are enough.
struct Lines<'a, 'f> {
    f: &'a mut fmt::Formatter<'f>,
    /// Whether kernels are named.
    kernels: bool,
    left: usize,
    /// How many operations were left out.
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

    /// The name of a routine, if these are wanted.
    fn kernel(&self, choice: Choice) -> String {
        if self.kernels { name(choice) } else { String::new() }
    }

    fn plan(&mut self, plan: &Plan, count: u64) -> fmt::Result {
        if let Some((all, choice)) = choice::of_single(plan, count) {
            let ops = [Op::Blocks(all)];
            return self.repeated(plan, &ops, count, plan.extent(), choice, 0);
        }
        let (prologue, steady, epilogue) = (plan.prologue(), plan.steady(), plan.epilogue());
        match count {
            0 => self.line(0, "nothing"),
            1 => {
                let first = if prologue.is_empty() { steady } else { prologue };
                self.ops(plan, first, true, 0)?;
                self.ops(plan, epilogue, true, 0)
            }
            _ => {
                if !prologue.is_empty() {
                    self.line(0, "at the first instance")?;
                    self.ops(plan, prologue, true, 1)?;
                }
                let turns = plan.repetitions(count);
                let choice = choice::of_steady(plan, turns);
                self.repeated(plan, steady, turns, plan.extent(), choice, 0)?;
                if !epilogue.is_empty() {
                    self.line(0, "at the last instance")?;
                    self.ops(plan, epilogue, true, 1)?;
                }
                Ok(())
            }
        }
    }

    /// Repetitions of operations, and what copies them.
    fn repeated(
        &mut self,
        plan: &Plan,
        ops: &[Op],
        count: u64,
        stride: i64,
        choice: Choice,
        depth: usize,
    ) -> fmt::Result {
        let kernel = self.kernel(choice);
        match ops {
            [] => Ok(()),
            [Op::Blocks(blocks)] if count == 1 => {
                self.line(depth, &format!("{}{kernel}", copies(blocks)))
            }
            [Op::Blocks(blocks)] => {
                let copies = copies(blocks);
                let text =
                    format!("loop of {count} over {copies}; the next {stride} further{kernel}");
                self.line(depth, &text)
            }
            _ => {
                self.line(depth, &format!("loop of {count}, {stride} bytes apart{kernel}"))?;
                self.ops(plan, ops, choice == Choice::Walk, depth + 1)
            }
        }
    }

    /// Operations one after another; `alone` says whether each is copied on its own.
    fn ops(&mut self, plan: &Plan, ops: &[Op], alone: bool, depth: usize) -> fmt::Result {
        let tables = plan.tables();
        let mut rest = ops;
        while let [op, after @ ..] = rest {
            if self.left == 0 {
                self.more += rest.len() as u64;
                return Ok(());
            }
            rest = after;
            let kernels = alone && self.kernels;
            let named = |choice: Choice| if kernels { name(choice) } else { String::new() };
            match op {
                Op::Blocks(blocks) => {
                    let kernel = named(choice::of_blocks(*blocks, tables));
                    self.line(depth, &format!("{}{kernel}", copies(blocks)))?;
                }
                Op::List(list) => {
                    let length = match list.block_len() {
                        Some(len) => format!("{len} bytes each"),
                        None => "different lengths".to_string(),
                    };
                    let kernel = named(choice::of_list(list, tables));
                    let count = list.count();
                    self.line(depth, &format!("list of {count} blocks of {length}{kernel}"))?;
                }
                Op::Elements(all) => self.line(depth, &values(all))?,
                Op::Loop { count, stride, items } => {
                    let (body, behind) = after.split_at(*items);
                    rest = behind;
                    if alone {
                        let choice = choice::of_repeated(body, tables, *count, *stride);
                        self.repeated(plan, body, *count, *stride, choice, depth)?;
                    } else {
                        // Part of what the routine around it does.
                        self.line(depth, &format!("loop of {count}, {stride} bytes apart"))?;
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

fn values(all: &Elements) -> String {
    let Blocks { disp, count, stride, .. } = all.places;
    let what = match all.form {
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

/// The name of a routine, behind what it copies.
fn name(choice: Choice) -> String {
    let moves = |each| match each {
        Each::Moves { number: 1, width } => width.to_string(),
        Each::Moves { number, width } => format!("{width}x{number}"),
        Each::Long => "_long".to_string(),
        Each::Varied => "_varied".to_string(),
    };
    match choice {
        Choice::Copy => ", kernel copy".to_string(),
        Choice::Strided(each) => format!(", kernel strided{}", moves(each)),
        Choice::Grid(each) => format!(", kernel grid{}", moves(each)),
        Choice::Tiles => ", kernel tiles".to_string(),
        Choice::Permutation { records: 1 } => ", kernel permute".to_string(),
        Choice::Permutation { records } => format!(", kernel permute, {records} at once"),
        Choice::Records { runs } => format!(", kernel records, {}", number(runs as u64, "run")),
        Choice::List(each) => format!(", kernel list{}", moves(each)),
        Choice::Walk => String::new(),
    }
}
