//! The dtype of a layout, from the innermost part on.

use std::collections::BTreeSet;

use super::{MAX_NAMES, NumpyError};
use crate::dtype::{Dtype, DtypeField, Kind};
use crate::options::NumpyOptions;
use dtype_runtime::Type;
use dtype_runtime::outline::{Names, Outline, Parts, Repetition};
use dtype_runtime::typemap::TypeMap;

/// Makes dtypes.
pub(super) struct Builder<'a> {
    pub(super) options: NumpyOptions,
    /// The number of names so far.
    pub(super) names: usize,
    /// The name of a structure's member; `None` for the default.
    pub(super) name: &'a dyn Fn(&Type, usize) -> Option<String>,
    /// The dtype of a type, if not that of its parts.
    pub(super) own: &'a dyn Fn(&Type) -> Option<Dtype>,
}

/// The fields of a structure.
#[derive(Default)]
struct Fields {
    all: Vec<DtypeField>,
    /// The names in use: of members, as the caller chose them, and of their instances.
    taken: BTreeSet<String>,
}

impl Fields {
    /// The name, with a number appended if another field has it.
    fn unique(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }

    fn finish(self, itemsize: i128) -> Result<Dtype, NumpyError> {
        let itemsize = u64::try_from(itemsize).map_err(|_| NumpyError::TooLarge)?;
        Dtype::structure(self.all, itemsize).ok_or(NumpyError::TooLarge)
    }
}

/// `count` consecutive items. One instance of a [`Type`] gets no axis; Rust's arrays keep all of theirs.
fn subarray(of: Outline<'_>, one: Dtype, count: u64) -> Result<Dtype, NumpyError> {
    if count == 1 && matches!(of, Outline::Type(_)) {
        return Ok(one);
    }
    Dtype::array(&[count], one).ok_or(NumpyError::TooLarge)
}

/// The number of names in a dtype.
fn names(dtype: &Dtype) -> usize {
    match dtype.axes().1.kind() {
        Kind::Structure { fields } => fields.iter().map(|field| 1 + names(&field.dtype)).sum(),
        _ => 0,
    }
}

