//! From contents back to a datatype. They may come from elsewhere, so nothing in them is trusted.

use alloc::vec::Vec;

use super::arguments::{
    DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC, DISTRIBUTE_DFLT_DARG, DISTRIBUTE_NONE, ORDER_C,
    ORDER_FORTRAN, UNDEFINED,
};
use super::{Combiner, Contents};
use crate::error::Error;
use crate::types::{Distribution, Order, Type};

impl Contents {
    /// Makes the call again. The [rules for the bounds](Type::bounds) are those of the datatypes among the
    /// arguments; one of Fortran's kinds has none, and comes back by the standard's.
    ///
    /// # Errors
    ///
    /// [`Error::Contents`] when the arrays do not have the lengths or the values that the combiner asks
    /// for, and those of the constructor.
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
        let mut reader = Reader::new(self);
        let ty = reader.call()?;
        reader.end()?;
        Ok(ty)
    }
}

/// Takes the arguments off the arrays.
struct Reader<'a> {
    combiner: Combiner,
    /// Whether counts and addresses are among the large counts.
    large: bool,
    integers: &'a [i32],
    addresses: &'a [i64],
    large_counts: &'a [i64],
    datatypes: &'a [Type],
}

impl<'a> Reader<'a> {
    fn new(contents: &'a Contents) -> Self {
        Self {
            combiner: contents.combiner,
            large: !contents.large_counts.is_empty(),
            integers: &contents.integers,
            addresses: &contents.addresses,
            large_counts: &contents.large_counts,
            datatypes: &contents.datatypes,
        }
    }

    fn call(&mut self) -> Result<Type, Error> {
        match self.combiner {
            Combiner::Named => Err(self.wrong("a named datatype has no contents")),
            Combiner::Dup => Type::dup(self.datatype()?),
            Combiner::Contiguous => Type::contiguous(self.count()?, self.datatype()?),
            Combiner::Vector => {
                let (count, blocklength, stride) =
                    (self.count()?, self.count()?, self.signed_count()?);
                Type::vector(count, blocklength, stride, self.datatype()?)
            }
            Combiner::Hvector => {
                let (count, blocklength, stride) = (self.count()?, self.count()?, self.address()?);
                Type::hvector(count, blocklength, stride, self.datatype()?)
            }
            Combiner::Indexed => {
                let n = self.length()?;
                let blocklengths = self.several(n, Self::count)?;
                let displacements = self.several(n, Self::signed_count)?;
                Type::indexed(&blocklengths, &displacements, self.datatype()?)
            }
            Combiner::Hindexed => {
                let n = self.length()?;
                let blocklengths = self.several(n, Self::count)?;
                let displacements = self.several(n, Self::address)?;
                Type::hindexed(&blocklengths, &displacements, self.datatype()?)
            }
            Combiner::IndexedBlock => {
                let n = self.length()?;
                let blocklength = self.count()?;
                let displacements = self.several(n, Self::signed_count)?;
                Type::indexed_block(blocklength, &displacements, self.datatype()?)
            }
            Combiner::HindexedBlock => {
                let n = self.length()?;
                let blocklength = self.count()?;
                let displacements = self.several(n, Self::address)?;
                Type::hindexed_block(blocklength, &displacements, self.datatype()?)
            }
            Combiner::Structure => {
                let n = self.length()?;
                let blocklengths = self.several(n, Self::count)?;
                let displacements = self.several(n, Self::address)?;
                let types = self.several(n, |this| this.datatype().cloned())?;
                Type::structure(&blocklengths, &displacements, &types)
            }
            Combiner::Subarray => {
                let ndims = self.ndims()?;
                let sizes = self.several(ndims, Self::count)?;
                let subsizes = self.several(ndims, Self::count)?;
                let starts = self.several(ndims, Self::count)?;
                let order = self.order()?;
                Type::subarray(&sizes, &subsizes, &starts, order, self.datatype()?)
            }
            Combiner::Darray => self.darray(),
            Combiner::F90Real => Type::f90_real(self.digits()?, self.digits()?),
            Combiner::F90Complex => Type::f90_complex(self.digits()?, self.digits()?),
            Combiner::F90Integer => {
                let range = self.digits()?.ok_or_else(|| self.wrong("an undefined range"))?;
                Type::f90_integer(range)
            }
            Combiner::ValueIndex => Type::value_index(self.datatype()?, self.datatype()?),
            Combiner::Resized => {
                let (lb, extent) = (self.address()?, self.address()?);
                Type::resized(self.datatype()?, lb, extent)
            }
        }
    }

