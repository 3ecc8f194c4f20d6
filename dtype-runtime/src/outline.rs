//! A datatype and its parts, one level at a time: what programs walk that draw a layout or write it in another notation, as the
//! crates `dtype-show` and `dtype-npy` do.
//!
//! An [`Outline`] is a [`Type`] or the map of a Rust type. [`Outline::parts`] is its outermost level: a list of blocks, the
//! members of a structure, the fields of a struct. Each level says where the data of its parts can be, so a program that looks
//! at a part of a layout visits only that part, and skips everything else, however large.
//!
//! [`Type::type_map`] instead lists every basic datatype, and [`Type::contents`] the arguments of the call that made a type.
//!
//! ```
//! use dtype_runtime::outline::{Outline, Parts};
//! use dtype_runtime::{Basic, Type};
//!
//! /// The names of the levels around the first data.
//! fn levels(outline: Outline<'_>) -> Vec<String> {
//!     let (level, inner) = match outline.parts() {
//!         Parts::Nothing => return Vec::new(),
//!         Parts::Leaf(basic) => return vec![outline.leaf_name(basic).to_owned()],
//!         Parts::Same(of) => return levels(of),
//!         Parts::Array { old, .. } => ("array".to_owned(), Outline::Type(old)),
//!         Parts::Grid { blocks, block, of } => (format!("{} × {}", blocks.count, block.count), of),
//!         Parts::List(list) => (format!("{} blocks", list.len()), Outline::Type(list.old)),
//!         Parts::Fields(fields) => match fields.iter().find_map(|field| Some((field, field.map()?))) {
//!             Some((field, map)) => (field.name().to_owned(), Outline::Map(map)),
//!             None => return Vec::new(),
//!         },
//!         Parts::Members(members, names) => match members.first() {
//!             Some(member) => (names.name(0).into_owned(), Outline::Type(&member.ty)),
//!             None => return Vec::new(),
//!         },
//!     };
//!     [vec![level], levels(inner)].concat()
//! }
//!
//! let column = Type::vector(3, 1, 4, &Type::basic(Basic::F64))?;
//! let all = Type::structure(&[2], &[8], &[column])?;
//! assert_eq!(levels(Outline::Type(&all)), ["0", "3 × 1", "f64"]);
//! # Ok::<(), dtype_runtime::Error>(())
//! ```

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::basic::Basic;
use crate::typemap::{self, Node, TypeMap};
use crate::types::{Constructor, Lengths, Member, Order, Type};

/// A datatype whose parts are looked at.
#[derive(Clone, Copy, Debug)]
pub enum Outline<'a> {
    /// A type that constructors made. Its parts have numbers.
    Type(&'a Type),
    /// The map of a Rust type, [`Datatype::TYPE_MAP`](crate::Datatype::TYPE_MAP). Its fields have names.
    Map(&'static TypeMap),
}

/// Instances at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repetition {
    /// The number of instances.
    pub count: u64,
    /// Bytes from one instance to the next, which may be negative.
    pub stride: i64,
}

/// The parts of a datatype: one level. Displacements are in bytes.
#[derive(Clone, Debug)]
pub enum Parts<'a> {
    /// A marker, without data.
    Nothing,
    /// A basic datatype.
    Leaf(Basic),
    /// A type with the same data in the same places, but other bounds: of a `dup`, a `resized` or a pair.
    Same(Outline<'a>),
    /// A part of an array: a `subarray` or a `darray`.
    Array {
        /// The same data as blocks of blocks, one level for each dimension.
        built: &'a Type,
        /// The type of the array's elements.
        old: &'a Type,
    },
    /// Blocks at equal distances, the first one at displacement 0: of a `contiguous`, a `vector`, or an array in a struct.
    Grid {
        /// The blocks.
        blocks: Repetition,
        /// The instances in each block.
        block: Repetition,
        /// What each instance is.
        of: Outline<'a>,
    },
    /// Blocks at irregular displacements: of an `indexed` and its relatives.
    List(List<'a>),
    /// The fields of a struct. One without a [map](typemap::Field::map) is not part of the datatype.
    Fields(&'static [typemap::Field]),
    /// The members of a `structure`, and how they are called.
    Members(&'a [Member], Names),
}

/// What the members of a structure are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// By their numbers.
    Numbers,
    /// The two members of a pair: `value` and `index`.
    ValueIndex,
}

/// Blocks of one type at irregular displacements.
#[derive(Clone, Copy, Debug)]
pub struct List<'a> {
    lengths: Lengths<&'a [u64]>,
    displacements: &'a [i64],
    /// The unit of the displacements, in bytes.
    unit: i64,
    /// The type of the instances in each block. They are one extent apart.
    pub old: &'a Type,
}

impl<'a> List<'a> {
    /// The number of blocks.
    pub const fn len(&self) -> usize {
        self.displacements.len()
    }

    /// Whether there are no blocks.
    pub const fn is_empty(&self) -> bool {
        self.displacements.is_empty()
    }

    /// The length in instances of the block with this index, and its displacement in bytes. `None` past the last block.
    pub fn get(&self, index: usize) -> Option<(u64, i128)> {
        let displacement = i128::from(*self.displacements.get(index)?);
        let length = match self.lengths {
            Lengths::Each(lengths) => *lengths.get(index)?,
            Lengths::Same(length) => length,
        };
        Some((length, displacement * i128::from(self.unit)))
    }

    /// All blocks, as [`get`](Self::get) returns them.
    pub fn blocks(self) -> impl DoubleEndedIterator<Item = (u64, i128)> + use<'a> {
        (0..self.len()).filter_map(move |index| self.get(index))
    }
}

impl<'a> Outline<'a> {
    /// Bytes of data in an instance: its packed size.
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

    /// The name of the type of a [leaf](Parts::Leaf): of the Rust type in a map, otherwise of the basic datatype.
    pub fn leaf_name(self, basic: Basic) -> &'static str {
        match self {
            Self::Map(map) => match map.node() {
                Node::Basic { name, .. } => name,
                _ => basic.name(),
            },
            Self::Type(_) => basic.name(),
        }
    }

    /// The outermost level.
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

    /// The strides in bytes of the rows of an array that this type is a part of, the outermost first: where a picture may break
    /// its lines. There are none for other types.
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
                Parts::Array { built, .. } => at = Outline::Type(built),
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
            _ => Parts::Same(Outline::Type(built)),
        },
        Constructor::Subarray { built, old, .. } | Constructor::Darray { built, old, .. } => {
            Parts::Array { built, old }
        }
        Constructor::Dup { old } | Constructor::Resized { old } => Parts::Same(Outline::Type(old)),
    }
}

/// The structure with the same data as a [`Type::value_index`] that is no named pair, such as `MPI_DOUBLE_INT`; `None` for any
/// other type. MPI before 4.1 has only the named pairs.
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
        of: Outline::Type(old),
    }
}

impl Names {
    /// The name of the member with this index.
    pub fn name(self, index: usize) -> Cow<'static, str> {
        match (self, index) {
            (Self::ValueIndex, 0) => "value".into(),
            (Self::ValueIndex, 1) => "index".into(),
            _ => index.to_string().into(),
        }
    }

    /// The same as an identifier, which does not start with a digit: `f0`.
    pub fn identifier(self, index: usize) -> String {
        match self {
            Self::Numbers => format!("f{index}"),
            Self::ValueIndex => self.name(index).into(),
        }
    }
}
