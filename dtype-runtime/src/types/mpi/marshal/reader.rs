//! Reads types from bytes, which are not trusted: the reader finds errors of form, and the constructors find errors in the
//! arguments.

use alloc::vec;
use alloc::vec::Vec;

use super::{FLAGS, MAGIC, VERSION};
use crate::basic::Basic;
use crate::error::{Error, Malformed};
use crate::types::mpi::call::{Argument, ArgumentKind, Call, Combiner, Parameter};
use crate::types::mpi::nodes::varint::{Bytes, wrong};
use crate::types::mpi::nodes::{code, same_address};
use crate::types::{BoundsRule, Constructor, Distribution, Order, Pair, Type};

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
            // The nodes are sorted, so equal ones would be neighbours. Before the first node, `before` is empty.
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
            // Each unreferenced node needs another node that refers to it, which takes at least one byte.
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
                // A type with parts follows the rules of its parts.
                if !ty.constructor().has_no_parts() {
                    return Err(wrong(at, Malformed::Code { found }));
                }
                ty.with_bounds_rule(BoundsRule::Mpich)
            }
            code => self.call(at, code),
        }
    }

    /// Reads the rest of a node made by a call; its code was just read.
    fn call(&mut self, at: usize, code: u8) -> Result<Type, Error> {
        let combiner = code::call(code).unwrap_or(Combiner::Named);
        match (combiner, combiner.signature()) {
            (Combiner::ValueIndex, _) => self.value_index(at),
            (_, None) => self.named(at, code),
            (_, Some(signature)) => {
                let arguments = self.arguments(signature.parameters)?;
                // No node occurs twice, so types from different nodes are not equal.
                Call { combiner, arguments }.make_by(same_address)
            }
        }
    }

    /// The arguments for these parameters. In the bytes, the datatypes come last.
    fn arguments(&mut self, parameters: &[Parameter]) -> Result<Vec<Argument<'a, Type>>, Error> {
        let mut arguments = Vec::with_capacity(parameters.len());
        let (mut length, mut bit, mut types) = (0, false, None);
        let has = |kind: fn(&ArgumentKind) -> bool| parameters.iter().any(|one| kind(&one.kind));
        let has_order = has(|kind| matches!(kind, ArgumentKind::Order));
        let has_counts = has(|kind| matches!(kind, ArgumentKind::Counts(_)));
        for parameter in parameters {
            arguments.push(match parameter.kind {
                ArgumentKind::Length(_) => {
                    let at = self.bytes.at();
                    (length, bit) = self.bytes.length(shortest(parameters, has_order))?;
                    match (has_order, has_counts) {
                        (false, false) if bit => return Err(wrong(at, Malformed::Range)),
                        (false, true) => {
                            arguments.push(Argument::Counts(self.counts(at, length, bit)?.into()));
                        }
                        _ => {}
                    }
                    continue;
                }
                // Distributions, which are read together with their numbers.
                ArgumentKind::Counts(_) if !has_order => continue,
                ArgumentKind::Count(_) => Argument::Count(self.bytes.unsigned()?),
                ArgumentKind::Offset(_) => Argument::Offset(self.bytes.signed()?),
                ArgumentKind::Counts(_) => {
                    Argument::Counts(self.several(length, Bytes::unsigned)?.into())
                }
                ArgumentKind::Offsets(_) => Argument::Offsets(self.offsets(length)?.into()),
                ArgumentKind::Order => Argument::Order(if bit { Order::Fortran } else { Order::C }),
                ArgumentKind::Distributions => {
                    Argument::Distributions(self.several(length, distribution)?.into())
                }
                ArgumentKind::Digits => Argument::Digits(self.digits()?),
                ArgumentKind::Range => {
                    let at = self.bytes.at();
                    let range = self.digits()?.ok_or_else(|| wrong(at, Malformed::Range))?;
                    Argument::Range(range)
                }
                ArgumentKind::Type | ArgumentKind::Types => {
                    types = Some((arguments.len(), parameter.kind));
                    continue;
                }
            });
        }
        match types {
            Some((index, ArgumentKind::Type)) => {
                arguments.insert(index, Argument::Type(self.part()?));
            }
            Some((index, _)) => {
                let parts = (0..length).map(|_| self.part()).collect::<Result<_, _>>()?;
                arguments.insert(index, Argument::Types(parts));
            }
            None => {}
        }
        Ok(arguments)
    }

    /// Reads the rest of a named datatype; its code was just read.
    fn named(&mut self, at: usize, code: u8) -> Result<Type, Error> {
        match code {
            code::LB_MARKER => Ok(Type::lb_marker()),
            code::UB_MARKER => Ok(Type::ub_marker()),
            code::PAIR => self.pair(),
            code => basic(at, code).map(Type::basic),
        }
    }

    /// Reads a reference to an earlier node.
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
            // The pair has a name, so `marshal` writes the name.
            _ => Err(wrong(start, Malformed::Overlong)),
        }
    }

    /// A precision or a range; `None` if it is undefined.
    fn digits(&mut self) -> Result<Option<u32>, Error> {
        let at = self.bytes.at();
        let Some(value) = self.bytes.unsigned()?.checked_sub(1) else { return Ok(None) };
        u32::try_from(value).map(Some).map_err(|_| wrong(at, Malformed::Range))
    }

    /// Lengths of blocks; if all are equal, the bytes have only one. Their number was read at offset `at`.
    fn counts(&mut self, at: usize, length: usize, equal: bool) -> Result<Vec<u64>, Error> {
        let overlong = Err(wrong(at, Malformed::Overlong));
        if equal {
            return if length > 0 { Ok(vec![self.bytes.unsigned()?; length]) } else { overlong };
        }
        let all = self.several(length, Bytes::unsigned)?;
        let written_in_vain = length > 0 && all.iter().all(|length| *length == all[0]);
        if written_in_vain { overlong } else { Ok(all) }
    }

    fn offsets(&mut self, length: usize) -> Result<Vec<i64>, Error> {
        let mut before = 0_i64;
        self.several(length, |bytes| {
            before = before.wrapping_add(bytes.signed()?);
            Ok(before)
        })
    }

    /// `length` numbers of one kind. The caller has checked `length` against the remaining bytes.
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

/// The least number of bytes that one more element takes in all lists together: one in each list, but none in the lengths of
/// blocks, because these may be equal.
fn shortest(parameters: &[Parameter], has_order: bool) -> usize {
    let takes_a_byte = |kind| match kind {
        ArgumentKind::Counts(_) => has_order,
        ArgumentKind::Offsets(_) | ArgumentKind::Types | ArgumentKind::Distributions => true,
        _ => false,
    };
    parameters.iter().filter(|parameter| takes_a_byte(parameter.kind)).count()
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
