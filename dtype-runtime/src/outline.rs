//! A datatype and its parts, one level at a time, for `dtype-show` and `dtype-npy`.
//!
//! Each level says where the data of its parts can be. So a picture of a part of a layout visits only that part, and skips
//! everything else, however large.

#![allow(missing_docs, reason = "hidden, and the names say it")]

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::basic::Basic;
use crate::typemap::{self, Node, TypeMap};
use crate::types::{Constructor, Lengths, Member, Order, Type};

/// A datatype: a type that constructors made, or the map that the derive made, which has the names of fields.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    Type(&'a Type),
    Map(&'static TypeMap),
}

/// `count` instances with a stride of `stride` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Repetition {
    pub count: u64,
    pub stride: i64,
}

/// The parts of a datatype.
#[derive(Debug)]
pub enum Parts<'a> {
    Nothing,
    Leaf(Basic),
    /// A type with the same data but another name or other bounds.
    Same(Source<'a>),
    /// A part of an array: `built` consists of elements of type `old`, in internal structures.
    Array {
        built: &'a Type,
        old: &'a Type,
    },
    /// Blocks at equal distances, and the contents of each.
    Grid {
        blocks: Repetition,
        block: Repetition,
        of: Source<'a>,
    },
    List(List<'a>),
    /// The fields of a struct.
    Fields(&'static [typemap::Field]),
    Members(&'a [Member], Names),
}

/// The names of a structure's members.
#[derive(Clone, Copy, Debug)]
pub enum Names {
    Numbers,
    ValueIndex,
}

/// Blocks of one type at irregular displacements.
#[derive(Clone, Copy, Debug)]
pub struct List<'a> {
    lengths: Lengths<&'a [u64]>,
    displacements: &'a [i64],
    /// The unit of the displacements, in bytes.
    unit: i64,
    pub old: &'a Type,
}

/// The number of blocks of a list that [`List::read`] returns.
pub const AT_ONCE: usize = 64;

#[expect(clippy::len_without_is_empty, reason = "a list has blocks")]
impl<'a> List<'a> {
    pub fn len(&self) -> usize {
        self.displacements.len()
    }

    /// The length of up to [`AT_ONCE`] blocks, the first at index `from`, and the displacement of each in bytes.
    pub fn read(self, from: usize) -> impl DoubleEndedIterator<Item = (u64, i128)> + use<'a> {
        let unit = i128::from(self.unit);
        (from..self.len().min(from + AT_ONCE)).map(move |i| {
            let length = match self.lengths {
                Lengths::Each(lengths) => lengths[i],
                Lengths::Same(length) => length,
            };
            (length, i128::from(self.displacements[i]) * unit)
        })
    }
}

impl<'a> Source<'a> {
    /// Packed bytes.
    pub fn size(self) -> u64 {
        match self {
            Self::Type(ty) => ty.size(),
            Self::Map(map) => map.size() as u64,
        }
    }

    /// Bytes from one instance to the next in an array.
    pub fn extent(self) -> i64 {
        match self {
            Self::Type(ty) => ty.extent(),
            Self::Map(map) => map.stride() as i64,
        }
    }

    /// The range that may contain data, as two displacements in bytes.
    pub fn span(self) -> (i128, i128) {
        match self {
            Self::Type(ty) => (ty.true_lb().into(), ty.true_ub().into()),
            Self::Map(map) => (0, map.stride() as i128),
        }
    }

    /// The name of a leaf's type.
    pub fn leaf_name(self, basic: Basic) -> &'static str {
        match self {
            Self::Map(map) => match map.node() {
                Node::Basic { name, .. } => name,
                _ => basic.name(),
            },
            Self::Type(_) => basic.name(),
        }
    }

    pub fn parts(self) -> Parts<'a> {
        match self {
            Self::Type(ty) => of_type(ty),
            Self::Map(map) => match *map.node() {
                Node::Basic { basic, .. } => Parts::Leaf(basic),
                Node::Array { count, element } => Parts::Grid {
                    blocks: Repetition { count: 1, stride: 0 },
                    block: Repetition { count: count as u64, stride: element.stride() as i64 },
                    of: Self::Map(element),
                },
                Node::Structure { fields, .. } => Parts::Fields(fields),
            },
        }
    }

    /// The strides in bytes of the rows of an array that this type is a part of, the outermost first. There are none for other
    /// types.
    pub fn strides(self) -> Vec<u64> {
        let mut strides = Vec::new();
        self.add_strides(&mut strides);
        strides
    }

    fn add_strides(self, strides: &mut Vec<u64>) {
        let add = |strides: &mut Vec<u64>, bytes: i128| {
            strides.extend(u64::try_from(bytes.unsigned_abs()));
        };
        let mut at = self;
        loop {
            if let Self::Type(ty) = at {
                of_array(ty).into_iter().flatten().for_each(|bytes| add(strides, bytes));
            }
            match at.parts() {
                Parts::Same(inner) => at = inner,
                Parts::Array { built, .. } => at = Source::Type(built),
                Parts::Grid { blocks, block, of } => {
                    for Repetition { count, stride } in [blocks, block] {
                        if count > 1 {
                            add(strides, stride.into());
                        }
                    }
                    at = of;
                }
                Parts::List(list) if list.len() == 1 => at = Self::Type(list.old),
                Parts::Members([Member { ty, .. }], _) => at = Self::Type(ty),
                _ => return,
            }
        }
    }
}