    fn darray(&mut self) -> Result<Type, Error> {
        let (size, rank) = (self.unsigned_int()?, self.unsigned_int()?);
        let ndims = self.ndims()?;
        let gsizes = self.several(ndims, Self::count)?;
        let kinds = self.several(ndims, Self::int)?;
        let dargs = self.several(ndims, Self::int)?;
        let psizes = self.several(ndims, Self::unsigned_int)?;
        let order = self.order()?;
        let distributions: Result<Vec<Distribution>, Error> = kinds
            .into_iter()
            .zip(dargs)
            .map(|(kind, darg)| self.distribution(kind, darg))
            .collect();
        Type::darray(size, rank, &gsizes, &distributions?, &psizes, order, self.datatype()?)
    }

    fn distribution(&self, kind: i32, darg: i32) -> Result<Distribution, Error> {
        // The number that means the default cannot mean itself; `contents` never writes it as such.
        let number = match darg {
            DISTRIBUTE_DFLT_DARG => None,
            other => Some(
                u64::try_from(other).map_err(|_| self.wrong("a negative distribution argument"))?,
            ),
        };
        match kind {
            DISTRIBUTE_NONE => Ok(Distribution::None),
            DISTRIBUTE_BLOCK => Ok(Distribution::Block(number)),
            DISTRIBUTE_CYCLIC => Ok(Distribution::Cyclic(number)),
            _ => Err(self.wrong("an unknown distribution")),
        }
    }

    fn wrong(&self, problem: &'static str) -> Error {
        Error::Contents { combiner: self.combiner.name(), problem }
    }

    fn int(&mut self) -> Result<i32, Error> {
        let (first, rest) =
            self.integers.split_first().ok_or_else(|| self.wrong("too few integers"))?;
        self.integers = rest;
        Ok(*first)
    }

    fn large_count(&mut self) -> Result<i64, Error> {
        let (first, rest) =
            self.large_counts.split_first().ok_or_else(|| self.wrong("too few large counts"))?;
        self.large_counts = rest;
        Ok(*first)
    }

    fn address(&mut self) -> Result<i64, Error> {
        if self.large {
            return self.large_count();
        }
        let (first, rest) =
            self.addresses.split_first().ok_or_else(|| self.wrong("too few addresses"))?;
        self.addresses = rest;
        Ok(*first)
    }

    fn signed_count(&mut self) -> Result<i64, Error> {
        if self.large { self.large_count() } else { self.int().map(i64::from) }
    }

    fn count(&mut self) -> Result<u64, Error> {
        u64::try_from(self.signed_count()?).map_err(|_| self.wrong("a negative count"))
    }

    fn unsigned_int(&mut self) -> Result<u64, Error> {
        u64::try_from(self.int()?).map_err(|_| self.wrong("a negative integer"))
    }

    /// A precision or a range, if it is defined.
    fn digits(&mut self) -> Result<Option<u32>, Error> {
        match self.int()? {
            UNDEFINED => Ok(None),
            value => match u32::try_from(value) {
                Ok(value) => Ok(Some(value)),
                Err(_) => Err(self.wrong("a negative precision or range")),
            },
        }
    }

    /// The length of arrays that follow; at most as many as there are arguments left.
    fn length(&mut self) -> Result<usize, Error> {
        usize::try_from(self.count()?).map_err(|_| self.wrong("too few arguments"))
    }

    fn ndims(&mut self) -> Result<usize, Error> {
        usize::try_from(self.unsigned_int()?).map_err(|_| self.wrong("too few arguments"))
    }

    /// So many arguments of a kind. No memory is set aside for more than there are.
    fn several<T>(
        &mut self,
        number: usize,
        mut one: impl FnMut(&mut Self) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        (0..number).map(|_| one(self)).collect()
    }

    fn order(&mut self) -> Result<Order, Error> {
        match self.int()? {
            ORDER_C => Ok(Order::C),
            ORDER_FORTRAN => Ok(Order::Fortran),
            _ => Err(self.wrong("an unknown order")),
        }
    }

    fn datatype(&mut self) -> Result<&'a Type, Error> {
        let (first, rest) =
            self.datatypes.split_first().ok_or_else(|| self.wrong("too few datatypes"))?;
        self.datatypes = rest;
        Ok(first)
    }

    fn end(&self) -> Result<(), Error> {
        let nothing_left = self.integers.is_empty()
            && self.addresses.is_empty()
            && self.large_counts.is_empty()
            && self.datatypes.is_empty();
        if nothing_left { Ok(()) } else { Err(self.wrong("too many arguments")) }
    }
}
