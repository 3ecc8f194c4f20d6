//! Where the records of a file are, and what their values are.

use std::collections::HashMap;
use std::sync::Arc;

use dtype_runtime::convertor::Conversion;
use dtype_runtime::{Buffer, Committed, Error, Representation, Type};

use crate::failure::Failure;
use crate::shape::{Kind, Shape};
use dtype_text::notation::{Block, FieldNames, Parsed};

/// The places of an input's records: one every `stride` bytes.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// Displacement 0 of the first record.
    origin: i128,
    stride: i128,
    /// The data of a record, as displacements.
    data: (i128, i128),
    /// The bytes of a record as displacements, including the padding at its ends.
    whole: (i128, i128),
}

/// The place of one record, in bytes from the start of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Displacement 0 of the record.
    pub(crate) base: i128,
    /// From the first byte of data to the end of the last.
    pub(crate) data: (u64, u64),
    /// The same with the padding at both ends, as far as the input can contain it.
    pub(crate) whole: (u64, u64),
}

impl Places {
    /// Records in memory, one every extent.
    pub(crate) fn in_memory(ty: &Type, origin: u64) -> Result<Self, Failure> {
        require_data(ty)?;
        let (given, origin) = (origin, i128::from(origin));
        let stride = i128::from(ty.extent());
        let data = (i128::from(ty.true_lb()), i128::from(ty.true_ub()));
        if stride <= 0 {
            return Err(Failure::Usage(format!(
                "records need a positive extent, found {stride}; `resized(type, lb, extent)` sets it"
            )));
        }
        let start = origin + data.0;
        if start < 0 {
            return Err(Failure::before_start("dump", start, given));
        }
        let whole = (data.0.min(ty.lb().into()), data.1.max(ty.ub().into()));
        // If neighbours interleave, the bytes between the data belong to other records.
        let whole = if whole.1 - whole.0 <= stride { whole } else { data };
        Ok(Self { origin, stride, data, whole })
    }

    /// Packed records, one after another.
    pub(crate) fn packed(ty: &Type, record: u64) -> Result<Self, Failure> {
        require_data(ty)?;
        let (stride, all) = (i128::from(record), (0, i128::from(record)));
        Ok(Self { origin: 0, stride, data: all, whole: all })
    }

    /// The place of a record; `None` if it is beyond 64 bits, and therefore beyond any input.
    pub(crate) fn of(&self, record: u64) -> Option<Place> {
        let base = self.origin + i128::from(record) * self.stride;
        let at = |(start, end): (i128, i128)| {
            let start = u64::try_from((base + start).max(0)).ok()?;
            Some((start, u64::try_from(base + end).ok()?))
        };
        Some(Place { base, data: at(self.data)?, whole: at(self.whole)? })
    }

    /// The number of bytes at the end of an input of `len` bytes that belong to none of its `records` records.
    pub(crate) fn remaining(&self, records: u64, len: u64) -> u64 {
        let next = self.origin + i128::from(records) * self.stride;
        let used = match records {
            0 => next,
            _ => next.max(next - self.stride + self.data.1),
        };
        u64::try_from(i128::from(len) - used).unwrap_or(0)
    }

    /// How many bytes after an offset an input must have to contain a record.
    pub(crate) fn needed(&self, record: u64, offset: u64) -> u64 {
        let end = self.origin + i128::from(record) * self.stride + self.data.1;
        u64::try_from(end - i128::from(offset)).unwrap_or(u64::MAX)
    }

    /// Displacement 0 of the first record.
    pub(crate) fn origin(&self) -> i128 {
        self.origin
    }

    /// The displacements of a whole record.
    pub(crate) fn whole(&self) -> (i128, i128) {
        self.whole
    }
}

fn require_data(ty: &Type) -> Result<(), Failure> {
    if ty.size() > 0 {
        return Ok(());
    }
    Err(Failure::Usage("the type has no data, so there are no records to read".into()))
}

