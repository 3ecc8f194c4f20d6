//! Parts of multidimensional arrays (`subarray`).
//!
//! A subarray equals what simpler constructors would make, one for each dimension. These types are only made if something
//! might overflow: see [`Outcome`].

use alloc::boxed::Box;

use super::array::{Order, dimensions, within};
use super::bounds::{BoundsRule, Interval};
use super::parts::{Outcome, Parts, same_length};
use super::walk::{Sink, block, repeat, run};
use super::{Constructor, Level, Type};
use crate::error::Error;

const CALL: &str = "subarray";

/// The arguments of a `subarray`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subarray {
    /// The sizes of the array, the sizes of the part, and the start of the part.
    numbers: Box<[u64]>,
    pub(crate) order: Order,
}

/// One dimension, in elements.
#[derive(Clone, Copy)]
struct Dimension {
    size: u64,
    part: u64,
    start: u64,
}

/// The dimensions multiplied out. If `overflow` is set, numbers have wrapped around.
#[derive(Clone, Copy)]
struct Shape {
    overflow: bool,
    /// Displacement in bytes of the first element.
    start: i64,
    /// Distance in bytes from the first element to the last.
    reach: i64,
    /// Bytes of the whole array.
    extent: i64,
    /// Number of elements.
    elements: u64,
    /// The number of dimensions, from the fastest on, that are one run of data.
    in_run: usize,
    /// Packed bytes of that run, or of one element if no dimension is a run.
    run: u64,
    /// Elements and distance of the first dimension that is not part of the run.
    next: (u64, i64),
}

impl Type {
    /// The part of an array of `sizes` elements that begins at `starts` and has `subsizes` elements
    /// (MPI-4.1 section 5.1.3). Its bounds span the whole array, whatever the bounds of `old`.
    ///
    /// # Errors
    ///
    /// [`Error::ArgumentLengths`] when the arrays differ in length; [`Error::ArgumentRange`] when there are no
    /// dimensions, a size is zero, or the part does not lie within the array; [`Error::Overflow`],
    /// [`Error::TooDeep`], [`Error::TooManyEntries`].
    ///
    /// ```
    /// use dtype_runtime::types::Order;
    /// use dtype_runtime::{Basic, Type};
    /// let t = Type::subarray(&[4, 6], &[2, 3], &[1, 2], Order::C, &Type::basic(Basic::I8))?;
    /// assert_eq!((t.size(), t.extent()), (6, 24));
    /// assert_eq!((t.true_lb(), t.true_extent()), (8, 9));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_create_subarray")]
    pub fn subarray(
        sizes: &[u64],
        subsizes: &[u64],
        starts: &[u64],
        order: Order,
        old: &Self,
    ) -> Result<Self, Error> {
        let ndims = dimensions(CALL, sizes.len())?;
        same_length(CALL, "array_of_subsizes", ndims, subsizes.len())?;
        same_length(CALL, "array_of_starts", ndims, starts.len())?;
        for i in 0..ndims {
            within(CALL, "array_of_sizes", Some(i), sizes[i], 1, u64::MAX)?;
            within(CALL, "array_of_subsizes", Some(i), subsizes[i], 1, sizes[i])?;
            within(CALL, "array_of_starts", Some(i), starts[i], 0, sizes[i] - subsizes[i])?;
        }
        let numbers = [sizes, subsizes, starts].concat().into();
        let arguments = Subarray { numbers, order };
        let (mut parts, extent) = if let Some(known) = arguments.outcome(old) {
            known
        } else {
            let (built, extent) = arguments.build(old)?;
            (Parts::copy_of(CALL, &built)?, extent)
        };
        parts.bounds.set(0, extent);
        parts.finish(|| Constructor::Subarray { arguments, old: old.clone() })
    }
}

impl Subarray {
    pub(crate) fn sizes(&self) -> &[u64] {
        self.thirds()[0]
    }

    pub(crate) fn subsizes(&self) -> &[u64] {
        self.thirds()[1]
    }

    pub(crate) fn starts(&self) -> &[u64] {
        self.thirds()[2]
    }

    fn thirds(&self) -> [&[u64]; 3] {
        let (sizes, others) = self.numbers.split_at(self.numbers.len() / 3);
        let (subsizes, starts) = others.split_at(others.len() / 2);
        [sizes, subsizes, starts]
    }

    /// The dimensions from the one whose index runs fastest to the slowest.
    fn dimensions(&self) -> impl DoubleEndedIterator<Item = Dimension> {
        let [sizes, subsizes, starts] = self.thirds();
        let ndims = sizes.len();
        (0..ndims).map(move |n| {
            let i = if self.order == Order::C { ndims - 1 - n } else { n };
            Dimension { size: sizes[i], part: subsizes[i], start: starts[i] }
        })
    }

