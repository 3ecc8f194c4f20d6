//! From bytes back to types. Nothing in the bytes is trusted: errors in their form are found here, errors in the
//! arguments by the constructors.

use alloc::vec;
use alloc::vec::Vec;

use super::{FLAGS, MAGIC, VERSION};
use crate::basic::Basic;
use crate::error::{Error, Malformed};
use crate::types::array::{Distribution, Order};
use crate::types::nodes::varint::{Bytes, wrong};
use crate::types::nodes::{code, same_address};
use crate::types::{BoundsRule, Combiner, Constructor, Pair, Type};

/// A node that was read.
struct Node {
    ty: Type,
    height: usize,
    is_referenced: bool,
}

struct Reader<'a> {
    bytes: Bytes<'a>,
    nodes: Vec<Node>,
    /// The number of nodes that no other node refers to so far.
    unreferenced: usize,
    /// The height of the node that is being read, from the parts read so far.
    height: usize,
}

/// Returns the type at the front of these bytes and the number of bytes that it takes.
pub(super) fn read(bytes: &[u8]) -> Result<(Type, usize), Error> {
    let mut bytes = Bytes::new(bytes);
    let mut head = |expected, problem: fn(u8) -> Malformed| {
        let at = bytes.at();
        match bytes.byte()? {
            found if found == expected => Ok(()),
            found => Err(wrong(at, problem(found))),
        }
    };
    head(MAGIC, |found| Malformed::Magic { found })?;
    head(VERSION, |found| Malformed::Version { found })?;
    head(FLAGS, |found| Malformed::Flags { found })?;
    let at = bytes.at();
    // Every node takes at least one byte.
    let last = usize::try_from(bytes.unsigned()?).ok().filter(|&last| last < bytes.remaining());
    let last = last.ok_or_else(|| wrong(at, Malformed::Truncated))?;
    let nodes = Vec::with_capacity(last);
    let reader = Reader { bytes, nodes, unreferenced: 0, height: 0 };
    reader.nodes(last)
}

impl<'a> Reader<'a> {
    fn nodes(mut self, last: usize) -> Result<(Type, usize), Error> {
        let mut before: (usize, &[u8]) = (0, &[]);
        loop {
            let number = self.nodes.len();
            let start = self.bytes.at();
            self.height = 0;
            let ty = self.node()?;
            let this = (self.height, self.bytes.since(start));
            // The nodes are sorted, so equal ones would be neighbours. Before the first is one without bytes.
            if before >= this {
                let same = before == this;
                let problem = if same { Malformed::Duplicate } else { Malformed::Disorder };
                return Err(wrong(start, problem));
            }
            before = this;
            let end = self.bytes.at();
            if number == last {
                let dead = self.nodes.iter().position(|node| !node.is_referenced);
                return match dead {
                    Some(node) => Err(wrong(end, Malformed::Unreferenced { node: node as u64 })),
                    None => Ok((ty, end)),
                };
            }
            self.nodes.push(Node { ty, height: self.height, is_referenced: false });
            self.unreferenced += 1;
            // Another node must still refer to each of them, which takes at least one byte.
            if self.unreferenced > self.bytes.remaining() {
                return Err(wrong(end, Malformed::Truncated));
            }
        }
    }

    fn node(&mut self) -> Result<Type, Error> {
        let at = self.bytes.at();
        match self.bytes.byte()? {
            code::BY_MPICH => {
                let at = self.bytes.at();
                let found = self.bytes.byte()?;
                let ty = self.call(at, found)?;
                // A type made of others follows their rules.
                if !ty.constructor().has_no_parts() {
                    return Err(wrong(at, Malformed::Code { found }));
                }
                ty.with_bounds_rule(BoundsRule::Mpich)
            }
            code => self.call(at, code),
        }
    }

