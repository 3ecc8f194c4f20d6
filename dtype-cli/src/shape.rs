//! The values of an instance as a tree, in the order of the type map.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use dtype_runtime::types::Named;
use dtype_runtime::{Basic, Type};

use dtype_text::notation::{FieldNames, Meaning, Parsed, Restriction};

/// Values in the order of the packed stream, with the names from the notation. There are no displacements, because the packed
/// stream has the values in this order. Parts that a type uses several times are shared.
#[derive(Debug)]
pub(crate) enum Shape {
    /// No data.
    Nothing,
    /// One value, and which it can be, if that is not up to its basic datatype alone.
    Value(Basic, Option<Arc<Restriction>>),
    /// A number of values of one shape, at least two.
    Repeated(u64, Rc<Shape>),
    /// The members that have data, and the name of the struct, if its declaration has one.
    Structure(Vec<Member>, Option<Rc<str>>),
    /// A value that is not printed by its fields, and its fields.
    Meant(Meaning, Rc<Shape>),
}

/// A member of a structure.
#[derive(Debug)]
pub(crate) struct Member {
    /// The member's name, or its number if it has no name.
    pub(crate) name: String,
    pub(crate) shape: Rc<Shape>,
}

impl Shape {
    /// The shape of an instance.
    pub(crate) fn of(parsed: &Parsed) -> Rc<Self> {
        let shape = Shapes { names: &parsed.fields, known: HashMap::new() }.of(&parsed.ty);
        restricted(shape, parsed.fields.whole_restriction())
    }

    /// The number of packed bytes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Value(basic, _) => basic.size(),
            Self::Repeated(count, inner) => {
                usize::try_from(*count).unwrap_or(usize::MAX).saturating_mul(inner.size())
            }
            Self::Structure(members, _) => {
                members.iter().fold(0, |all, member| all.saturating_add(member.shape.size()))
            }
            Self::Meant(_, fields) => fields.size(),
        }
    }

    /// Whether it is a single value, or an array of values with any number of dimensions.
    pub(crate) fn is_value(&self) -> bool {
        match self {
            Self::Value(..) => true,
            Self::Meant(meaning, _) => meaning.is_one_value(),
            Self::Repeated(_, inner) => inner.is_value(),
            Self::Nothing | Self::Structure(..) => false,
        }
    }

    /// Which values a single value, or those of an array, can have, if that is not up to their basic datatype.
    pub(crate) fn restriction(&self) -> Option<&Arc<Restriction>> {
        match self {
            Self::Value(_, restriction) => restriction.as_ref(),
            Self::Repeated(_, inner) => inner.restriction(),
            Self::Nothing | Self::Structure(..) | Self::Meant(..) => None,
        }
    }
}

/// Makes the shapes of types.
struct Shapes<'a> {
    names: &'a FieldNames,
    /// Keyed by the address of the type, which the type itself keeps alive.
    known: HashMap<usize, Rc<Shape>>,
}

impl Shapes<'_> {
    /// Types nest at most 255 levels deep, and each is visited once.
    fn of(&mut self, ty: &Type) -> Rc<Shape> {
        let key = ty.as_ptr().addr();
        if let Some(known) = self.known.get(&key) {
            return Rc::clone(known);
        }
        let shape = match (self.names.meaning(ty), self.make(ty)) {
            (Some(meaning), fields) if ty.size() > 0 => Rc::new(Shape::Meant(meaning, fields)),
            (_, shape) => shape,
        };
        self.known.insert(key, Rc::clone(&shape));
        shape
    }

    fn make(&mut self, ty: &Type) -> Rc<Shape> {
        if ty.size() == 0 {
            return Rc::new(Shape::Nothing);
        }
        if let Some(Named::Basic(basic)) = ty.named() {
            return Rc::new(Shape::Value(basic, None));
        }
        if let Some(members) = self.names.members(ty) {
            let members = members.into_iter().enumerate();
            let members = members.filter(|(_, block)| block.ty.size() > 0 && block.length > 0);
            let name = self.names.type_name(ty).map(Rc::from);
            let members = members.map(|(number, block)| Member {
                name: block.name.unwrap_or_else(|| number.to_string()),
                shape: repeated(
                    block.length,
                    restricted(self.of(&block.ty), self.names.restriction(ty, number)),
                ),
            });
            return Rc::new(Shape::Structure(members.collect(), name));
        }
        let Some(call) = ty.call() else { return basics(ty) };
        // All other constructors repeat one type or change its bounds, except for pairs and Fortran's types.
        let mut types = call.types();
        match (types.next(), types.next()) {
            (Some(old), None) => {
                repeated(ty.size().checked_div(old.size()).unwrap_or(0), self.of(old))
            }
            _ => basics(ty),
        }
    }
}

/// The shape with other values at its end, if it is a value or an array of values.
fn restricted(shape: Rc<Shape>, to: Option<&Arc<Restriction>>) -> Rc<Shape> {
    match (&*shape, to) {
        (Shape::Value(basic, _), Some(to)) => Rc::new(Shape::Value(*basic, Some(Arc::clone(to)))),
        (Shape::Repeated(count, inner), Some(_)) => {
            Rc::new(Shape::Repeated(*count, restricted(Rc::clone(inner), to)))
        }
        _ => shape,
    }
}

fn repeated(count: u64, shape: Rc<Shape>) -> Rc<Shape> {
    match (count, &*shape) {
        (0, _) | (_, Shape::Nothing) => Rc::new(Shape::Nothing),
        (1, _) => shape,
        _ => Rc::new(Shape::Repeated(count, shape)),
    }
}

/// The shape of a type without parts: one value, or a pair of a value and an index.
fn basics(ty: &Type) -> Rc<Shape> {
    let mut entries = ty.type_map().map(|entry| entry.basic);
    let (first, second) = (entries.next(), entries.next());
    let value = |basic| Rc::new(Shape::Value(basic, None));
    match (first, second) {
        (Some(basic), None) => value(basic),
        (Some(first), Some(second)) => {
            let member = |name: &str, basic| Member { name: name.to_owned(), shape: value(basic) };
            Rc::new(Shape::Structure(vec![member("value", first), member("index", second)], None))
        }
        (None, _) => Rc::new(Shape::Nothing),
    }
}
