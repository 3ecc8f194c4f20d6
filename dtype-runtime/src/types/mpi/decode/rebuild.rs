//! Rebuilds a datatype from contents. The contents may come from any source, so they are not trusted.

use alloc::vec::Vec;
use core::slice::Iter;

use super::Contents;
use crate::error::Error;
use crate::types::mpi::call::{
    Argument, ArgumentKind, CType, Call, Combiner, DFLT_DARG, UNDEFINED,
};
use crate::types::{Distribution, Order, Type};

impl Contents {
    /// Makes the call again. The datatypes among the arguments determine the [rule for the
    /// bounds](Type::bounds_rule); a type of Fortran's kinds has no datatype arguments, and gets the standard's
    /// bounds.
    ///
    /// # Errors
    ///
    /// [`Error::Contents`] when the arrays do not have the lengths or the values that the combiner requires, and
    /// the errors of the constructor.
    ///
    /// ```
    /// use dtype_runtime::types::{Combiner, Contents};
    /// use dtype_runtime::{Basic, Type};
    /// let contents = Contents {
    ///     combiner: Combiner::IndexedBlock,
    ///     integers: vec![2, 1, 7, 3],
    ///     addresses: vec![],
    ///     large_counts: vec![],
    ///     datatypes: vec![Type::basic(Basic::U8)],
    /// };
    /// assert_eq!(contents.rebuild()?.true_lb(), 3);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn rebuild(&self) -> Result<Type, Error> {
        let mut reader = Reader {
            combiner: self.combiner,
            large: !self.large_counts.is_empty(),
            integers: self.integers.iter(),
            addresses: self.addresses.iter(),
            large_counts: self.large_counts.iter(),
            datatypes: self.datatypes.iter(),
        };
        let call = reader.call()?;
        let ty = call.make()?;
        reader.end()?;
        Ok(ty)
    }
}

/// Takes arguments from the arrays, in order.
struct Reader<'a> {
    combiner: Combiner,
    /// Whether the large counts include counts and addresses.
    large: bool,
    integers: Iter<'a, i32>,
    addresses: Iter<'a, i64>,
    large_counts: Iter<'a, i64>,
    datatypes: Iter<'a, Type>,
}

impl<'a> Reader<'a> {
    fn call(&mut self) -> Result<Call<'a>, Error> {
        let Some(signature) = self.combiner.signature() else {
            return Err(self.wrong("a named datatype has no contents"));
        };
        let mut arguments = Vec::with_capacity(signature.parameters.len());
        let mut length = 0;
        for parameter in signature.parameters {
            arguments.push(match parameter.kind {
                ArgumentKind::Length(number) => {
                    // At most the number of arguments left, which is checked when they are read.
                    length = usize::try_from(self.unsigned(number)?)
                        .map_err(|_| self.wrong("too few arguments"))?;
                    continue;
                }
                ArgumentKind::Count(number) => Argument::Count(self.unsigned(number)?),
                ArgumentKind::Offset(number) => Argument::Offset(self.signed(number)?),
                ArgumentKind::Counts(number) => {
                    Argument::Counts(self.several(length, |this| this.unsigned(number))?.into())
                }
                ArgumentKind::Offsets(number) => {
                    Argument::Offsets(self.several(length, |this| this.signed(number))?.into())
                }
                ArgumentKind::Type => Argument::Type(self.datatype()?),
                ArgumentKind::Types => Argument::Types(self.several(length, Self::datatype)?),
                ArgumentKind::Order => Argument::Order(self.order()?),
                ArgumentKind::Distributions => {
                    Argument::Distributions(self.distributions(length)?.into())
                }
                ArgumentKind::Digits => Argument::Digits(self.digits()?),
                ArgumentKind::Range => {
                    Argument::Range(self.digits()?.ok_or_else(|| self.wrong("an undefined range"))?)
                }
            });
        }
        Ok(Call { combiner: self.combiner, arguments })
    }

    fn wrong(&self, problem: &'static str) -> Error {
        Error::Contents { combiner: self.combiner.name(), problem }
    }

    /// The next number in the array for this C type.
    fn signed(&mut self, number: CType) -> Result<i64, Error> {
        let (next, problem) = match number {
            CType::Count | CType::Address if self.large => {
                (self.large_counts.next(), "too few large counts")
            }
            CType::Address => (self.addresses.next(), "too few addresses"),
            CType::Int | CType::Count => return self.int().map(i64::from),
        };
        next.copied().ok_or_else(|| self.wrong(problem))
    }

    fn unsigned(&mut self, number: CType) -> Result<u64, Error> {
        let value = self.signed(number)?;
        u64::try_from(value).map_err(|_| match number {
            CType::Int => self.wrong("a negative integer"),
            CType::Count | CType::Address => self.wrong("a negative count"),
        })
    }

    fn int(&mut self) -> Result<i32, Error> {
        self.integers.next().copied().ok_or_else(|| self.wrong("too few integers"))
    }

    /// A precision or a range; `None` if it is undefined.
    fn digits(&mut self) -> Result<Option<u32>, Error> {
        match self.int()? {
            UNDEFINED => Ok(None),
            value => match u32::try_from(value) {
                Ok(value) => Ok(Some(value)),
                Err(_) => Err(self.wrong("a negative precision or range")),
            },
        }
    }

    fn order(&mut self) -> Result<Order, Error> {
        let value = self.int()?;
        let order = [Order::C, Order::Fortran].into_iter().find(|order| order.abi_value() == value);
        order.ok_or_else(|| self.wrong("an unknown order"))
    }

    fn distributions(&mut self, ndims: usize) -> Result<Vec<Distribution>, Error> {
        let kinds = self.several(ndims, Self::int)?;
        let lengths = self.several(ndims, Self::int)?;
        let both = kinds.into_iter().zip(lengths);
        both.map(|(kind, length)| {
            let length = match length {
                DFLT_DARG => None,
                other => Some(
                    u64::try_from(other)
                        .map_err(|_| self.wrong("a negative distribution argument"))?,
                ),
            };
            Distribution::from_abi_values(kind, length)
                .ok_or_else(|| self.wrong("an unknown distribution"))
        })
        .collect()
    }

    fn datatype(&mut self) -> Result<&'a Type, Error> {
        self.datatypes.next().ok_or_else(|| self.wrong("too few datatypes"))
    }

    /// `length` arguments of one kind. Memory is reserved only for arguments that exist.
    fn several<T>(
        &mut self,
        length: usize,
        mut one: impl FnMut(&mut Self) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        (0..length).map(|_| one(self)).collect()
    }

    fn end(&self) -> Result<(), Error> {
        let left = [self.integers.len(), self.addresses.len(), self.large_counts.len()];
        let nothing_left = left == [0; 3] && self.datatypes.len() == 0;
        if nothing_left { Ok(()) } else { Err(self.wrong("too many arguments")) }
    }
}