/// The strides of an array in each dimension, the greatest first.
fn of_array(ty: &Type) -> Option<impl Iterator<Item = i128>> {
    let (sizes, order, old) = match ty.constructor() {
        Constructor::Subarray { arguments, old, .. } => {
            (arguments.lists()[0], arguments.order, old)
        }
        Constructor::Darray { arguments, old, .. } => (&*arguments.gsizes, arguments.order, old),
        _ => return None,
    };
    // The last stride is an element's own extent, and not that of a row.
    let extent = i128::from(old.extent());
    Some((1..sizes.len()).map(move |skip| {
        let inner = match order {
            Order::C => sizes.get(skip..),
            Order::Fortran => sizes.get(..sizes.len() - skip),
        };
        let elements = inner.unwrap_or(&[]).iter().map(|&size| i128::from(size));
        elements.fold(extent, i128::saturating_mul)
    }))
}

fn of_type(ty: &Type) -> Parts<'_> {
    match ty.constructor() {
        Constructor::Basic(basic) | Constructor::Fortran { basic, .. } => Parts::Leaf(*basic),
        Constructor::LbMarker | Constructor::UbMarker => Parts::Nothing,
        Constructor::Contiguous { count, old } => grid(1, 0, *count, old),
        Constructor::Vector { unit, count, blocklength, stride, old } => {
            // The places of the data were checked when the type was made.
            grid(*count, stride.wrapping_mul(unit.bytes(old)), *blocklength, old)
        }
        Constructor::Blocks { unit, lengths, displacements, old } => {
            let (lengths, unit) = (lengths.as_slice(), unit.bytes(old));
            Parts::List(List { lengths, displacements, unit, old })
        }
        Constructor::Structure { members } => Parts::Members(members, Names::Numbers),
        Constructor::Pair { built, .. } => match built.constructor() {
            Constructor::Structure { members } => Parts::Members(members, Names::ValueIndex),
            _ => Parts::Same(Source::Type(built)),
        },
        Constructor::Subarray { built, old, .. } | Constructor::Darray { built, old, .. } => {
            Parts::Array { built, old }
        }
        Constructor::Dup { old } | Constructor::Resized { old } => Parts::Same(Source::Type(old)),
    }
}

/// The structure that represents a [`Type::value_index`] without a name.
pub fn structure_of_pair(ty: &Type) -> Option<&Type> {
    match ty.constructor() {
        Constructor::Pair { name: None, built, .. } => Some(built),
        _ => None,
    }
}

fn grid(count: u64, stride: i64, blocklength: u64, old: &Type) -> Parts<'_> {
    Parts::Grid {
        blocks: Repetition { count, stride },
        block: Repetition { count: blocklength, stride: old.extent() },
        of: Source::Type(old),
    }
}

impl Names {
    /// The name of a member with this number.
    pub fn name(self, index: usize) -> Cow<'static, str> {
        match (self, index) {
            (Self::ValueIndex, 0) => "value".into(),
            (Self::ValueIndex, 1) => "index".into(),
            _ => index.to_string().into(),
        }
    }

    /// The field's name as an identifier, which does not start with a digit.
    pub fn of_field(self, index: usize) -> String {
        match self {
            Self::Numbers => format!("f{index}"),
            Self::ValueIndex => self.name(index).into(),
        }
    }
}
