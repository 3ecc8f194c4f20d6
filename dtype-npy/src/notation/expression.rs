//! Writes a dtype as an expression of Python, from the innermost part on.

use std::collections::BTreeSet;

use super::{MAX_NAMES, NumpyError};
use crate::repr::Quoted;
use dtype_runtime::__private::{AT_ONCE, Names, Parts, Repetition, Source};
use dtype_runtime::Basic;
use dtype_runtime::Type;
use dtype_runtime::representation::ByteOrder;

/// Writes expressions.
pub(super) struct Writer<'a> {
    pub(super) order: ByteOrder,
    /// The number of names so far.
    pub(super) names: usize,
    /// The name of a structure's member, if it has one.
    pub(super) name: &'a dyn Fn(&Type, usize) -> Option<String>,
}

/// A NumPy structure.
#[derive(Default)]
struct Fields {
    names: Vec<String>,
    formats: Vec<String>,
    /// In bytes, none of them negative.
    offsets: Vec<i128>,
    /// The names of members, as the caller chose them, and of their instances.
    taken: BTreeSet<String>,
}

impl Fields {
    /// The name, with a number if another has it.
    fn unique(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }

    fn finish(self, itemsize: i128) -> String {
        let list = |items: Vec<String>| items.join(", ");
        let names = self.names.iter().map(|name| Quoted(name).to_string()).collect();
        let offsets = self.offsets.iter().map(ToString::to_string).collect();
        format!(
            "{{'names': [{}], 'formats': [{}], 'offsets': [{}], 'itemsize': {itemsize}}}",
            list(names),
            list(self.formats),
            list(offsets)
        )
    }
}

/// This number of consecutive items. One instance of a [`Type`] has no axis; Rust's arrays have all of theirs.
fn subarray(of: Source<'_>, format: String, count: u64) -> String {
    if count == 1 && matches!(of, Source::Type(_)) {
        return format;
    }
    // NumPy keeps an array of arrays apart from an array with the axes of both.
    match format.strip_prefix('(').and_then(|format| format.rsplit_once(", (")) {
        Some((element, axes)) => {
            let axes = axes.trim_end_matches([',', ')']);
            format!("({element}, ({count}, {axes}))")
        }
        None => format!("({format}, ({count},))"),
    }
}