    #[inline(always)]
    fn shape(&self, old: &Type) -> Shape {
        let (mut overflow, mut start, mut reach, mut elements) = (false, 0_i64, 0_i64, 1_u64);
        let (mut extent, mut in_run, mut run) = (old.extent(), 0, old.size());
        let mut next = (1, 0);
        for (n, Dimension { size, part, start: first }) in self.dimensions().enumerate() {
            if n == in_run {
                if old.is_run() && (part == 1 || extent == run.cast_signed()) {
                    in_run += 1;
                    run = run.wrapping_mul(part);
                } else {
                    next = (part, extent);
                }
            }
            // Neither of the others is greater than the size.
            overflow |= i64::try_from(size).is_err();
            let bytes = |number: u64| extent.overflowing_mul(number.cast_signed());
            let (whole, too_far) = bytes(size);
            overflow |= too_far;
            start = start.wrapping_add(bytes(first).0);
            reach = reach.wrapping_add(bytes(part - 1).0);
            let (product, too_many) = elements.overflowing_mul(part);
            overflow |= too_many;
            (elements, extent) = (product, whole);
        }
        Shape { overflow, start, reach, extent, elements, in_run, run, next }
    }

    /// The outcome of the calls of [`build`](Self::build), and the extent, if nothing can overflow: see [`Outcome`].
    /// Fast twin of [`build`](Self::build), kept equal by test
    /// `subarrays_are_what_simpler_constructors_make_of_them`.
    #[inline(always)]
    fn outcome(&self, old: &Type) -> Option<(Parts, i64)> {
        let shape = self.shape(old);
        let data = old.data()?;
        let ends = [old.lb(), old.ub(), data.start, data.end, shape.extent];
        // All elements lie within the array, and so does every displacement on the way.
        let near = ends.iter().all(|end| end.unsigned_abs() < Outcome::NEAR);
        if shape.overflow || !near || old.bounds_rule() != BoundsRule::Literal {
            return None;
        }
        let ndims = self.sizes().len();
        let first = data.start + shape.start + shape.reach.min(0);
        let outcome = Outcome {
            copies: shape.elements,
            data: Interval { start: first, end: data.end + shape.start + shape.reach.max(0) },
            is_run: shape.in_run == ndims,
            // One for each dimension, one for the start and one for the bounds.
            calls: ndims + 2,
            entries: old.entries() + 4 * (ndims as u64 + 2),
        };
        Some((Parts::of_outcome(CALL, old, &outcome)?, shape.extent))
    }

    /// The part, made by simpler constructors, and the extent of the whole.
    pub(super) fn build(&self, old: &Type) -> Result<(Type, i64), Error> {
        let overflow = |quantity| Error::Overflow { call: CALL, quantity };
        let times = |bytes: i64, n: u64| {
            i64::try_from(n).ok().and_then(|n| bytes.checked_mul(n)).ok_or(overflow("extent"))
        };
        let (mut part, mut stride, mut start) = (old.clone(), old.extent(), 0_i64);
        for (n, dimension) in self.dimensions().enumerate() {
            part = if n == 0 {
                Type::contiguous(dimension.part, &part)?
            } else {
                Type::hvector(dimension.part, 1, stride, &part)?
            };
            let offset = times(stride, dimension.start)?;
            start = start.checked_add(offset).ok_or(overflow("displacement"))?;
            stride = times(stride, dimension.size)?;
        }
        Ok((Type::structure(&[1], &[start], &[part])?, stride))
    }

    /// Writes the part, whose elements have data: the same output as a walk over [`build`](Self::build).
    pub(super) fn walk<S: Sink>(&self, old: &Type, base: i64, sink: &mut S) {
        let shape = self.shape(old);
        let in_run = if S::BYTES { shape.in_run } else { 0 };
        let core = Core { old, run: shape.run, in_run };
        let ndims = self.sizes().len();
        core.walk(self.dimensions(), ndims, shape.extent, base.wrapping_add(shape.start), sink);
    }

    /// The part as blocks at equal distances. Its elements have data.
    pub(super) fn as_level(&self, old: &Type) -> Option<Level> {
        let shape = self.shape(old);
        let (count, stride) = shape.next;
        let base = shape.start.wrapping_add(old.true_lb());
        let in_rows = old.is_run() && shape.in_run + 1 == self.sizes().len();
        in_rows.then_some(Level { base, length: shape.run, count, stride })
    }
}

/// The innermost data, which the dimensions repeat.
struct Core<'a> {
    old: &'a Type,
    /// The number of dimensions, from the fastest on, that are written as one run.
    in_run: usize,
    /// The length of that run in bytes.
    run: u64,
}

impl Core<'_> {
    /// Writes the `number` fastest dimensions, which together have `extent` bytes; the last of them is the
    /// slowest.
    fn walk<S: Sink>(
        &self,
        mut dimensions: impl DoubleEndedIterator<Item = Dimension>,
        number: usize,
        extent: i64,
        base: i64,
        sink: &mut S,
    ) {
        // At least one dimension, so this is not an empty run.
        if number == self.in_run {
            return sink.elem(run(self.run, base.wrapping_add(self.old.true_lb())));
        }
        let Some(Dimension { size, part, .. }) = dimensions.next_back() else { return };
        if number == 1 {
            return block(part, self.old, base, sink);
        }
        // The extent is a product with this size, and the constructor has checked that it fits 63 bits.
        let stride = extent.checked_div(size.cast_signed()).unwrap_or(0);
        repeat(part, stride, sink, |sink| {
            self.walk(dimensions, number - 1, stride, base, sink);
        });
    }
}

