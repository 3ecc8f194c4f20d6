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
pub(crate) struct Shape {
    pub(crate) kind: Kind,
    /// The number of packed bytes.
    pub(crate) size: usize,
    /// Whether any packed bytes are values.
    pub(crate) is_any: bool,
}

/// What the values of a shape are.
#[derive(Debug)]
pub(crate) enum Kind {
    /// No data.
    Nothing,
    /// One value, and which it can be, if not any bits are one.
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

    const NOTHING: Self = Self { kind: Kind::Nothing, size: 0, is_any: true };

    fn new(kind: Kind) -> Rc<Self> {
        let (size, is_any) = match &kind {
            Kind::Nothing => (0, true),
            Kind::Value(basic, restriction) => (basic.size(), restriction.is_none()),
            Kind::Repeated(count, inner) => {
                let count = usize::try_from(*count).unwrap_or(usize::MAX);
                (inner.size.saturating_mul(count), inner.is_any)
            }
            Kind::Structure(members, _) => {
                let sizes = members.iter().map(|member| member.shape.size);
                let is_any = members.iter().all(|member| member.shape.is_any);
                (sizes.fold(0, usize::saturating_add), is_any)
            }
            Kind::Meant(meaning, fields) => {
                let is_checked =
                    matches!(meaning, Meaning::Text | Meaning::List { .. } | Meaning::Optional);
                (fields.size, fields.is_any && !is_checked)
            }
        };
        Rc::new(Self { kind, size, is_any })
    }

    /// Whether it is a single value, or an array of values with any number of dimensions.
    pub(crate) fn is_value(&self) -> bool {
        match &self.kind {
            Kind::Value(..) => true,
            Kind::Meant(meaning, _) => meaning.is_one_value(),
            Kind::Repeated(_, inner) => inner.is_value(),
            Kind::Nothing | Kind::Structure(..) => false,
        }
    }

    /// The value of an optional one whose fields these are, or the items of a list of this capacity. Without one, there is only
    /// a length.
    pub(crate) fn item(&self, capacity: u64) -> &Self {
        let second = match &self.kind {
            Kind::Structure(members, _) => members.get(1).map(|member| &*member.shape),
            _ => None,
        };
        match second {
            // An array of one item has the shape of the item.
            Some(Self { kind: Kind::Repeated(_, item), .. }) if capacity > 1 => item,
            item => item.unwrap_or(&Self::NOTHING),
        }
    }

    /// Which values a single value, or those of an array, can have, if not any bits are one.
    pub(crate) fn restriction(&self) -> Option<&Arc<Restriction>> {
        match &self.kind {
            Kind::Value(_, restriction) => restriction.as_ref(),
            Kind::Repeated(_, inner) => inner.restriction(),
            Kind::Nothing | Kind::Structure(..) | Kind::Meant(..) => None,
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
            (Some(meaning), fields) if ty.size() > 0 => Shape::new(Kind::Meant(meaning, fields)),
            (_, shape) => shape,
        };
        self.known.insert(key, Rc::clone(&shape));
        shape
    }

    fn make(&mut self, ty: &Type) -> Rc<Shape> {
        let old = match Outline::Type(ty).parts() {
            _ if ty.size() == 0 => return Shape::new(Kind::Nothing),
            Parts::Leaf(basic) => {
                let restriction = Restriction::of_basic(basic).map(Arc::new);
                return Shape::new(Kind::Value(basic, restriction));
            }
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
                return Shape::new(Kind::Structure(members.collect(), name));
            }
            Parts::Same(Outline::Type(old))
            | Parts::Grid { of: Outline::Type(old), .. }
            | Parts::Array { old, .. }
            | Parts::List(List { old, .. }) => old,
            // Only maps of Rust types have fields, and a marker has no data.
            _ => return Shape::new(Kind::Nothing),
        };
        repeated(ty.size().checked_div(old.size()).unwrap_or(0), self.of(old))
    }
}

/// The shape with other values at its end, if it is a value or an array of values.
fn restricted(shape: Rc<Shape>, to: Option<&Arc<Restriction>>) -> Rc<Shape> {
    match (&shape.kind, to) {
        (Kind::Value(basic, _), Some(to)) => Shape::new(Kind::Value(*basic, Some(Arc::clone(to)))),
        (Kind::Repeated(count, inner), Some(_)) => {
            Shape::new(Kind::Repeated(*count, restricted(Rc::clone(inner), to)))
        }
        _ => shape,
    }
}

fn repeated(count: u64, shape: Rc<Shape>) -> Rc<Shape> {
    match (count, &shape.kind) {
        (0, _) | (_, Kind::Nothing) => Shape::new(Kind::Nothing),
        (1, _) => shape,
        _ => Shape::new(Kind::Repeated(count, shape)),
    }
}
