//! The types of the standard library, of dtype-runtime and of other crates that the derive accepts as fields.

use dtype_npy::DateUnit;
use dtype_runtime::basic::Validity;
use dtype_runtime::types::Named;
use dtype_runtime::{Basic, Type as Datatype};
use quote::ToTokens;
use syn::{Expr, ExprPath, GenericArgument, Type};

use super::super::Form;
use super::super::layout::{Base, Layout, Member, NoData, Placement, foreign, structure};
use super::{Reader, refused};
use crate::names;
use crate::notation::{FieldNames, Meaning, Restriction};

/// The field of a record: its name, its elements and the lengths of its array.
type Field<'a> = (&'a str, Layout, &'a [u64]);

impl Reader<'_> {
    /// The type with a path and arguments; `None` if it is not known.
    pub(super) fn accepted(
        &mut self,
        path: &[String],
        arguments: &[&GenericArgument],
    ) -> Option<Base> {
        let (name, modules) = path.split_last()?;
        let types: Vec<&Type> = arguments.iter().copied().filter_map(type_of).collect();
        let parameter = types.first().copied();
        let is_packed = self.form == Form::Packed;
        let own = || own_name(name, arguments);
        let known = match (name.as_str(), parameter) {
            ("PhantomData" | "PhantomPinned", _) => {
                Layout::nothing().map_err(|error| refused(&error, 0..0))
            }
            (
                "Wrapping" | "Saturating" | "Reverse" | "ManuallyDrop" | "OrderedFloat",
                Some(inner),
            ) => self.ty(inner),
            ("NonZero", Some(inner)) => self.number_of(inner, |name, _| {
                Restriction::new(format!("NonZero<{name}>"), Validity::NonZero)
            }),
            ("NotNan", Some(inner)) => self.number_of(inner, |name, basic| {
                let infinity = if basic == Basic::F32 { 0x7F80_0000 } else { 0x7FF0 << 48 };
                Restriction::new(format!("NotNan<{name}>"), Validity::NotNan { infinity })
            }),
            // Zero is the absent number.
            ("Option", Some(inner)) if is_nonzero(inner) => {
                self.ty(inner).map(|layout| Layout { restriction: None, ..layout })
            }
            ("Complex", Some(part)) => match self.ty(part) {
                Ok(part) => Ok(Layout::basic(complex(&part)?)),
                Err(base) => Err(base),
            },
            ("Ipv4Addr", _) => self.array(Basic::U8, &[4], Some(Meaning::Address)),
            ("Ipv6Addr", _) => self.array(Basic::U8, &[16], Some(Meaning::Address)),
            ("FixedSocketAddr", _) => self.socket_address(),
            ("Uuid", _) => self.array(Basic::U8, &[16], Some(Meaning::Uuid)),
            ("FixedDuration", _) => {
                let most = Validity::AtMost(999_999_999);
                let nanos = Restriction::new("nanosecond of a second", most);
                let nanos = Layout::restricted(Basic::U32, nanos);
                let fields = [("secs", Layout::basic(Basic::U64), &[][..]), ("nanos", nanos, &[])];
                self.record(&fields, None, &own())
            }
            ("Timestamp", Some(of)) => self.time(Meaning::Time(Some(unit(of)?))),
            ("TimeSpan", Some(of)) => self.time(Meaning::Span(Some(unit(of)?))),
            ("Maybe", Some(inner)) => self.ty(inner).and_then(|value| {
                let present = Layout::basic(Basic::Bool);
                let fields = [("present", present, &[][..]), ("value", value, &[])];
                self.record(&fields, Some(Meaning::Optional), &own())
            }),
            ("FixedStr", _) => {
                let bytes = Layout::basic(Basic::U8);
                let capacity = self.number(arguments.first()?);
                capacity.and_then(|n| self.counted("bytes", bytes, n, &own()))
            }
            ("FixedVec", Some(item)) => {
                let item = self.ty(item);
                let length = self.number(arguments.get(1)?);
                item.and_then(|item| self.counted("items", item, length?, &own()))
            }
            ("Range", Some(bound)) if is_packed => self.ty(bound).and_then(|bound| {
                self.record(&[("start", bound.clone(), &[]), ("end", bound, &[])], None, &own())
            }),
            ("RangeFrom", Some(bound)) if is_packed => {
                self.ty(bound).and_then(|bound| self.record(&[("start", bound, &[])], None, &own()))
            }
            ("RangeTo" | "RangeToInclusive", Some(bound)) if is_packed => {
                self.ty(bound).and_then(|bound| self.record(&[("end", bound, &[])], None, &own()))
            }
            // In memory, some of glam's types are registers with an alignment of their own.
            _ if is_packed && arguments.is_empty() && glam(name).is_some() => {
                let (basic, length) = glam(name)?;
                self.array(basic, &[length], None)
            }
            (_, Some(element)) if nalgebra(name).is_some() => {
                let (rows, columns) = nalgebra(name)?;
                self.columns(element, rows, columns)
            }
            ("SVector" | "Point" | "Translation" | "Scale", Some(element)) => {
                let rows = self.number(arguments.get(1)?);
                rows.and_then(|rows| self.columns(element, rows, 1))
            }
            ("SMatrix", Some(element)) => {
                let rows = self.number(arguments.get(1)?);
                let columns = self.number(arguments.get(2)?);
                rows.and_then(|rows| self.columns(element, rows, columns?))
            }
            _ => self.in_bytes(name, modules, parameter)?,
        };
        Some(known)
    }

    /// A number of zerocopy. Its byte order is that of the parameter, or of the module that has the name.
    fn in_bytes(
        &mut self,
        name: &str,
        modules: &[String],
        parameter: Option<&Type>,
    ) -> Option<Base> {
        let basic = in_bytes(name)?;
        let order = match parameter {
            Some(Type::Path(order)) => {
                order.path.segments.last().map(|last| last.ident.to_string())
            }
            _ => modules.last().cloned(),
        };
        Some(match order.as_deref().and_then(is_big) {
            Some(is_big) => {
                let meaning = Meaning::Number { basic, is_big };
                self.array(Basic::U8, &[basic.size() as u64], Some(meaning))
            }
            None => foreign(
                "a number whose byte order is not known",
                "write the order, such as `U32<BigEndian>` or `U32<LittleEndian>`",
            ),
        })
    }

    /// A number with fewer values; the restriction is made from its name and its basic datatype.
    fn number_of(
        &mut self,
        inner: &Type,
        restriction: impl FnOnce(&str, Basic) -> Restriction,
    ) -> Base {
        let layout = self.ty(inner)?;
        Ok(match layout.ty.named() {
            Some(Named::Basic(basic)) => {
                Layout::restricted(basic, restriction(basic.name(), basic))
            }
            _ => layout,
        })
    }

    /// A matrix of nalgebra: its columns one after another.
    fn columns(&mut self, element: &Type, rows: u64, columns: u64) -> Base {
        let lengths = if columns == 1 { vec![rows] } else { vec![columns, rows] };
        self.ty(element)?.array(&lengths).map_err(|error| refused(&error, 0..0))
    }

    /// A `FixedSocketAddr`. The order of packing is not that in memory.
    fn socket_address(&mut self) -> Base {
        let member = |name: &str, offset, basic, length| Member {
            name: Some(name.to_owned()),
            offset,
            element: Datatype::basic(basic),
            length,
        };
        let members = vec![
            member("version", 10, Basic::U8, 1),
            member("address", 11, Basic::U8, 16),
            member("port", 8, Basic::U16, 1),
            member("flowinfo", 0, Basic::U32, 1),
            member("scope_id", 4, Basic::U32, 1),
        ];
        let layout = structure(members, 28, 4, self.fields);
        let layout = layout.map_err(|error| refused(&error, 0..0))?;
        let versions = vec![("V4".to_owned(), 4), ("V6".to_owned(), 6)];
        let versions = Restriction::variants("version of IP", versions);
        self.fields.restrict(&layout.ty, 0, versions.into());
        self.fields.add_type(&layout.ty, "FixedSocketAddr");
        Ok(meant(layout, Some(Meaning::SocketAddress), self.fields))
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
        self.record(&fields, None, "")
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
    fn counted(&mut self, name: &str, item: Layout, capacity: u64, own: &str) -> Base {
        let meaning = if name == "bytes" { Meaning::Text } else { Meaning::List { capacity } };
        let len = Layout::basic(Basic::U32);
        self.record(&[("len", len, &[]), (name, item, &[capacity])], Some(meaning), own)
    }

    /// A struct with a name, if that is not empty, laid out as with `#[repr(C)]`.
    fn record(&mut self, fields: &[Field<'_>], meaning: Option<Meaning>, own: &str) -> Base {
        let mut placement = Placement::default();
        let added = fields.iter().try_for_each(|(name, layout, lengths)| {
            placement.add(Some((*name).to_owned()), layout, lengths, layout.align, false)
        });
        let record = added.and_then(|()| placement.finish(1, self.fields));
        let record = record.map_err(|error| refused(&error, 0..0))?;
        if !own.is_empty() {
            self.fields.add_type(&record.ty, own);
        }
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
        "ISize" => names::of_rust("isize")?,
        "USize" => names::of_rust("usize")?,
        other => names::of_rust(&other.to_lowercase())?,
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

/// The rows and columns of a matrix, a vector, a point or a quaternion of the crate `nalgebra`, by the name of an alias.
fn nalgebra(name: &str) -> Option<(u64, u64)> {
    let number = |digits: &str| match digits.parse() {
        Ok(n @ 1..=6) if digits.len() == 1 => Some(n),
        _ => None,
    };
    if name == "Quaternion" {
        return Some((4, 1));
    }
    for kind in ["Vector", "Point", "Translation", "Scale"] {
        if let Some(digits) = name.strip_prefix(kind) {
            return Some((number(digits)?, 1));
        }
    }
    if let Some(digits) = name.strip_prefix("RowVector") {
        return Some((1, number(digits)?));
    }
    let size = name.strip_prefix("Matrix")?;
    let (rows, columns) = size.split_once('x').unwrap_or((size, size));
    Some((number(rows)?, number(columns)?))
}

/// The number that a type of the crate `zerocopy` holds as bytes.
fn in_bytes(name: &str) -> Option<Basic> {
    const NAMES: [&str; 12] =
        ["U16", "U32", "U64", "U128", "Usize", "I16", "I32", "I64", "I128", "Isize", "F32", "F64"];
    NAMES.contains(&name).then(|| names::of_rust(&name.to_lowercase())).flatten()
}

/// Whether the most significant byte is first, by the name of a byte order or of a module of `zerocopy`.
fn is_big(order: &str) -> Option<bool> {
    match order {
        "BE" | "BigEndian" | "NetworkEndian" | "big_endian" | "network_endian" => Some(true),
        "LE" | "LittleEndian" | "little_endian" => Some(false),
        "NE" | "NativeEndian" | "native_endian" => Some(cfg!(target_endian = "big")),
        _ => None,
    }
}

/// The name of a type with its arguments, as a word: `Maybe_f32`, `FixedVec_Spot_4`.
fn own_name(name: &str, arguments: &[&GenericArgument]) -> String {
    let tokens = arguments.iter().map(|argument| argument.to_token_stream().to_string());
    let text = std::iter::once(name.to_owned()).chain(tokens).collect::<Vec<_>>().join(" ");
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}