#[cfg(test)]
pub(super) mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::Basic;
    use crate::numbers::Numbers;

    /// Elements of every kind: runs and others, with gaps, backwards, with markers, by other rules, without data.
    pub(in crate::types) fn elements() -> Vec<Type> {
        let byte = Type::basic(Basic::U8);
        let f64 = Type::basic(Basic::F64);
        let wide = Type::resized(&byte, -1, 3).unwrap();
        let backwards = Type::resized(&Type::basic(Basic::I16), 0, -2).unwrap();
        let far = Type::hindexed(&[1], &[1 << 61], &byte).unwrap();
        let mut all = alloc::vec![
            Type::vector(2, 1, 2, &byte).unwrap(),
            Type::structure(&[1, 1], &[0, 8], &[f64.clone(), byte.clone()]).unwrap(),
            Type::structure(&[1, 1], &[2, -4], &[byte.clone(), Type::lb_marker()]).unwrap(),
            Type::structure(&[1, 1], &[0, 5], &[f64.clone(), Type::ub_marker()]).unwrap(),
            Type::resized(&byte, 0, 0).unwrap(),
            Type::resized(&f64, 16, 8).unwrap(),
            Type::contiguous(0, &byte).unwrap(),
            Type::lb_marker(),
            wide.with_bounds_rule(BoundsRule::Mpich).unwrap(),
            Type::resized(&far, 0, 8).unwrap(),
            Type::resized(&byte, 0, 1 << 59).unwrap(),
            Type::resized(&byte, i64::MAX - 9, 9).unwrap(),
        ];
        all.extend([byte, f64, wide, backwards, far]);
        let mut deep = all[0].clone();
        for _ in 0..251 {
            deep = Type::dup(&deep).unwrap();
        }
        all.push(deep);
        all
    }

    /// Two types are the same except for the calls that made them.
    pub(in crate::types) fn assert_same(actual: &Type, expected: &Type, call: &str) {
        let facts = |ty: &Type| {
            let inner = &ty.0;
            let bounds = (inner.lb, inner.ub, inner.data, inner.markers, inner.align);
            let rest = (inner.flags, inner.depth, inner.entries, inner.rules);
            (inner.size, inner.elements, bounds, rest)
        };
        assert_eq!(facts(actual), facts(expected), "{call}");
        assert_eq!(actual.signature_hash(), expected.signature_hash(), "{call}");
        let (description, other) = (actual.description(), expected.description());
        assert_eq!(description.entries(), other.entries(), "{call}");
        assert_eq!(actual.commit().plan(), expected.commit().plan(), "{call}");
    }

    #[test]
    fn subarrays_are_what_simpler_constructors_make_of_them() {
        let elements = elements();
        let mut numbers = Numbers(1);
        let (mut made, mut refused, mut known) = (0, 0, 0);
        for case in 0..40_000 {
            let old = &elements[case % elements.len()];
            let ndims = 1 + numbers.below(4);
            let order = if numbers.below(2) == 0 { Order::C } else { Order::Fortran };
            let (mut sizes, mut subsizes, mut starts) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..ndims {
                let large = [1 << 20, 1 << 40, i64::MAX.cast_unsigned(), u64::MAX];
                let size = match numbers.below(20) {
                    0 => *numbers.one_of(&large),
                    _ => 1 + numbers.below(4),
                };
                // Often the whole dimension, so that runs span several.
                let part = if numbers.below(2) == 0 { size } else { 1 + numbers.below(size) };
                sizes.push(size);
                subsizes.push(part);
                starts.push(if size == part { 0 } else { numbers.below(size - part + 1) });
            }
            let arguments =
                Subarray { numbers: [&sizes[..], &subsizes, &starts].concat().into(), order };
            let expected = arguments.build(old).and_then(|(built, extent)| {
                let mut parts = Parts::copy_of(CALL, &built)?;
                parts.bounds.set(0, extent);
                parts.finish(|| Constructor::Resized { old: built })
            });
            known += u32::from(arguments.outcome(old).is_some());
            let actual = Type::subarray(&sizes, &subsizes, &starts, order, old);
            let (actual, expected) = match (actual, expected) {
                (Ok(actual), Ok(expected)) => (actual, expected),
                (actual, expected) => {
                    assert_eq!(actual.err(), expected.err(), "{arguments:?} of {old:?}");
                    refused += 1;
                    continue;
                }
            };
            made += 1;
            let call = alloc::format!("{arguments:?} of {old:?}");
            assert_same(&actual, &expected, &call);
        }
        assert!(made > 20_000 && refused > 1000 && known > 10_000, "{made} {refused} {known}");
    }
}
