//! The arguments of a constructor, taken off the arrays of its contents in the order of the call.

use dtype_runtime::types::Contents;
use mpi::ffi::MPI_Datatype;

use crate::error::Error;
use crate::names::{Kind, from_abi};
use crate::raw::Datatype;

/// What is left of the arrays. Constants come out as the library numbers them.
pub(crate) struct Arguments<'a> {
    combiner: &'static str,
    integers: &'a [i32],
    addresses: &'a [i64],
    #[cfg(large_counts)]
    large_counts: &'a [i64],
    datatypes: &'a [&'a Datatype],
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(contents: &'a Contents, datatypes: &'a [&'a Datatype]) -> Self {
        Self {
            combiner: contents.combiner.name(),
            integers: &contents.integers,
            addresses: &contents.addresses,
            #[cfg(large_counts)]
            large_counts: &contents.large_counts,
            datatypes,
        }
    }

    fn ends(&self, what: &'static str) -> Error {
        Error::Contents { combiner: self.combiner, what }
    }

    fn length(&self, number: i64) -> Result<usize, Error> {
        usize::try_from(number).map_err(|_| self.ends("an array of negative length"))
    }

    pub(crate) fn integer(&mut self) -> Result<i32, Error> {
        let (first, rest) = self.integers.split_first().ok_or_else(|| self.ends("an integer"))?;
        self.integers = rest;
        Ok(*first)
    }

    /// So many integers.
    pub(crate) fn some<const N: usize>(&mut self) -> Result<[i32; N], Error> {
        let (first, rest) =
            self.integers.split_first_chunk().ok_or_else(|| self.ends("an integer"))?;
        self.integers = rest;
        Ok(*first)
    }

    pub(crate) fn integers(&mut self, number: i32) -> Result<&'a [i32], Error> {
        let number = self.length(number.into())?;
        let (first, rest) =
            self.integers.split_at_checked(number).ok_or_else(|| self.ends("all integers"))?;
        self.integers = rest;
        Ok(first)
    }

    pub(crate) fn address(&mut self) -> Result<i64, Error> {
        let (first, rest) = self.addresses.split_first().ok_or_else(|| self.ends("an address"))?;
        self.addresses = rest;
        Ok(*first)
    }

    pub(crate) fn addresses(&mut self, number: i32) -> Result<&'a [i64], Error> {
        let number = self.length(number.into())?;
        let (first, rest) =
            self.addresses.split_at_checked(number).ok_or_else(|| self.ends("all addresses"))?;
        self.addresses = rest;
        Ok(first)
    }

    #[cfg(large_counts)]
    pub(crate) fn large(&mut self) -> Result<i64, Error> {
        let (first, rest) =
            self.large_counts.split_first().ok_or_else(|| self.ends("a large count"))?;
        self.large_counts = rest;
        Ok(*first)
    }

    #[cfg(large_counts)]
    pub(crate) fn larges(&mut self, number: impl Into<i64>) -> Result<&'a [i64], Error> {
        let number = self.length(number.into())?;
        let (first, rest) = self
            .large_counts
            .split_at_checked(number)
            .ok_or_else(|| self.ends("all large counts"))?;
        self.large_counts = rest;
        Ok(first)
    }

    pub(crate) fn datatype(&mut self) -> Result<MPI_Datatype, Error> {
        let (first, rest) = self.datatypes.split_first().ok_or_else(|| self.ends("a datatype"))?;
        self.datatypes = rest;
        Ok(first.handle())
    }

    pub(crate) fn datatypes(&mut self, number: impl Into<i64>) -> Result<Vec<MPI_Datatype>, Error> {
        let number = self.length(number.into())?;
        let (first, rest) =
            self.datatypes.split_at_checked(number).ok_or_else(|| self.ends("all datatypes"))?;
        self.datatypes = rest;
        Ok(first.iter().map(|datatype| datatype.handle()).collect())
    }

    /// The next integer, which is one of the ABI's constants.
    fn constant(&mut self, kind: Kind, what: &'static str) -> Result<i32, Error> {
        let value = self.integer()?;
        from_abi(kind, value).ok_or(Error::Constant { combiner: self.combiner, what, value })
    }

    /// The next integer, which may be one of the ABI's constants, or a number.
    fn constant_or_number(&mut self, kind: Kind) -> Result<i32, Error> {
        let value = self.integer()?;
        Ok(from_abi(kind, value).unwrap_or(value))
    }

    pub(crate) fn order(&mut self) -> Result<i32, Error> {
        self.constant(Kind::Order, "an order")
    }

    pub(crate) fn distributions(&mut self, number: i32) -> Result<Vec<i32>, Error> {
        (0..number).map(|_| self.constant(Kind::Distribution, "a distribution")).collect()
    }

    pub(crate) fn dargs(&mut self, number: i32) -> Result<Vec<i32>, Error> {
        (0..number).map(|_| self.constant_or_number(Kind::Darg)).collect()
    }

    /// A precision or a range.
    pub(crate) fn digits(&mut self) -> Result<i32, Error> {
        self.constant_or_number(Kind::Undefined)
    }
}
