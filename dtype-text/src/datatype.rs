//! The datatypes that structures have, without the members that are not data.

use std::collections::HashMap;
use std::sync::Arc;

use dtype_runtime::types::{Argument, Combiner};
use dtype_runtime::{Error, Type};

use crate::declaration::layout::{Layout, Member, structure as build};
use crate::known;
use crate::notation::{FieldNames, Parsed};
use crate::structure::{self, Array, Described, Form, Kind, Structure, What};

/// The greatest number of members that are copied from structs into those around them. In a damaged file, each struct may have
/// all members of the one before it twice.
const MAX_COPIED: usize = 1 << 22;

/// The datatype of a type, with the names of its fields and with the structure that it is.
///
/// # Errors
///
/// What a constructor refuses. `None` if the type is no data: then [`Described::noun`] says what it is.
pub fn of(described: &Described) -> Result<Option<Parsed>, Error> {
    let mut datatypes = Datatypes {
        names: FieldNames::default(),
        done: HashMap::new(),
        arrays: HashMap::new(),
        left: MAX_COPIED,
    };
    let layout = match &described.what {
        // All members of a union and of an enum stay out.
        What::Structure(one) if one.form != Form::Struct => {
            let (size, align) = (one.size.unwrap_or(0), one.align.unwrap_or(1));
            Some(build(Vec::new(), size, align, &mut datatypes.names)?)
        }
        _ => datatypes.described(described)?,
    };
    let Some(layout) = layout else { return Ok(None) };
    let mut fields = datatypes.names;
    fields.set_layout(described.structure().map(Arc::clone));
    Ok(Some(Parsed { ty: layout.ty, fields }))
}

/// Makes datatypes, one for each structure.
struct Datatypes {
    names: FieldNames,
    /// Keyed by the address of the structure, which the type that is described keeps alive.
    done: HashMap<*const Structure, Layout>,
    /// The same for arrays.
    arrays: HashMap<*const Array, Layout>,
    /// How many more members may be copied.
    left: usize,
}

impl Datatypes {
    /// `None` for a type that is no data.
    fn described(&mut self, of: &Described) -> Result<Option<Layout>, Error> {
        Ok(match &of.what {
            What::Basic(basic) => Some(Layout::basic(*basic)),
            What::Data(ty) => {
                Some(Layout::simple(ty.clone(), of.size.unwrap_or(0), of.align.unwrap_or(1)))
            }
            What::Nothing => Some(Layout::nothing()?),
            What::Structure(inner) if inner.form == Form::Struct => Some(self.structure(inner)?),
            What::Array(array) => self.array(array, of.size)?,
            What::Structure(_) | What::Open(_) | What::Other(_) => None,
        })
    }

    fn array(&mut self, array: &Arc<Array>, size: Option<u64>) -> Result<Option<Layout>, Error> {
        let key = Arc::as_ptr(array);
        if let Some(done) = self.arrays.get(&key) {
            return Ok(Some(done.clone()));
        }
        let made = self.make_array(array, size)?;
        self.arrays.extend(made.clone().map(|made| (key, made)));
        Ok(made)
    }

    fn make_array(&mut self, array: &Array, size: Option<u64>) -> Result<Option<Layout>, Error> {
        let Some(element) = self.described(&array.element)? else { return Ok(None) };
        let all = element.array(&array.lengths)?;
        // A vector of three elements takes the room of four.
        let extent = size.filter(|size| *size > all.size);
        let Some((size, extent)) = extent.and_then(|size| Some((size, i64::try_from(size).ok()?)))
        else {
            return Ok(Some(all));
        };
        let ty = Type::resized(&all.ty, 0, extent)?;
        Ok(Some(Layout { ty, size, ..all }))
    }

    /// The members that are data, in the order of their declaration.
    fn structure(&mut self, of: &Arc<Structure>) -> Result<Layout, Error> {
        let key = Arc::as_ptr(of);
        if let Some(done) = self.done.get(&key) {
            return Ok(done.clone());
        }
        let mut data = Vec::new();
        for number in &of.declared {
            let member = &of.members[*number];
            if let Some(offset) = member.offset {
                self.member(member, offset, &mut data)?;
            }
        }
        let size = of.size.unwrap_or(0);
        let layout = build(data, size, of.align.unwrap_or(1), &mut self.names)?;
        if let Some(name) = &of.name {
            self.names.add_type(&layout.ty, name);
        }
        let layout = match known::meaning(of) {
            Some(meaning) => layout.meaning(meaning, &mut self.names)?,
            None => layout,
        };
        self.done.insert(key, layout.clone());
        Ok(layout)
    }

    fn member(
        &mut self,
        member: &structure::Member,
        offset: u64,
        data: &mut Vec<Member>,
    ) -> Result<(), Error> {
        let is_empty = matches!(member.kind, Kind::Base { .. }) && member.size == Some(0);
        if is_empty || matches!(member.kind, Kind::Bits { .. } | Kind::Tag) {
            return Ok(());
        }
        let Some(layout) = self.described(&member.of)? else { return Ok(()) };
        if !member.is_inlined() {
            let is_nothing = layout.size == 0 && layout.ty.size() == 0;
            if is_nothing && member.field_name().is_none() {
                return Ok(());
            }
            let (element, length) = rows(&layout.ty);
            data.push(Member { name: member.field_name(), offset, element, length });
            return Ok(());
        }
        let Some(left) = self.left.checked_sub(layout.members.len()) else {
            // To get the constructor's own error.
            return Type::contiguous(u64::MAX, &layout.ty).map(drop);
        };
        self.left = left;
        data.extend(layout.members.iter().map(|member| Member {
            offset: member.offset.saturating_add(offset),
            ..member.clone()
        }));
        Ok(())
    }
}

/// An array as its first dimension and the type that it repeats.
fn rows(ty: &Type) -> (Type, u64) {
    let call = ty.call().filter(|call| call.combiner == Combiner::Contiguous);
    match call.as_ref().map(|call| &*call.arguments) {
        Some([Argument::Count(length), Argument::Type(row)]) => (Type::clone(row), *length),
        _ => (ty.clone(), 1),
    }
}