/// Reads the values of records: native bytes, in the order of the type map.
#[derive(Debug)]
pub(crate) struct Values {
    /// For records in memory: from memory to packed bytes.
    memory: Option<Committed>,
    /// From packed bytes in another representation to native ones.
    foreign: Option<Conversion>,
    packed: Vec<u8>,
    native: Vec<u8>,
}

impl Values {
    /// The values of records in memory; `order` is the byte order of that memory.
    pub(crate) fn in_memory(
        ty: &Type,
        shape: &Shape,
        order: Representation,
    ) -> Result<Self, Failure> {
        if order == Representation::External32 {
            return Err(Failure::Usage(
                "external32 is a representation of packed bytes: give `--packed` as well".into(),
            ));
        }
        Ok(Self { memory: Some(ty.commit()), ..Self::packed(shape, order)? })
    }

    /// The values of packed records.
    pub(crate) fn packed(shape: &Shape, representation: Representation) -> Result<Self, Failure> {
        let refused = |error| Failure::refused("dump", error);
        let foreign = match representation {
            Representation::Native => None,
            other => {
                let mut packed = Packed::default();
                let flat = packed.of(shape).map_err(refused)?;
                Some(flat.commit().conversion(other).map_err(refused)?)
            }
        };
        Ok(Self { memory: None, foreign, packed: Vec::new(), native: Vec::new() })
    }

    /// The values of a record, whose displacement 0 is at `origin` in `bytes`.
    pub(crate) fn of<'a>(
        &'a mut self,
        ty: &Type,
        bytes: &'a [u8],
        origin: i64,
    ) -> Result<&'a [u8], Error> {
        let size = usize::try_from(ty.size());
        let size = size.map_err(|_| Error::CountTooLarge { count: 1, size: ty.size() })?;
        let mut packed = bytes;
        if let Some(memory) = &self.memory {
            let out = room(&mut self.packed, size)?;
            memory.pack(Buffer::new(bytes).origin(origin), 1, out)?;
            packed = out;
        }
        let Some(foreign) = &self.foreign else { return Ok(packed) };
        let out = room(&mut self.native, size)?;
        foreign.unpack(packed, &mut *out, 1)?;
        Ok(out)
    }
}

/// The type whose memory is the packed bytes of another one.
pub(crate) fn packed(parsed: &Parsed) -> Result<Parsed, Failure> {
    let (mut packed, shape) = (Packed::default(), Shape::of(parsed));
    let ty = packed.of(&shape).map_err(|error| Failure::refused("pack", error))?;
    packed.names.restrict_whole(shape.restriction().cloned());
    Ok(Parsed { ty, fields: packed.names })
}

/// Makes types whose memory is the packed bytes of a shape: the same values without gaps.
#[derive(Default)]
struct Packed {
    /// Shared parts are made once. Keyed by their addresses.
    known: HashMap<usize, Type>,
    names: FieldNames,
}

