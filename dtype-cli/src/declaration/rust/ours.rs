//! The types of the standard library, of dtype-runtime and of other crates that the derive accepts as fields.

use dtype_npy::DateUnit;
use dtype_runtime::{Basic, Type as Datatype};
use syn::{Expr, ExprPath, GenericArgument, Type};

use super::super::Form;
use super::super::layout::{Base, Layout, NoData, Placement};
use super::{Reader, refused};
use crate::notation::{FieldNames, Meaning};

/// The field of a record: its name, its elements and the lengths of its array.
type Field<'a> = (&'a str, Layout, &'a [u64]);

impl Reader<'_> {
    /// The type with a name and arguments; `None` if it is not known.
    pub(super) fn accepted(&mut self, name: &str, arguments: &[&GenericArgument]) -> Option<Base> {
        let types: Vec<&Type> = arguments.iter().copied().filter_map(type_of).collect();
        let parameter = types.first().copied();
        let is_packed = self.form == Form::Packed;
        let known = match (name, parameter) {
            ("PhantomData" | "PhantomPinned", _) => {
                Layout::nothing().map_err(|error| refused(&error, 0..0))
            }
            (
                "Wrapping" | "Saturating" | "NonZero" | "Reverse" | "ManuallyDrop" | "OrderedFloat"
                | "NotNan",
                Some(inner),
            ) => self.ty(inner),
            ("Option", Some(inner)) if is_nonzero(inner) => self.ty(inner),
            ("Complex", Some(part)) => match self.ty(part) {
                Ok(part) => Ok(Layout::basic(complex(&part)?)),
                Err(base) => Err(base),
            },
            ("Ipv4Addr", _) => self.array(Basic::U8, &[4], Some(Meaning::Address)),
            ("Ipv6Addr", _) => self.array(Basic::U8, &[16], Some(Meaning::Address)),
            ("Uuid", _) => self.array(Basic::U8, &[16], Some(Meaning::Uuid)),
            // zerocopy's numbers are bytes, in the order that the parameter or the module says.
            ("U16" | "I16", _) => self.array(Basic::U8, &[2], None),
            ("U32" | "I32" | "F32", _) => self.array(Basic::U8, &[4], None),
            ("U64" | "I64" | "F64", _) => self.array(Basic::U8, &[8], None),
            ("U128" | "I128", _) => self.array(Basic::U8, &[16], None),
            ("FixedDuration", _) => {
                let [secs, nanos] = [Basic::U64, Basic::U32].map(Layout::basic);
                self.record(&[("secs", secs, &[]), ("nanos", nanos, &[])], None)
            }
            ("FixedSocketAddr", _) if is_packed => {
                let [byte, port, number] = [Basic::U8, Basic::U16, Basic::U32].map(Layout::basic);
                let fields = [
                    ("version", byte.clone(), &[][..]),
                    ("address", byte, &[16]),
                    ("port", port, &[]),
                    ("flowinfo", number.clone(), &[]),
                    ("scope_id", number, &[]),
                ];
                self.record(&fields, None)
            }
            ("Timestamp", Some(of)) => self.time(Meaning::Time(Some(unit(of)?))),
            ("TimeSpan", Some(of)) => self.time(Meaning::Span(Some(unit(of)?))),
            ("Maybe", Some(inner)) => self.ty(inner).and_then(|value| {
                let present = Layout::basic(Basic::Bool);
                let fields = [("present", present, &[][..]), ("value", value, &[])];
                self.record(&fields, Some(Meaning::Optional))
            }),
            ("FixedStr", _) => {
                let bytes = Layout::basic(Basic::U8);
                self.number(arguments.first()?).and_then(|n| self.counted("bytes", bytes, n))
            }
            ("FixedVec", Some(item)) => {
                let item = self.ty(item);
                let length = self.number(arguments.get(1)?);
                item.and_then(|item| self.counted("items", item, length?))
            }
            ("Range", Some(bound)) if is_packed => self.ty(bound).and_then(|bound| {
                self.record(&[("start", bound.clone(), &[]), ("end", bound, &[])], None)
            }),
            ("RangeFrom", Some(bound)) if is_packed => {
                self.ty(bound).and_then(|bound| self.record(&[("start", bound, &[])], None))
            }
            ("RangeTo" | "RangeToInclusive", Some(bound)) if is_packed => {
                self.ty(bound).and_then(|bound| self.record(&[("end", bound, &[])], None))
            }
            // In memory, some of glam's types are registers with an alignment of their own.
            _ if is_packed && arguments.is_empty() && glam(name).is_some() => {
                let (basic, length) = glam(name)?;
                self.array(basic, &[length], None)
            }
            _ => return None,
        };
        Some(known)
    }

    /// A tuple. Only in packed bytes have its fields fixed offsets.
    pub(super) fn tuple<'t>(&mut self, elements: impl Iterator<Item = &'t Type>) -> Base {
        let mut fields: Vec<(String, Layout)> = Vec::new();
        for element in elements {
            let layout = self.ty(element)?;
            fields.push((fields.len().to_string(), layout));
        }
        let fields: Vec<Field<'_>> =
            fields.iter().map(|(name, layout)| (name.as_str(), layout.clone(), &[][..])).collect();
        self.record(&fields, None)
    }

    /// The number in an argument: an expression, or the name of a constant, which is parsed as a type.
    fn number(&mut self, argument: &GenericArgument) -> Result<u64, NoData> {
        let path;
        let number = match argument {
            GenericArgument::Const(number) => number,
            GenericArgument::Type(Type::Path(name)) => {
                path = Expr::Path(ExprPath {
                    attrs: Vec::new(),
                    qself: None,
                    path: name.path.clone(),
                });
                &path
            }
            _ => return Err(NoData::Wrong(Vec::new())),
        };
        Ok(self.length(number)?)
    }

    fn array(&mut self, basic: Basic, lengths: &[u64], meaning: Option<Meaning>) -> Base {
        let array = Layout::basic(basic).array(lengths).map_err(|error| refused(&error, 0..0))?;
        Ok(meant(array, meaning, self.fields))
    }

    fn time(&mut self, meaning: Meaning) -> Base {
        let time = Layout::basic(Basic::I64).meaning(meaning, self.fields);
        time.map_err(|error| refused(&error, 0..0))
    }

    /// A length, followed by room for `capacity` items.
    fn counted(&mut self, name: &str, item: Layout, capacity: u64) -> Base {
        let meaning = if name == "bytes" { Meaning::Text } else { Meaning::List { capacity } };
        let len = Layout::basic(Basic::U32);
        self.record(&[("len", len, &[]), (name, item, &[capacity])], Some(meaning))
    }

    /// A struct, laid out as with `#[repr(C)]`.
    fn record(&mut self, fields: &[Field<'_>], meaning: Option<Meaning>) -> Base {
        let mut placement = Placement::default();
        let added = fields.iter().try_for_each(|(name, layout, lengths)| {
            placement.add(Some((*name).to_owned()), layout, lengths, layout.align, false)
        });
        let record = added.and_then(|()| placement.finish(1, self.fields));
        let record = record.map_err(|error| refused(&error, 0..0))?;
        Ok(meant(record, meaning, self.fields))
    }
}