    /// A node whose code was read.
    fn call(&mut self, at: usize, code: u8) -> Result<Type, Error> {
        match code::call(code).unwrap_or(Combiner::Named) {
            Combiner::Named => self.named(at, code),
            Combiner::Dup => Type::dup(&self.part()?),
            Combiner::Contiguous => Type::contiguous(self.bytes.unsigned()?, &self.part()?),
            Combiner::Vector => self.strided(Type::vector),
            Combiner::Hvector => self.strided(Type::hvector),
            Combiner::Indexed => self.blocks(Type::indexed),
            Combiner::Hindexed => self.blocks(Type::hindexed),
            Combiner::IndexedBlock => self.equal_blocks(Type::indexed_block),
            Combiner::HindexedBlock => self.equal_blocks(Type::hindexed_block),
            Combiner::Structure => self.structure(),
            Combiner::Subarray => self.subarray(),
            Combiner::Darray => self.darray(),
            Combiner::Resized => {
                let (lb, extent) = (self.bytes.signed()?, self.bytes.signed()?);
                Type::resized(&self.part()?, lb, extent)
            }
            Combiner::ValueIndex => self.value_index(at),
            Combiner::F90Real => Type::f90_real(self.digits()?, self.digits()?),
            Combiner::F90Complex => Type::f90_complex(self.digits()?, self.digits()?),
            Combiner::F90Integer => {
                let at = self.bytes.at();
                let range = self.digits()?.ok_or_else(|| wrong(at, Malformed::Range))?;
                Type::f90_integer(range)
            }
        }
    }

    /// A named datatype, whose code was read.
    fn named(&mut self, at: usize, code: u8) -> Result<Type, Error> {
        match code {
            code::LB_MARKER => Ok(Type::lb_marker()),
            code::UB_MARKER => Ok(Type::ub_marker()),
            code::PAIR => self.pair(),
            code => basic(at, code).map(Type::basic),
        }
    }

    /// An earlier node.
    fn part(&mut self) -> Result<Type, Error> {
        let at = self.bytes.at();
        let number = self.bytes.unsigned()?;
        let node = usize::try_from(number).ok().and_then(|number| self.nodes.get_mut(number));
        let Some(node) = node else {
            return Err(wrong(at, Malformed::Reference { node: number }));
        };
        if !node.is_referenced {
            node.is_referenced = true;
            self.unreferenced -= 1;
        }
        self.height = self.height.max(node.height + 1);
        Ok(node.ty.clone())
    }

    fn pair(&mut self) -> Result<Type, Error> {
        let at = self.bytes.at();
        let found = self.bytes.byte()?;
        let pair = Pair::ALL.get(usize::from(found));
        pair.map(|pair| Type::pair(*pair)).ok_or_else(|| wrong(at, Malformed::Code { found }))
    }

    fn value_index(&mut self, start: usize) -> Result<Type, Error> {
        let mut part = || {
            let at = self.bytes.at();
            basic(at, self.bytes.byte()?).map(Type::basic)
        };
        let (value, index) = (part()?, part()?);
        let ty = Type::value_index(&value, &index)?;
        match ty.constructor() {
            Constructor::Pair { name: None, .. } => Ok(ty),
            // The pair has a name, and `marshal` writes it by its name.
            _ => Err(wrong(start, Malformed::Overlong)),
        }
    }

    /// A precision or a range, if it is defined.
    fn digits(&mut self) -> Result<Option<u32>, Error> {
        let at = self.bytes.at();
        let Some(value) = self.bytes.unsigned()?.checked_sub(1) else { return Ok(None) };
        u32::try_from(value).map(Some).map_err(|_| wrong(at, Malformed::Range))
    }

    fn strided(
        &mut self,
        call: impl FnOnce(u64, u64, i64, &Type) -> Result<Type, Error>,
    ) -> Result<Type, Error> {
        let (count, blocklength) = (self.bytes.unsigned()?, self.bytes.unsigned()?);
        let stride = self.bytes.signed()?;
        call(count, blocklength, stride, &self.part()?)
    }

    fn blocks(
        &mut self,
        call: impl FnOnce(&[u64], &[i64], &Type) -> Result<Type, Error>,
    ) -> Result<Type, Error> {
        // A displacement takes a byte, and the lengths may be equal.
        let blocklengths = self.blocklengths(1)?;
        let displacements = self.displacements(blocklengths.len())?;
        call(&blocklengths, &displacements, &self.part()?)
    }

