//! The structs that a type consists of.

use std::collections::{HashMap, HashSet};

use dtype_runtime::basic::Kind;
use dtype_runtime::outline::{Names, Outline, Parts, Repetition};
use dtype_runtime::types::{Combiner, Entry, Member};
use dtype_runtime::{Basic, Type};

use super::ExportError;
use super::identifier::{self, Scope};
use crate::notation::{Block, FieldNames, Parsed, Restriction, Values};

/// The maximum number of fields in all structs together.
const MAX_FIELDS: usize = 4096;

/// The names that a language gives its types.
pub(super) struct Target {
    pub(super) name: &'static str,
    /// The type for a basic datatype, if there is one.
    pub(super) basic: fn(Basic) -> Option<&'static str>,
    /// Whether a word cannot be a name.
    pub(super) is_reserved: fn(&str) -> bool,
    /// Whether a word cannot be a name even with an escape.
    pub(super) is_taken: fn(&str) -> bool,
}

/// The values of an enum.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Enumeration {
    pub(super) name: String,
    /// Names that the language accepts, and values.
    pub(super) variants: Vec<(String, i128)>,
}

/// What is written for some types.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    /// The structs, each after those that it contains.
    pub(super) structs: Vec<Definition>,
    pub(super) enums: Vec<Enumeration>,
}

/// A struct.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: String,
    /// The name before it was made different from those of other structs.
    wanted: String,
    /// In the order of their addresses, with the gaps that the compiler would not leave.
    pub(super) fields: Vec<Field>,
    pub(super) size: u64,
    align: u64,
    pub(super) is_packed: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    /// The name in the type, if the language does not allow it.
    pub(super) rename: Option<String>,
    /// The name of its type, or of its elements' type.
    pub(super) ty: String,
    pub(super) is_struct: bool,
    /// The lengths of an array, the outermost first.
    pub(super) lengths: Vec<u64>,
    pub(super) offset: u64,
    pub(super) is_gap: bool,
}

/// The type of a field.
#[derive(Clone, Debug)]
struct Shape {
    element: Element,
    lengths: Vec<u64>,
    /// In bytes, of the whole array.
    size: u64,
    align: u64,
}

impl Shape {
    /// An array of this many of these.
    fn array(mut self, length: u64) -> Self {
        self.lengths.insert(0, length);
        Self { size: self.size.saturating_mul(length), ..self }
    }
}

#[derive(Clone, Copy, Debug)]
enum Element {
    Basic(Basic),
    /// An index into the definitions.
    Struct(usize),
}

/// A block with the type of its field.
struct Placed {
    own: Option<String>,
    /// The name to use if the block has no name of its own.
    numbered: String,
    offset: u64,
    shape: Shape,
}

/// The structs for a type; the last one is the type itself.
pub(super) fn definitions(parsed: &Parsed, target: &Target) -> Result<Declarations, ExportError> {
    let build = |is_flat| declarations(&[("Record", parsed)], target, false, is_flat);
    match build(false) {
        // A part may have bounds that no struct can have, even if the whole does not.
        Err(ExportError::Bounds { .. }) => build(true),
        result => result,
    }
}

/// The structs for types, each with the name to use if it has no name of its own. `is_packed`: none of them is aligned.
/// `is_flat`: they have a field for each run of values.
pub(super) fn declarations(
    all: &[(&str, &Parsed)],
    target: &Target,
    is_packed: bool,
    is_flat: bool,
) -> Result<Declarations, ExportError> {
    let own = |(name, parsed): &(&str, &Parsed)| {
        parsed.fields.type_name(&parsed.ty).map_or((*name).to_owned(), identifier::declared)
    };
    let nothing = FieldNames::default();
    let mut builder = Builder {
        names: &nothing,
        target,
        is_packed,
        declarations: Declarations::default(),
        known: HashMap::new(),
        scope: Scope::default(),
        constants: Scope::default(),
        reserved: all.iter().map(own).collect(),
        left: MAX_FIELDS,
    };
    for (name, Parsed { ty, fields }) in all {
        check_bounds(ty)?;
        if ty.extent() == 0 {
            return Err(ExportError::Empty);
        }
        builder.names = fields;
        // The types of the next one can have the addresses of these.
        builder.known.clear();
        builder.root(ty, name, is_flat)?;
    }
    Ok(builder.declarations)
}

/// Whether an instance is within one extent from displacement 0.
fn check_bounds(ty: &Type) -> Result<(), ExportError> {
    let (lb, extent) = (ty.lb(), ty.extent());
    let (true_lb, true_ub) = if ty.size() > 0 { (ty.true_lb(), ty.true_ub()) } else { (0, 0) };
    if lb != 0 || extent < 0 || true_lb < 0 || true_ub > extent {
        return Err(ExportError::Bounds { lb, extent, true_lb, true_ub });
    }
    Ok(())
}