impl Builder<'_> {
    /// The dtype of a Rust type.
    fn map(&mut self, map: &TypeMap) -> Result<Dtype, NumpyError> {
        let dtype = Dtype::of_map(map, self.options);
        self.count(names(&dtype))?;
        Ok(dtype)
    }

    /// The dtype that the caller has for an outline, if it has this number of bytes.
    fn own(&self, outline: Outline<'_>, size: i128) -> Option<Dtype> {
        match outline {
            Outline::Type(ty) => (self.own)(ty).filter(|own| i128::from(own.itemsize()) == size),
            Outline::Map(_) => None,
        }
    }

    fn count(&mut self, names: usize) -> Result<(), NumpyError> {
        self.names += names;
        if self.names > MAX_NAMES {
            return Err(NumpyError::TooManyFields { limit: MAX_NAMES });
        }
        Ok(())
    }

    /// The name of a structure's member. It differs from earlier names.
    fn member(&self, fields: &mut Fields, outline: Outline<'_>, names: Names, i: usize) -> String {
        let own = match outline {
            Outline::Type(ty) => (self.name)(ty, i).filter(|name| !name.is_empty()),
            Outline::Map(_) => None,
        };
        fields.unique(&own.unwrap_or_else(|| names.identifier(i)))
    }

    /// The dtype for packed bytes, in which everything is consecutive.
    pub(super) fn packed(&mut self, outline: Outline<'_>) -> Result<Dtype, NumpyError> {
        if let Some(own) = self.own(outline, outline.size().into()) {
            return Ok(own);
        }
        match (outline, outline.parts()) {
            _ if outline.size() == 0 => Fields::default().finish(0),
            (Outline::Map(map), _) => self.map(map),
            // Only a map has fields.
            (_, Parts::Nothing | Parts::Fields(_)) => Fields::default().finish(0),
            (_, Parts::Leaf(basic)) => Ok(Dtype::of_basic(basic, self.options.order)),
            (_, Parts::Same(inner)) => self.packed(inner),
            (_, Parts::Array { old, .. }) => self.repeated(Outline::Type(old), outline.size()),
            (_, Parts::Grid { of, .. }) => self.repeated(of, outline.size()),
            (_, Parts::List(list)) => self.repeated(Outline::Type(list.old), outline.size()),
            (_, Parts::Members(members, names)) => {
                let (mut fields, mut at) = (Fields::default(), 0);
                for (i, member) in members.iter().enumerate() {
                    let of = Outline::Type(&member.ty);
                    let size = of.size() * member.blocklength;
                    if size > 0 {
                        let name = self.member(&mut fields, outline, names, i);
                        let dtype = self.repeated(of, size)?;
                        let size = dtype.itemsize();
                        self.add(&mut fields, &name, dtype, at)?;
                        at += i128::from(size);
                    }
                }
                fields.finish(at)
            }
        }
    }

    /// The instances of a part that together have `size` packed bytes.
    fn repeated(&mut self, of: Outline<'_>, size: u64) -> Result<Dtype, NumpyError> {
        let one = self.packed(of)?;
        subarray(of, one, size.checked_div(of.size()).unwrap_or(0))
    }

    /// An instance in memory as an item of `itemsize` bytes. The first byte of the item is at displacement `origin`.
    pub(super) fn memory(
        &mut self,
        outline: Outline<'_>,
        origin: i128,
        itemsize: i128,
    ) -> Result<Dtype, NumpyError> {
        let mut fields = Fields::default();
        if outline.size() == 0 {
            return fields.finish(itemsize);
        }
        if let Some(own) = self.own(outline, itemsize).filter(|_| origin == 0) {
            return Ok(own);
        }
        match (outline, outline.parts()) {
            (Outline::Map(map), _) if origin == 0 && itemsize == map.stride() as i128 => {
                return self.map(map);
            }
            (_, Parts::Nothing) => {}
            (_, Parts::Leaf(basic)) => {
                let leaf = Dtype::of_basic(basic, self.options.order);
                if origin == 0 && itemsize == basic.size() as i128 {
                    return Ok(leaf);
                }
                self.add(&mut fields, "f0", leaf, -origin)?;
            }
            (_, Parts::Same(inner)) => return self.memory(inner, origin, itemsize),
            (_, Parts::Array { built, .. }) => {
                return self.memory(Outline::Type(built), origin, itemsize);
            }
            (_, Parts::Grid { blocks, block, of }) => {
                // A single subarray, if that is enough.
                let touching = blocks.count == 1
                    || i128::from(blocks.stride)
                        == i128::from(block.stride) * i128::from(block.count);
                let count = blocks.count.saturating_mul(block.count);
                let is_all = touching
                    && origin == 0
                    && i128::from(count) * i128::from(block.stride) == itemsize;
                let all = Repetition { count, ..block };
                if is_all && let Some(all) = self.array(of, all, itemsize)? {
                    return Ok(all);
                }
                for k in 0..blocks.count {
                    let at = i128::from(blocks.stride) * i128::from(k) - origin;
                    self.block(&mut fields, &format!("b{k}"), of, block, at, itemsize)?;
                }
            }
            (_, Parts::List(list)) => {
                let of = Outline::Type(list.old);
                let stride = of.extent();
                for (i, (count, place)) in list.blocks().enumerate() {
                    let block = Repetition { count, stride };
                    let name = format!("b{i}");
                    self.block(&mut fields, &name, of, block, place - origin, itemsize)?;
                }
            }
            (_, Parts::Members(members, names)) => {
                for (i, member) in members.iter().enumerate() {
                    let of = Outline::Type(&member.ty);
                    let block = Repetition { count: member.blocklength, stride: of.extent() };
                    let at = i128::from(member.displacement) - origin;
                    let name = self.member(&mut fields, outline, names, i);
                    self.block(&mut fields, &name, of, block, at, itemsize)?;
                }
            }
            (_, Parts::Fields(all)) => {
                for field in all {
                    if let Some(map) = field.map()
                        && map.size() > 0
                    {
                        let (dtype, at) = (self.map(map)?, field.offset() as i128 - origin);
                        self.add(&mut fields, field.name(), dtype, at)?;
                    }
                }
            }
        }
        fields.finish(itemsize)
    }

    fn add(
        &mut self,
        fields: &mut Fields,
        name: &str,
        dtype: Dtype,
        offset: i128,
    ) -> Result<(), NumpyError> {
        self.count(1)?;
        let offset = u64::try_from(offset).map_err(|_| NumpyError::TooLarge)?;
        fields.all.push(DtypeField { name: name.to_string(), offset, dtype });
        Ok(())
    }

    /// Instances of a part in an item of `itemsize` bytes. The first instance has its origin at offset `at`.
    fn block(
        &mut self,
        fields: &mut Fields,
        name: &str,
        of: Outline<'_>,
        block: Repetition,
        at: i128,
        itemsize: i128,
    ) -> Result<(), NumpyError> {
        if block.count == 0 || of.size() == 0 {
            return Ok(());
        }
        let (from, to) = of.span();
        if block.count > 1 && at >= 0 {
            // The gap after the last instance also needs room.
            if let Some(all) = self.array(of, block, itemsize - at)? {
                return self.add(fields, name, all, at);
            }
        }
        for k in 0..block.count {
            let at = at + i128::from(block.stride) * i128::from(k);
            let name = match block.count {
                1 => name.to_string(),
                _ => fields.unique(&format!("{name}_{k}")),
            };
            // As much of an instance's extent as there is room for, from its first byte of data or from its origin.
            let origin = if at < 0 { from } else { from.min(0) };
            let room = itemsize - (at + origin);
            let extent = i128::from(of.extent()).max(to) - origin;
            let one = self.memory(of, origin, extent.min(room).max(to - origin))?;
            self.add(fields, &name, one, at + origin)?;
        }
        Ok(())
    }

    /// Several instances as a subarray, if their stride is large enough and the item has room for them.
    fn array(
        &mut self,
        of: Outline<'_>,
        Repetition { count, stride }: Repetition,
        room: i128,
    ) -> Result<Option<Dtype>, NumpyError> {
        let (from, to) = of.span();
        let stride = i128::from(stride);
        if from < 0 || stride < to || stride <= 0 || stride * i128::from(count) > room {
            return Ok(None);
        }
        let one = self.memory(of, 0, stride)?;
        subarray(of, one, count).map(Some)
    }
}