impl Writer<'_> {
    fn leaf(&self, basic: Basic) -> String {
        let (kind, size) = (basic.numpy_kind(), basic.size());
        let number = match kind {
            'b' => return "'?'".to_string(),
            'S' | 'V' => return format!("'{kind}{size}'"),
            'U' => 1,
            _ => size,
        };
        let order = match (self.order, size) {
            (_, 1) => "",
            (ByteOrder::Little, _) => "<",
            (ByteOrder::Big, _) => ">",
        };
        format!("'{order}{kind}{number}'")
    }

    fn name(&mut self) -> Result<(), NumpyError> {
        self.names += 1;
        if self.names > MAX_NAMES {
            return Err(NumpyError::TooManyFields { limit: MAX_NAMES });
        }
        Ok(())
    }

    /// The name of a structure's member, different from those before.
    fn member(&self, fields: &mut Fields, source: Source<'_>, names: Names, i: usize) -> String {
        let own = match source {
            Source::Type(ty) => (self.name)(ty, i).filter(|name| !name.is_empty()),
            Source::Map(_) => None,
        };
        fields.unique(&own.unwrap_or_else(|| names.of_field(i)))
    }

    /// Packed bytes: everything is consecutive.
    pub(super) fn packed(&mut self, source: Source<'_>) -> Result<String, NumpyError> {
        match source.parts() {
            _ if source.size() == 0 => Ok(Fields::default().finish(0)),
            Parts::Nothing => Ok(Fields::default().finish(0)),
            Parts::Leaf(basic) => Ok(self.leaf(basic)),
            Parts::Same(inner) => self.packed(inner),
            Parts::Array { old, .. } => self.repeated(Source::Type(old), source.size()),
            Parts::Grid { of, .. } => self.repeated(of, source.size()),
            Parts::List(list) => self.repeated(Source::Type(list.old), source.size()),
            Parts::Members(members, names) => {
                let (mut fields, mut at) = (Fields::default(), 0);
                for (i, member) in members.iter().enumerate() {
                    let of = Source::Type(&member.ty);
                    let size = of.size() * member.blocklength;
                    if size > 0 {
                        self.name()?;
                        let name = self.member(&mut fields, source, names, i);
                        fields.names.push(name);
                        fields.formats.push(self.repeated(of, size)?);
                        fields.offsets.push(at);
                        at += i128::from(size);
                    }
                }
                Ok(fields.finish(at))
            }
            Parts::Fields(all) => {
                let (mut fields, mut at) = (Fields::default(), 0);
                for field in all {
                    if let Some(map) = field.map()
                        && map.size() > 0
                    {
                        self.name()?;
                        fields.names.push(field.name().to_string());
                        fields.formats.push(self.packed(Source::Map(map))?);
                        fields.offsets.push(at);
                        at += map.size() as i128;
                    }
                }
                Ok(fields.finish(at))
            }
        }
    }

    /// The instances of a part that have this number of packed bytes.
    fn repeated(&mut self, of: Source<'_>, size: u64) -> Result<String, NumpyError> {
        let one = self.packed(of)?;
        Ok(subarray(of, one, size.checked_div(of.size()).unwrap_or(0)))
    }

    /// An instance in memory as an item of this number of bytes, the first of which is at displacement `origin`.
    pub(super) fn memory(
        &mut self,
        source: Source<'_>,
        origin: i128,
        itemsize: i128,
    ) -> Result<String, NumpyError> {
        let mut fields = Fields::default();
        if source.size() == 0 {
            return Ok(fields.finish(itemsize));
        }
        match source.parts() {
            Parts::Nothing => Ok(fields.finish(itemsize)),
            Parts::Leaf(basic) => {
                let format = self.leaf(basic);
                if origin == 0 && itemsize == basic.size() as i128 {
                    return Ok(format);
                }
                self.add(&mut fields, "f0", format, -origin)?;
                Ok(fields.finish(itemsize))
            }
            Parts::Same(inner) => self.memory(inner, origin, itemsize),
            Parts::Array { built, .. } => self.memory(Source::Type(built), origin, itemsize),
            Parts::Grid { blocks, block, of } => {
                // One subarray, if that is enough.
                let touching = blocks.count == 1
                    || i128::from(blocks.stride)
                        == i128::from(block.stride) * i128::from(block.count);
                let count = blocks.count.saturating_mul(block.count);
                let is_all = touching
                    && origin == 0
                    && i128::from(count) * i128::from(block.stride) == itemsize;
                let all = Repetition { count, ..block };
                if is_all && let Some(format) = self.array(of, all, itemsize)? {
                    return Ok(format);
                }
                for k in 0..blocks.count {
                    let at = i128::from(blocks.stride) * i128::from(k) - origin;
                    self.block(&mut fields, &format!("b{k}"), of, block, at, itemsize)?;
                }
                Ok(fields.finish(itemsize))
            }
            Parts::List(list) => {
                let of = Source::Type(list.old);
                let stride = of.extent();
                for from in (0..list.len()).step_by(AT_ONCE) {
                    for (i, (count, place)) in list.read(from).enumerate() {
                        let block = Repetition { count, stride };
                        let name = format!("b{}", from + i);
                        self.block(&mut fields, &name, of, block, place - origin, itemsize)?;
                    }
                }
                Ok(fields.finish(itemsize))
            }
            Parts::Members(members, names) => {
                for (i, member) in members.iter().enumerate() {
                    let of = Source::Type(&member.ty);
                    let block = Repetition { count: member.blocklength, stride: of.extent() };
                    let at = i128::from(member.displacement) - origin;
                    let name = self.member(&mut fields, source, names, i);
                    self.block(&mut fields, &name, of, block, at, itemsize)?;
                }
                Ok(fields.finish(itemsize))
            }
            Parts::Fields(all) => {
                for field in all {
                    if let Some(map) = field.map()
                        && map.size() > 0
                    {
                        let format = self.memory(Source::Map(map), 0, map.stride() as i128)?;
                        self.add(
                            &mut fields,
                            field.name(),
                            format,
                            field.offset() as i128 - origin,
                        )?;
                    }
                }
                Ok(fields.finish(itemsize))
            }
        }
    }

    fn add(
        &mut self,
        fields: &mut Fields,
        name: &str,
        format: String,
        offset: i128,
    ) -> Result<(), NumpyError> {
        self.name()?;
        fields.names.push(name.to_string());
        fields.formats.push(format);
        fields.offsets.push(offset);
        Ok(())
    }

    /// Instances of a part; the first has its origin at offset `at` of an item of this number of bytes.
    fn block(
        &mut self,
        fields: &mut Fields,
        name: &str,
        of: Source<'_>,
        block: Repetition,
        at: i128,
        itemsize: i128,
    ) -> Result<(), NumpyError> {
        if block.count == 0 || of.size() == 0 {
            return Ok(());
        }
        let (from, to) = of.span();
        if block.count > 1 && at >= 0 {
            // The gap after the last instance needs room as well.
            if let Some(format) = self.array(of, block, itemsize - at)? {
                return self.add(fields, name, format, at);
            }
        }
        for k in 0..block.count {
            let at = at + i128::from(block.stride) * i128::from(k);
            let name = match block.count {
                1 => name.to_string(),
                _ => fields.unique(&format!("{name}_{k}")),
            };
            // As much of an instance's extent as there is room for, from its first byte of data or its origin.
            let origin = if at < 0 { from } else { from.min(0) };
            let room = itemsize - (at + origin);
            let extent = i128::from(of.extent()).max(to) - origin;
            let format = self.memory(of, origin, extent.min(room).max(to - origin))?;
            self.add(fields, &name, format, at + origin)?;
        }
        Ok(())
    }

    /// Several instances as a subarray, if their stride is large enough and they have room.
    fn array(
        &mut self,
        of: Source<'_>,
        Repetition { count, stride }: Repetition,
        room: i128,
    ) -> Result<Option<String>, NumpyError> {
        let (from, to) = of.span();
        let stride = i128::from(stride);
        if from < 0 || stride < to || stride <= 0 || stride * i128::from(count) > room {
            return Ok(None);
        }
        let one = self.memory(of, 0, stride)?;
        Ok(Some(subarray(of, one, count)))
    }
}