    fn equal_blocks(
        &mut self,
        call: impl FnOnce(u64, &[i64], &Type) -> Result<Type, Error>,
    ) -> Result<Type, Error> {
        let at = self.bytes.at();
        let (length, bit) = self.bytes.length(1)?;
        if bit {
            return Err(wrong(at, Malformed::Range));
        }
        let blocklength = self.bytes.unsigned()?;
        let displacements = self.displacements(length)?;
        call(blocklength, &displacements, &self.part()?)
    }

    fn structure(&mut self) -> Result<Type, Error> {
        // A displacement and a type take a byte each.
        let blocklengths = self.blocklengths(2)?;
        let displacements = self.displacements(blocklengths.len())?;
        let mut types = Vec::with_capacity(blocklengths.len());
        for _ in 0..blocklengths.len() {
            types.push(self.part()?);
        }
        // No node occurs twice, so types from different nodes are not equal.
        Type::structure_by(&blocklengths, &displacements, &types, same_address)
    }

    fn subarray(&mut self) -> Result<Type, Error> {
        let (ndims, order) = self.ndims()?;
        let mut argument = || self.several(ndims, Bytes::unsigned);
        let (sizes, subsizes, starts) = (argument()?, argument()?, argument()?);
        Type::subarray(&sizes, &subsizes, &starts, order, &self.part()?)
    }

    fn darray(&mut self) -> Result<Type, Error> {
        let (size, rank) = (self.bytes.unsigned()?, self.bytes.unsigned()?);
        let (ndims, order) = self.ndims()?;
        let gsizes = self.several(ndims, Bytes::unsigned)?;
        let distributions = self.several(ndims, distribution)?;
        let psizes = self.several(ndims, Bytes::unsigned)?;
        Type::darray(size, rank, &gsizes, &distributions, &psizes, order, &self.part()?)
    }

    /// The number of dimensions, each of which takes at least three bytes, and the order.
    fn ndims(&mut self) -> Result<(usize, Order), Error> {
        let (ndims, is_fortran) = self.bytes.length(3)?;
        Ok((ndims, if is_fortran { Order::Fortran } else { Order::C }))
    }

    /// The block lengths of a list; each block takes at least `each` more bytes.
    fn blocklengths(&mut self, each: usize) -> Result<Vec<u64>, Error> {
        let at = self.bytes.at();
        let (length, equal) = self.bytes.length(each)?;
        let overlong = Err(wrong(at, Malformed::Overlong));
        if equal {
            return if length > 0 { Ok(vec![self.bytes.unsigned()?; length]) } else { overlong };
        }
        let all = self.several(length, Bytes::unsigned)?;
        let written_in_vain = length > 0 && all.iter().all(|length| *length == all[0]);
        if written_in_vain { overlong } else { Ok(all) }
    }

    fn displacements(&mut self, length: usize) -> Result<Vec<i64>, Error> {
        let mut before = 0_i64;
        self.several(length, |bytes| {
            before = before.wrapping_add(bytes.signed()?);
            Ok(before)
        })
    }

    /// `length` numbers of one kind. The caller has compared `length` with the number of remaining bytes.
    fn several<T>(
        &mut self,
        length: usize,
        mut one: impl FnMut(&mut Bytes<'a>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut all = Vec::with_capacity(length);
        for _ in 0..length {
            all.push(one(&mut self.bytes)?);
        }
        Ok(all)
    }
}

fn basic(at: usize, code: u8) -> Result<Basic, Error> {
    Basic::from_code(code).ok_or_else(|| wrong(at, Malformed::Code { found: code }))
}

fn distribution(bytes: &mut Bytes<'_>) -> Result<Distribution, Error> {
    let at = bytes.at();
    Ok(match bytes.byte()? {
        code::NONE => Distribution::None,
        code::BLOCK => Distribution::Block(None),
        code::BLOCK_OF => Distribution::Block(Some(bytes.unsigned()?)),
        code::CYCLIC => Distribution::Cyclic(None),
        code::CYCLIC_OF => Distribution::Cyclic(Some(bytes.unsigned()?)),
        found => return Err(wrong(at, Malformed::Code { found })),
    })
}