/// A block without a name.
fn block(length: u64, at: i128, ty: Type) -> Block {
    // All data of a type are at displacements of 64 bits.
    Block { name: None, length, displacement: i64::try_from(at).unwrap_or(i64::MAX), ty }
}

struct Builder<'a> {
    names: &'a FieldNames,
    target: &'a Target,
    /// Whether all structs are packed.
    is_packed: bool,
    declarations: Declarations,
    /// Keyed by the address of the type.
    known: HashMap<usize, Shape>,
    /// The names of the structs.
    scope: Scope,
    /// The names of the constants.
    constants: Scope,
    /// The names of the types themselves, which no part gets.
    reserved: HashSet<String>,
    /// The number of fields that may still be added.
    left: usize,
}

impl Builder<'_> {
    fn root(&mut self, ty: &Type, name: &str, is_flat: bool) -> Result<(), ExportError> {
        let name = self.type_name(ty).unwrap_or_else(|| name.to_owned());
        let blocks = if is_flat {
            self.runs(ty)?
        } else {
            if let Some(values) = self.names.whole_restriction() {
                self.add_constants(&values.clone(), ty);
            }
            let whole = || Block { name: Some("data".to_owned()), ..block(1, 0, ty.clone()) };
            self.blocks(ty)?.unwrap_or_else(|| vec![whole()])
        };
        self.define(name, ty, blocks).map(drop)
    }

    /// The type of a field called `name`.
    fn shape(&mut self, ty: &Type, name: &str) -> Result<Shape, ExportError> {
        let key = ty.as_ptr().addr();
        if let Some(shape) = self.known.get(&key) {
            return Ok(shape.clone());
        }
        check_bounds(ty)?;
        let is_dup = ty.call().is_some_and(|call| call.combiner == Combiner::Dup);
        let shape = match Outline::Type(ty).parts() {
            Parts::Leaf(basic) => {
                let [size, align] = [basic.size(), basic.align()].map(|bytes| bytes as u64);
                Shape { element: Element::Basic(basic), lengths: Vec::new(), size, align }
            }
            Parts::Same(Outline::Type(inner)) if is_dup => self.shape(inner, name)?,
            Parts::Grid {
                blocks: Repetition { count: 1, .. },
                block,
                of: Outline::Type(inner),
            } => self.shape(inner, name)?.array(block.count),
            _ => match self.blocks(ty)? {
                None => return Err(Self::no_type(ty)),
                Some(blocks) => {
                    let name = self.type_name(ty).unwrap_or_else(|| {
                        let name = identifier::of_type(name);
                        if self.reserved.contains(&name) { name + "_2" } else { name }
                    });
                    self.define(name, ty, blocks)?
                }
            },
        };
        self.known.insert(key, shape.clone());
        Ok(shape)
    }

    /// The type's own name, if the language allows it.
    fn type_name(&self, ty: &Type) -> Option<String> {
        let own = self.names.type_name(ty).map(identifier::declared);
        own.filter(|name| !(self.target.is_reserved)(name))
    }

    /// The error for a type without blocks: a marker.
    fn no_type(ty: &Type) -> ExportError {
        let (lb, extent) = (ty.lb(), ty.extent());
        ExportError::Bounds { lb, extent, true_lb: 0, true_ub: 0 }
    }

    /// The blocks that a type consists of; `None` if it is one block as a whole.
    fn blocks(&self, ty: &Type) -> Result<Option<Vec<Block>>, ExportError> {
        let is_dup = ty.call().is_some_and(|call| call.combiner == Combiner::Dup);
        Ok(Some(match Outline::Type(ty).parts() {
            Parts::Same(_) if is_dup => return Ok(None),
            Parts::Nothing
            | Parts::Leaf(_)
            | Parts::Grid { blocks: Repetition { count: 1, .. }, .. } => return Ok(None),
            Parts::Same(Outline::Type(inner)) => match self.blocks(inner)? {
                Some(blocks) => blocks,
                None => vec![block(1, 0, inner.clone())],
            },
            Parts::Grid { blocks, block: Repetition { count, .. }, of: Outline::Type(old) } => {
                self.check_number(blocks.count)?;
                let at = |i: u64| i128::from(blocks.stride) * i128::from(i);
                (0..blocks.count).map(|i| block(count, at(i), old.clone())).collect()
            }
            Parts::List(list) => {
                list.blocks().map(|(length, at)| block(length, at, list.old.clone())).collect()
            }
            Parts::Members(_, Names::Numbers) => self.names.members(ty).unwrap_or_default(),
            Parts::Members(members, names) => {
                let member = |(number, member): (usize, &Member)| Block {
                    name: Some(names.identifier(number)),
                    ..block(member.blocklength, member.displacement.into(), member.ty.clone())
                };
                members.iter().enumerate().map(member).collect()
            }
            // Arrays of several dimensions, and maps, which no type has.
            _ => self.runs(ty)?,
        }))
    }

    fn check_number(&self, number: u64) -> Result<(), ExportError> {
        if usize::try_from(number).is_ok_and(|number| number <= self.left) {
            Ok(())
        } else {
            Err(ExportError::TooManyFields { limit: MAX_FIELDS })
        }
    }

    /// The runs of equal basic datatypes, in the order of packing.
    fn runs(&self, ty: &Type) -> Result<Vec<Block>, ExportError> {
        let mut runs = Vec::new();
        let description = ty.description();
        self.add_runs(description.entries(), 0, &mut runs)?;
        Ok(runs)
    }

    fn add_runs(
        &self,
        entries: &[Entry],
        base: i128,
        runs: &mut Vec<Block>,
    ) -> Result<(), ExportError> {
        let mut at = 0;
        while let Some(entry) = entries.get(at) {
            at += 1;
            match entry {
                Entry::Elem(elem) => {
                    let first = base + i128::from(elem.disp);
                    let touching = u64::try_from(elem.extent) == Ok(elem.basic.size() as u64);
                    let (number, length) = if touching { (1, elem.count) } else { (elem.count, 1) };
                    self.check_number(number.saturating_add(runs.len() as u64))?;
                    runs.extend((0..number).map(|i| {
                        let at = first + i128::from(i) * i128::from(elem.extent);
                        block(length, at, Type::basic(elem.basic))
                    }));
                }
                Entry::Loop(head) => {
                    let body = entries.get(at..at + head.items).unwrap_or(&[]);
                    self.check_number(head.loops.saturating_add(runs.len() as u64))?;
                    for i in 0..head.loops {
                        let base = base + i128::from(i) * i128::from(head.extent);
                        self.add_runs(body, base, runs)?;
                    }
                    at += head.items;
                }
                Entry::EndLoop(_) => {}
            }
        }
        Ok(())
    }

    /// The struct that consists of these blocks. One with the same name and the same fields is not added again.
    fn define(
        &mut self,
        mut name: String,
        ty: &Type,
        blocks: Vec<Block>,
    ) -> Result<Shape, ExportError> {
        let mut placed = Vec::new();
        let mut end = 0_i128;
        for (number, block) in blocks.into_iter().enumerate() {
            if block.length == 0 || block.ty.size() == 0 {
                continue;
            }
            let own = block.name.filter(|name| !name.is_empty());
            let numbered = format!("f{number}");
            let mut shape = self.shape(&block.ty, own.as_ref().unwrap_or(&numbered))?;
            if block.length > 1 {
                shape = shape.array(block.length);
            }
            let displacement = block.displacement;
            if i128::from(displacement) < end {
                let end = i64::try_from(end).unwrap_or(i64::MIN);
                return Err(ExportError::Order { displacement, end });
            }
            end = i128::from(displacement) + i128::from(shape.size);
            if end > i128::from(ty.extent()) {
                return Err(ExportError::Bounds {
                    lb: ty.lb(),
                    extent: ty.extent(),
                    true_lb: ty.true_lb(),
                    true_ub: i64::try_from(end).unwrap_or(i64::MAX),
                });
            }
            self.check_number(1)?;
            self.left -= 1;
            // Not negative, and no more than the extent.
            let offset = u64::try_from(displacement).unwrap_or(0);
            if let Some(values) = self.names.restriction(ty, number) {
                self.add_constants(&values.clone(), &block.ty);
            }
            placed.push(Placed { own, numbered, offset, shape });
        }
        let size = ty.extent().unsigned_abs();
        let align = placed.iter().map(|field| field.shape.align).max().unwrap_or(1);
        let is_packed = self.is_packed
            || !size.is_multiple_of(align)
            || placed.iter().any(|field| !field.offset.is_multiple_of(field.shape.align));
        let align = if is_packed { 1 } else { align };
        // `Self` cannot be the name of a type.
        if (self.target.is_reserved)(&name) {
            name.push_str("Part");
        }
        let (wanted, fields) = (name.clone(), Vec::new());
        let mut definition = Definition { name, wanted, fields, size, align, is_packed };
        self.fill(&mut definition, placed)?;
        let structs = &mut self.declarations.structs;
        let is_same = |one: &Definition| {
            (&one.wanted, one.size, &one.fields)
                == (&definition.wanted, definition.size, &definition.fields)
        };
        let known = structs.iter().position(is_same);
        let index = known.unwrap_or(structs.len());
        if known.is_none() {
            definition.name = self.scope.unique(&definition.wanted);
            structs.push(definition);
        }
        Ok(Shape { element: Element::Struct(index), lengths: Vec::new(), size, align })
    }

    /// Adds the constants of an enum whose values are of this type, or are the elements of an array of it.
    fn add_constants(&mut self, values: &Restriction, ty: &Type) {
        let Values::Variants(variants) = &values.values else { return };
        let basic = ty.type_map().next().map(|entry| entry.basic);
        // Some restrictions have only a description.
        let Some(basic) = basic.filter(|_| !values.name.contains(' ')) else { return };
        let unused = 128 - 8 * u32::try_from(basic.size()).unwrap_or(16);
        let value = |bits: u128| match basic.kind() {
            Kind::Integer => (bits << unused).cast_signed() >> unused,
            _ => bits.cast_signed(),
        };
        let name = identifier::field(&values.name);
        let wanted = |variant: &str| identifier::field(&format!("{name}_{variant}"));
        let mut all: Vec<(String, i128)> =
            variants.iter().map(|(variant, bits)| (wanted(variant), value(*bits))).collect();
        all.sort_by_key(|(_, value)| *value);
        let enums = &mut self.declarations.enums;
        let is_known = enums.iter().any(|one| one.name == name && one.variants.len() == all.len());
        if is_known || all.len() > self.left {
            return;
        }
        self.left -= all.len();
        let mut unique = |(name, value): (String, i128)| (self.constants.unique(&name), value);
        let variants = all.into_iter().map(&mut unique).collect();
        enums.push(Enumeration { name, variants });
    }

    /// The names of fields in the language. A generated name differs from the names of all other fields.
    fn names_of(&self, placed: &[Placed]) -> Vec<String> {
        let mut scope = Scope::default();
        let mut named = |wanted: &str| {
            let mut name = identifier::field(wanted);
            if (self.target.is_taken)(&name) {
                // Names with underscores at both ends are taken, too.
                let longer = format!("{name}_");
                name = if (self.target.is_taken)(&longer) { format!("f{name}") } else { longer };
            }
            scope.unique(&name)
        };
        let own: Vec<_> = placed.iter().map(|field| field.own.as_deref().map(&mut named)).collect();
        scope.reserve(placed.iter().filter_map(|field| field.own.clone()));
        let all = own.into_iter().zip(placed);
        all.map(|(own, field)| own.unwrap_or_else(|| scope.unique(&field.numbered))).collect()
    }

    /// Adds the fields, and the gaps that the compiler would not leave.
    fn fill(&self, definition: &mut Definition, placed: Vec<Placed>) -> Result<(), ExportError> {
        let byte = (self.target.basic)(Basic::UnsignedChar).unwrap_or_default();
        let names = self.names_of(&placed);
        let (mut end, mut gaps) = (0_u64, 0);
        let mut gap = |fields: &mut Vec<Field>, from: u64, to: u64| {
            let name = format!("_pad{gaps}");
            gaps += 1;
            let (ty, lengths) = (byte.to_owned(), vec![to - from]);
            let (rename, is_struct, is_gap) = (None, false, true);
            fields.push(Field { name, rename, ty, is_struct, lengths, offset: from, is_gap });
        };
        for (Placed { own, offset, shape, .. }, name) in placed.into_iter().zip(names) {
            let align = if definition.is_packed { 1 } else { shape.align };
            if end.next_multiple_of(align) != offset {
                gap(&mut definition.fields, end, offset);
            }
            let (ty, is_struct) = match shape.element {
                Element::Basic(basic) => {
                    let language = self.target.name;
                    let ty = (self.target.basic)(basic);
                    (ty.ok_or(ExportError::NoType { basic, language })?.to_owned(), false)
                }
                Element::Struct(index) => (self.declarations.structs[index].name.clone(), true),
            };
            let (lengths, is_gap) = (shape.lengths, false);
            // The derive takes no name with this character.
            let rename = own.filter(|own| *own != name && !own.contains('\0'));
            definition.fields.push(Field { name, rename, ty, is_struct, lengths, offset, is_gap });
            end = offset + shape.size;
        }
        if end.next_multiple_of(definition.align) != definition.size {
            gap(&mut definition.fields, end, definition.size);
        }
        Ok(())
    }
}
