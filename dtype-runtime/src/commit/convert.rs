//! The plan of a conversion: what to do with each value where the packed stream has another representation.
//!
//! Runs of bytes do not say where one value ends and the next begins, so this plan consists of values. If the conversion only
//! reverses the bytes of every value, and all values have the same width, the plan for bytes is used instead, and the packed
//! bytes are reversed.
//!
//! Lemma WHOLE-RUNS: every run and every block of the plan for bytes is then a whole number of values. The builder
//! starts with a run of one or more whole values; from then on it only joins runs that touch, and never cuts one.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::error::Error;
use crate::plan::{Blocks, Elements, Lists, Op, Plan, Values, Written, size};
use crate::representation::{Architecture, Form};
use crate::types::{Elem, Sink, Type, walk};

/// The plan for instances of a type in another representation.
#[derive(Debug)]
pub(crate) struct Converting {
    pub(crate) how: How,
    /// Packed bytes of one instance.
    pub(crate) size: u64,
    /// The width in packed bytes of the widest value that cannot be converted byte by byte; 0 if there is no such
    /// value.
    pub(crate) widest: u64,
}

/// How the values are converted.
#[derive(Debug)]
pub(crate) enum How {
    /// The values are not converted.
    Same,
    /// Every value has this many bytes, which are reversed.
    Reversed(u8),
    /// Each value is converted by its form.
    Each(Box<Each>),
}

/// The values that are converted.
#[derive(Debug)]
pub(crate) struct Each {
    pub(crate) plan: Plan,
    /// The same values as a list, if they are few and all converted byte by byte.
    pub(crate) values: Option<Values>,
}

impl Converting {
    /// Converts instances of a type that are `extent` bytes apart, between memory and the stream of a machine with
    /// the architecture `remote`.
    ///
    /// # Errors
    ///
    /// [`Error::NoConversion`].
    pub(crate) fn of(ty: &Type, extent: i64, remote: Architecture) -> Result<Self, Error> {
        if remote == Architecture::HOST {
            return Ok(Self { how: How::Same, size: ty.size(), widest: 0 });
        }
        let mut compiler = ConversionCompiler::new(remote);
        walk(ty, 0, &mut compiler);
        compiler.finish(extent)
    }

    /// Converts between the packed streams of this machine and of another. In memory, the values have this machine's form and
    /// lie one after another.
    ///
    /// # Errors
    ///
    /// [`Error::NoConversion`].
    #[expect(clippy::cast_possible_wrap, reason = "sizes are below 2⁶³")]
    pub(crate) fn of_packed(ty: &Type, remote: Architecture) -> Result<Self, Error> {
        let mut dense = Dense { inner: ConversionCompiler::new(remote), at: 0 };
        walk(ty, 0, &mut dense);
        dense.inner.finish(ty.size() as i64)
    }
}

struct ConversionCompiler {
    remote: Architecture,
    ops: Vec<Op>,
    /// Index of the last operation of the innermost open loop.
    last: Option<usize>,
    /// The conversion that all values so far share; `None` before the first value.
    all: Option<All>,
    widest: u64,
    error: Option<Error>,
}

/// What the values have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
enum All {
    Same,
    Reversed(u8),
    Different,
}

struct Open {
    start: usize,
    last: Option<usize>,
}

impl ConversionCompiler {
    fn new(remote: Architecture) -> Self {
        Self { remote, ops: Vec::new(), last: None, all: None, widest: 0, error: None }
    }

    fn push(&mut self, new: Elements) {
        if let Some(index) = self.last
            && let Op::Elements(old) = self.ops[index]
            && let Some(both) = old.followed_by(new)
        {
            self.ops[index] = Op::Elements(both);
        } else {
            self.last = Some(self.ops.len());
            self.ops.push(Op::Elements(new));
        }
    }

    /// Records the form of one more value.
    fn note(&mut self, form: Form) {
        let all = match form {
            Form::Same { .. } => All::Same,
            // A value without a kernel is converted by its form.
            Form::Reversed { width } if width.is_power_of_two() => All::Reversed(width),
            _ => All::Different,
        };
        let same = self.all.is_none_or(|before| before == all);
        self.all = Some(if same { all } else { All::Different });
        if !form.is_bytewise() {
            self.widest = self.widest.max(form.packed_size() as u64);
        }
    }