fn meant(layout: Layout, meaning: Option<Meaning>, fields: &mut FieldNames) -> Layout {
    if let Some(meaning) = meaning {
        fields.add_meaning(&layout.ty, meaning);
    }
    layout
}

fn type_of(argument: &GenericArgument) -> Option<&Type> {
    match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}

fn is_nonzero(ty: &Type) -> bool {
    last_name(ty).is_some_and(|name| name.starts_with("NonZero"))
}

/// The unit of a time that dtype-runtime calls so.
fn unit(ty: &Type) -> Option<DateUnit> {
    let symbol = match &*last_name(ty)? {
        "Seconds" => "s",
        "Milliseconds" => "ms",
        "Microseconds" => "us",
        "Nanoseconds" => "ns",
        _ => return None,
    };
    DateUnit::new(symbol)
}

/// The last name of a path.
fn last_name(ty: &Type) -> Option<String> {
    let Type::Path(path) = ty else { return None };
    path.path.segments.last().map(|last| last.ident.to_string())
}

/// The complex number with parts of this type.
fn complex(part: &Layout) -> Option<Basic> {
    let pairs = [(Basic::F32, Basic::C32), (Basic::F64, Basic::C64)];
    let found = pairs.iter().find(|(float, _)| part.ty == Datatype::basic(*float));
    found.map(|(_, complex)| *complex)
}

/// The elements of a vector, a matrix or a quaternion of the crate `glam`, and their number.
fn glam(name: &str) -> Option<(Basic, u64)> {
    let (kind, at) = ["Vec", "Quat", "Mat", "Affine"]
        .iter()
        .find_map(|kind| name.find(kind).map(|at| (*kind, at)))?;
    let basic = match &name[..at] {
        "" => Basic::F32,
        "D" => Basic::F64,
        "I" => Basic::I32,
        "U" => Basic::U32,
        "B" => Basic::Bool,
        "ISize" => super::names::primitive("isize")?,
        "USize" => super::names::primitive("usize")?,
        other => super::names::primitive(&other.to_lowercase())?,
    };
    let length = match (kind, name[at + kind.len()..].trim_end_matches('A')) {
        ("Vec", n @ ("2" | "3" | "4")) => n.parse().ok()?,
        ("Quat", "") | ("Mat", "2") => 4,
        ("Mat", "3") => 9,
        ("Mat", "4") => 16,
        ("Affine", "2") => 6,
        ("Affine", "3") => 12,
        _ => return None,
    };
    Some((basic, length))
}
