//! The values of an instance as a tree, in the order of the type map.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use dtype_runtime::outline::{List, Outline, Parts};
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

    /// The value of an optional one whose fields these are, or the items of a list of this capacity. Without one, there is only
    /// a length.
    pub(crate) fn item(&self, capacity: u64) -> &Self {
        let second = match self {
            Self::Structure(members, _) => members.get(1).map(|member| &*member.shape),
            _ => None,
        };
        match second {
            // An array of one item has the shape of the item.
            Some(Self::Repeated(_, item)) if capacity > 1 => item,
            item => item.unwrap_or(&Self::Nothing),
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
        let old = match Outline::Type(ty).parts() {
            _ if ty.size() == 0 => return Rc::new(Shape::Nothing),
            Parts::Leaf(basic) => return Rc::new(Shape::Value(basic, None)),
            Parts::Members(members, names) => {
                let name = self.names.type_name(ty).map(Rc::from);
                let own = self.names.of(ty).unwrap_or(&[]);
                let members = members.iter().enumerate();
                let members = members.filter(|(_, one)| one.ty.size() > 0 && one.blocklength > 0);
                let members = members.map(|(number, one)| Member {
                    name: own
                        .get(number)
                        .cloned()
                        .flatten()
                        .unwrap_or_else(|| names.name(number).into_owned()),
                    shape: repeated(
                        one.blocklength,
                        restricted(self.of(&one.ty), self.names.restriction(ty, number)),
                    ),
                });
                return Rc::new(Shape::Structure(members.collect(), name));
            }
            Parts::Same(Outline::Type(old))
            | Parts::Grid { of: Outline::Type(old), .. }
            | Parts::Array { old, .. }
            | Parts::List(List { old, .. }) => old,
            // Only maps of Rust types have fields, and a marker has no data.
            _ => return Rc::new(Shape::Nothing),
        };
        repeated(ty.size().checked_div(old.size()).unwrap_or(0), self.of(old))
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