impl Packed {
    fn of(&mut self, shape: &Shape) -> Result<Type, Error> {
        let key = std::ptr::from_ref(shape).addr();
        if let Some(ty) = self.known.get(&key) {
            return Ok(ty.clone());
        }
        let ty = match &shape.kind {
            Kind::Nothing => Type::structure(&[], &[], &[])?,
            Kind::Value(basic, _) => Type::basic(*basic),
            Kind::Meant(meaning, fields) => {
                let ty = self.of(fields)?;
                self.names.add_meaning(&ty, *meaning);
                ty
            }
            Kind::Repeated(count, inner) => Type::contiguous(*count, &self.of(inner)?)?,
            Kind::Structure(members, name) => {
                let (mut end, mut blocks) = (0, Vec::with_capacity(members.len()));
                let mut restrictions = Vec::new();
                for (number, member) in members.iter().enumerate() {
                    if let Some(values) = member.shape.restriction() {
                        restrictions.push((number, Arc::clone(values)));
                    }
                    let (length, element) = match &member.shape.kind {
                        Kind::Repeated(count, element) => (*count, &**element),
                        _ => (1, &*member.shape),
                    };
                    let (name, ty) = (Some(member.name.clone()), self.of(element)?);
                    let displacement = end;
                    // The sum is at most the size of the type, so it fits.
                    end += ty.extent() * length.cast_signed();
                    blocks.push(Block { name, length, displacement, ty });
                }
                let ty = self.names.structure(blocks)?;
                for (number, values) in restrictions {
                    self.names.restrict(&ty, number, values);
                }
                // Without the padding at the end.
                let ty = if ty.extent() == end { ty } else { Type::resized(&ty, 0, end)? };
                if let Some(name) = name {
                    self.names.add_type(&ty, name);
                }
                ty
            }
        };
        self.known.insert(key, ty.clone());
        Ok(ty)
    }
}

/// A buffer of `size` bytes with unspecified contents.
fn room(buffer: &mut Vec<u8>, size: usize) -> Result<&mut [u8], Error> {
    let more = size.saturating_sub(buffer.len());
    buffer.try_reserve_exact(more).map_err(|_| Error::Allocation { count: 1, stride: size })?;
    buffer.resize(size, 0);
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dtype_runtime::Basic;
    use dtype_text::notation::parse;

    #[test]
    fn records_and_their_padding() {
        let ty = parse("struct{f64, u8}").unwrap().ty;
        let places = Places::in_memory(&ty, 4).unwrap();
        assert_eq!(places.of(2), Some(Place { base: 36, data: (36, 45), whole: (36, 52) }));
        assert_eq!(places.of(u64::MAX), None);
        // The padding of the last record may be missing.
        for (len, remaining) in [(0, 0), (36, 0), (29, 0), (37, 1), (40, 4)] {
            assert_eq!(places.remaining(2, len), remaining, "{len}");
        }
        assert_eq!((places.remaining(0, 3), places.remaining(0, 6)), (0, 2));
        assert_eq!((places.needed(0, 0), places.needed(2, 36)), (13, 9));
        let ahead = parse("struct{u8@-2, u8@5}").unwrap().ty;
        assert!(Places::in_memory(&ahead, 1).is_err());
        assert_eq!(Places::in_memory(&ahead, 2).unwrap().of(0).unwrap().data, (0, 8));
    }

    #[test]
    fn values_in_every_representation() {
        let parsed = parse("struct{u8@9, [struct{u16@2, u32@4}; 2]@12, MPI_LONG@0}").unwrap();
        let (ty, committed, shape) = (&parsed.ty, parsed.ty.commit(), Shape::of(&parsed));
        let memory: Vec<u8> = (0..100).map(|i| i & 0x3F).collect();
        let mut native = vec![0; usize::try_from(ty.size()).unwrap()];
        // The bytes that external32 has no room for are zero.
        let mut memory = memory;
        if Basic::Long.size() == 8 {
            memory[if cfg!(target_endian = "little") { 4..8 } else { 0..4 }].fill(0);
        }
        committed.pack(&memory[..], 1, &mut native).unwrap();
        let mut here = Values::in_memory(ty, &shape, Representation::Native).unwrap();
        assert_eq!(here.of(ty, &memory, 0).unwrap(), native);
        for representation in [
            Representation::Native,
            Representation::External32,
            Representation::BigEndian,
            Representation::LittleEndian,
        ] {
            let conversion = committed.conversion(representation).unwrap();
            let packed = conversion.pack_to_vec(&memory[..], 1).unwrap();
            let mut values = Values::packed(&shape, representation).unwrap();
            assert_eq!(values.of(ty, &packed, 0).unwrap(), native, "{representation:?}");
        }
        assert!(Values::in_memory(ty, &shape, Representation::External32).is_err());
    }
}