    fn finish(self, extent: i64) -> Result<Converting, Error> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let size = size(&self.ops, Lists::none());
        let how = match self.all {
            None | Some(All::Same) => How::Same,
            Some(All::Reversed(width)) => How::Reversed(width),
            Some(All::Different) => {
                let values = if self.widest == 0 { Values::from_ops(&self.ops) } else { None };
                let written = Written { ops: &self.ops, extent, lists: None };
                let plan = Plan::of_program(written, size);
                How::Each(Box::new(Each { plan, values }))
            }
        };
        Ok(Converting { how, size, widest: self.widest })
    }
}

impl Sink for ConversionCompiler {
    const BYTES: bool = false;

    type Open = Open;

    fn elem(&mut self, elem: Elem) {
        let (form, parts) = match Form::of(elem.basic, self.remote) {
            Ok(form) => form,
            Err(error) => {
                self.error.get_or_insert(error);
                return;
            }
        };
        self.note(form);
        let value = Blocks::run(elem.disp, form.packed_size() as u64);
        let blocks = if parts == 1 {
            value
        } else {
            let stride = form.memory_size().cast_signed() as i64;
            Blocks { count: parts.into(), stride, ..value }
        };
        self.push(Elements { blocks, form });
    }

    fn begin(&mut self) -> Open {
        let open = Open { start: self.ops.len(), last: self.last };
        self.last = None;
        // Overwritten when the loop ends.
        self.ops.push(Op::NONE);
        open
    }

    fn end(&mut self, open: Open, loops: u64, extent: i64) {
        let items = self.ops.len() - open.start - 1;
        if items == 1
            && let Op::Elements(only) = self.ops[open.start + 1]
            && let Some(all) = only.repeated(loops, extent)
        {
            self.ops.truncate(open.start);
            self.last = open.last;
            return self.push(all);
        }
        if items == 0 {
            self.ops.truncate(open.start);
            self.last = open.last;
            return;
        }
        self.ops[open.start] = Op::Loop { count: loops, stride: extent, items };
        self.last = Some(open.start);
    }
}

/// Passes the values on as if they lay one after another.
struct Dense {
    inner: ConversionCompiler,
    /// Displacement of the next value.
    at: i64,
}

impl Sink for Dense {
    const BYTES: bool = false;

    type Open = (Open, i64);

    #[expect(clippy::cast_possible_wrap, reason = "sizes are below 2⁶³")]
    fn elem(&mut self, elem: Elem) {
        self.inner.elem(Elem { disp: self.at, ..elem });
        self.at += elem.size() as i64;
    }

    fn begin(&mut self) -> (Open, i64) {
        (self.inner.begin(), self.at)
    }

    fn end(&mut self, (open, start): (Open, i64), loops: u64, _extent: i64) {
        let extent = self.at - start;
        self.inner.end(open, loops, extent);
        self.at = start + extent * loops.cast_signed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basic::Basic;
    use crate::representation::ByteOrder;

    #[test]
    fn a_conversion_is_as_simple_as_its_values() {
        let order = if cfg!(target_endian = "little") { ByteOrder::Big } else { ByteOrder::Little };
        let other = Architecture::HOST.with_byte_order(order);
        let how = |ty: &Type| Converting::of(ty, ty.extent(), other).unwrap().how;
        let [bytes, u16, u32] = [Basic::U8, Basic::U16, Basic::U32].map(Type::basic);
        assert!(matches!(how(&Type::contiguous(3, &bytes).unwrap()), How::Same));
        assert!(matches!(how(&Type::vector(3, 1, 2, &u32).unwrap()), How::Reversed(4)));
        // The operations, and whether they are also a list.
        let each = |ty: &Type| match how(ty) {
            How::Each(all) => (all.plan.ops().len(), all.values.is_some()),
            other => panic!("{other:?}"),
        };
        let both = |first: &Type| {
            Type::structure(&[1, 1], &[0, 100], &[first.clone(), u32.clone()]).unwrap()
        };
        assert_eq!((each(&both(&u16)), each(&both(&bytes))), ((2, true), (2, true)));
        // A loop over a single value is merged into the value.
        let column = Type::vector(3, 1, 2, &u16).unwrap();
        assert_eq!(each(&both(&column)), (2, true));
        assert_eq!(each(&both(&Type::vector(3, 1, 2, &both(&u16)).unwrap())), (4, true));
    }

    #[test]
    fn a_value_that_no_kernel_reverses_is_converted_on_its_own() {
        let of_all = |width| {
            let mut compiler = ConversionCompiler::new(Architecture::EXTERNAL32);
            compiler.note(Form::Reversed { width });
            compiler.all
        };
        assert!(of_all(8) == Some(All::Reversed(8)) && of_all(12) == Some(All::Different));
    }
}
