//! Makes calls: from a combiner and arguments to a [`Type`].

use core::borrow::Borrow;

use super::call::{Argument, ArgumentKind, Call, Combiner};
use crate::error::Error;
use crate::types::Type;
use crate::types::equality::all_equal;

impl<T: Borrow<Type>> Call<'_, T> {
    /// Makes the call.
    ///
    /// # Errors
    ///
    /// [`Error::Contents`] when an argument is not of the kind that its parameter takes, and the errors of the
    /// constructor.
    ///
    /// ```
    /// use dtype_runtime::types::{Argument, Call, Combiner};
    /// use dtype_runtime::{Basic, Type};
    /// let arguments = vec![Argument::Count(3), Argument::Type(Type::basic(Basic::F32))];
    /// let call = Call { combiner: Combiner::Contiguous, arguments };
    /// assert_eq!(call.make()?, Type::contiguous(3, &Type::basic(Basic::F32))?);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn make(&self) -> Result<Type, Error> {
        self.make_by(all_equal)
    }

    /// As [`make`](Self::make), for callers that have a faster way to tell whether the types are equal.
    pub(super) fn make_by(&self, are_equal: fn(&[&Type]) -> bool) -> Result<Type, Error> {
        use Argument as A;
        use Combiner as C;
        let made = match (self.combiner, &*self.arguments) {
            (C::Named, _) => return Err(self.wrong("a named datatype, which no call makes")),
            (C::Dup, [A::Type(old), ..]) => Type::dup(old.borrow()),
            (C::Contiguous, [A::Count(count), A::Type(old), ..]) => {
                Type::contiguous(*count, old.borrow())
            }
            (
                C::Vector,
                [A::Count(count), A::Count(length), A::Offset(stride), A::Type(old), ..],
            ) => Type::vector(*count, *length, *stride, old.borrow()),
            (
                C::Hvector,
                [A::Count(count), A::Count(length), A::Offset(stride), A::Type(old), ..],
            ) => Type::hvector(*count, *length, *stride, old.borrow()),
            (C::Indexed, [A::Counts(lengths), A::Offsets(places), A::Type(old), ..]) => {
                Type::indexed(lengths, places, old.borrow())
            }
            (C::Hindexed, [A::Counts(lengths), A::Offsets(places), A::Type(old), ..]) => {
                Type::hindexed(lengths, places, old.borrow())
            }
            (C::IndexedBlock, [A::Count(length), A::Offsets(places), A::Type(old), ..]) => {
                Type::indexed_block(*length, places, old.borrow())
            }
            (C::HindexedBlock, [A::Count(length), A::Offsets(places), A::Type(old), ..]) => {
                Type::hindexed_block(*length, places, old.borrow())
            }
            (C::Structure, [A::Counts(lengths), A::Offsets(places), A::Types(types), ..]) => {
                Type::structure_by(lengths, places, types, are_equal)
            }
            (
                C::Subarray,
                [
                    A::Counts(sizes),
                    A::Counts(part),
                    A::Counts(starts),
                    A::Order(order),
                    A::Type(old),
                    ..,
                ],
            ) => Type::subarray(sizes, part, starts, *order, old.borrow()),
            (
                C::Darray,
                [
                    A::Count(size),
                    A::Count(rank),
                    A::Counts(gsizes),
                    A::Distributions(distributions),
                    A::Counts(psizes),
                    A::Order(order),
                    A::Type(old),
                    ..,
                ],
            ) => Type::darray(*size, *rank, gsizes, distributions, psizes, *order, old.borrow()),
            (C::F90Real, [A::Digits(p), A::Digits(r), ..]) => Type::f90_real(*p, *r),
            (C::F90Complex, [A::Digits(p), A::Digits(r), ..]) => Type::f90_complex(*p, *r),
            (C::F90Integer, [A::Range(range), ..]) => Type::f90_integer(*range),
            (C::Resized, [A::Type(old), A::Offset(lb), A::Offset(extent), ..]) => {
                Type::resized(old.borrow(), *lb, *extent)
            }
            (C::ValueIndex, [A::Type(value), A::Type(index), ..]) => {
                Type::value_index(value.borrow(), index.borrow())
            }
            _ => return Err(self.mismatch()),
        }?;
        let used = self.parameters().filter(|(_, argument)| argument.is_some()).count();
        if used == self.arguments.len() { Ok(made) } else { Err(self.wrong("too many arguments")) }
    }

    fn wrong(&self, problem: &'static str) -> Error {
        Error::Contents { combiner: self.combiner.name(), problem }
    }

    /// The error for arguments that do not match the parameters.
    fn mismatch(&self) -> Error {
        let mut given = self.parameters().filter_map(|(parameter, argument)| {
            argument.map(|argument| argument.is_for(parameter.kind))
        });
        if given.all(|fits| fits) {
            self.wrong("too few arguments")
        } else {
            self.wrong("an argument of another kind than the parameter's")
        }
    }
}

impl<T> Argument<'_, T> {
    /// Whether a parameter of this kind takes the argument.
    const fn is_for(&self, kind: ArgumentKind) -> bool {
        matches!(
            (self, kind),
            (Self::Count(_), ArgumentKind::Count(_))
                | (Self::Offset(_), ArgumentKind::Offset(_))
                | (Self::Counts(_), ArgumentKind::Counts(_))
                | (Self::Offsets(_), ArgumentKind::Offsets(_))
                | (Self::Type(_), ArgumentKind::Type)
                | (Self::Types(_), ArgumentKind::Types)
                | (Self::Order(_), ArgumentKind::Order)
                | (Self::Distributions(_), ArgumentKind::Distributions)
                | (Self::Digits(_), ArgumentKind::Digits)
                | (Self::Range(_), ArgumentKind::Range)
        )
    }
}
