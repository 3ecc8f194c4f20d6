//! Structs in Rust for the records of a file: with the derive of `dtype-runtime`, and the types that read what the file has.

use std::collections::BTreeSet;
use std::fmt::Write;

use dtype_npy::{DateUnit, Dtype, DtypeField, Kind};

use super::ExportError;
use super::identifier::{self, Scope};
use super::rust;
use crate::names::in_rust;
use crate::notation::Stored;

/// The maximum number of fields in all structs together.
const MAX_FIELDS: usize = 4096;

/// The names besides those of units that no struct may have: the imported ones, and those of the record.
const TAKEN: [&str; 8] =
    ["Datatype", "FixedStr", "FixedVec", "Maybe", "TimeSpan", "Timestamp", "Record", "Records"];

/// The units of times in records.
const UNITS: [&str; 4] = ["Seconds", "Milliseconds", "Microseconds", "Nanoseconds"];

/// The items.
pub(super) fn write(stored: &Stored) -> Result<String, ExportError> {
    let mut writer = Writer {
        character: stored.character,
        structs: Vec::new(),
        scope: Scope::default(),
        imports: BTreeSet::from(["Datatype"]),
        units: BTreeSet::new(),
        left: MAX_FIELDS,
        features: BTreeSet::new(),
        converts: stored.converts,
        leaves_out: false,
    };
    let (lengths, item) = stored.dtype.axes();
    let no_type = || ExportError::NoRecord { dtype: stored.dtype.to_string() };
    let one = writer.ty(item, "")?.ok_or_else(no_type)?;
    let whole = arrays(one, lengths);
    let Writer { structs, imports, units, features, converts, leaves_out, .. } = &writer;
    let is_struct = structs.last().is_some_and(|last| last.name == whole);
    let mut out = String::new();
    for feature in features {
        let _ = writeln!(out, "// With the feature `{feature}` of dtype-runtime.");
    }
    let list = |names: &BTreeSet<&str>| {
        let all = names.iter().copied().collect::<Vec<_>>().join(", ");
        if names.len() == 1 { all } else { format!("{{{all}}}") }
    };
    if !units.is_empty() {
        let _ = writeln!(out, "use dtype_runtime::time::{};", list(units));
    }
    let derived = if structs.is_empty() {
        imports.iter().copied().filter(|name| *name != "Datatype").collect()
    } else {
        imports.clone()
    };
    if !derived.is_empty() {
        let _ = writeln!(out, "use dtype_runtime::{};", list(&derived));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    for (number, one) in structs.iter().enumerate() {
        if is_struct && number + 1 == structs.len() {
            out.push_str(&options(*converts, *leaves_out));
        }
        let Structure { name, body, .. } = one;
        let _ = writeln!(
            out,
            "#[derive(Datatype, Clone, Copy, Debug, PartialEq)]\n#[repr(C)]\npub struct {name} {{\n{body}}}\n"
        );
    }
    if is_struct {
        out.truncate(out.len() - 1);
    } else {
        out.push_str(&options(*converts, *leaves_out));
        let name =
            if structs.iter().any(|one| one.name == "Record") { "Records" } else { "Record" };
        let _ = writeln!(out, "pub type {name} = {whole};");
    }
    Ok(out)
}

/// How the records are read, if not strictly.
fn options(converts: bool, leaves_out: bool) -> String {
    let calls = [(leaves_out, ".with_other_fields()"), (converts, ".with_number_conversion()")];
    let calls: String =
        calls.iter().filter(|(is_needed, _)| *is_needed).map(|(_, call)| *call).collect();
    if calls.is_empty() {
        return calls;
    }
    format!("/// Read with `ReadOptions::strict(){calls}`.\n")
}

/// An array of these lengths.
fn arrays(element: String, lengths: &[u64]) -> String {
    lengths.iter().rev().fold(element, |ty, length| format!("[{ty}; {length}]"))
}

/// Whether values are scalars of this letter and size.
fn is_scalar(dtype: &Dtype, wanted: char, size: u64) -> bool {
    matches!(dtype.kind(), Kind::Scalar { letter, .. } if *letter == wanted)
        && dtype.itemsize() == size
}

/// A struct that was written.
struct Structure {
    name: String,
    /// The name before it was made different from those of other structs.
    wanted: String,
    body: String,
}

struct Writer {
    /// Bytes of UTF-8 that a character takes at most.
    character: u64,
    /// Each after those that it contains.
    structs: Vec<Structure>,
    scope: Scope,
    imports: BTreeSet<&'static str>,
    units: BTreeSet<&'static str>,
    /// Features of dtype-runtime that types need.
    features: BTreeSet<&'static str>,
    /// The number of fields that may still be added.
    left: usize,
    /// Whether numbers and times of the file have other formats in the records.
    converts: bool,
    leaves_out: bool,
}

impl Writer {
    /// The type of values; `None` if no type of a record has them. `wanted` is the name of a struct, empty for the record itself.
    fn ty(&mut self, dtype: &Dtype, wanted: &str) -> Result<Option<String>, ExportError> {
        Ok(match dtype.kind() {
            Kind::Structure { fields } => self.structure(fields, wanted)?,
            // Values without bytes are in no file.
            Kind::Array { .. } if dtype.itemsize() == 0 => None,
            Kind::Array { lengths, element } => {
                self.ty(element, wanted)?.map(|element| arrays(element, lengths))
            }
            Kind::Scalar { letter: 'S', .. } => Some(self.text(dtype.itemsize())),
            Kind::Scalar { letter: 'U', .. } => {
                Some(self.text(dtype.itemsize() / 4 * self.character))
            }
            Kind::Scalar { letter: letter @ ('M' | 'm'), unit, .. } => {
                Some(self.time(*letter == 'M', *unit))
            }
            // Of these, records have numbers of 128 bits, and floats without a number in NumPy.
            Kind::Scalar { letter: 'V', .. } => (dtype.itemsize() == 16).then(|| "u128".to_owned()),
            Kind::Scalar { letter, .. } => {
                match (letter, dtype.itemsize()) {
                    ('f', 2) => self.features.insert("half"),
                    ('c', _) => self.features.insert("num-complex"),
                    _ => false,
                };
                dtype.basic().and_then(in_rust).map(str::to_owned)
            }
            _ => None,
        })
    }

    fn import(&mut self, name: &'static str, of: &str) -> String {
        self.imports.insert(name);
        format!("{name}<{of}>")
    }

    fn text(&mut self, bytes: u64) -> String {
        self.import("FixedStr", &bytes.to_string())
    }

    fn time(&mut self, is_point: bool, unit: Option<DateUnit>) -> String {
        let has_length = |unit: &DateUnit| is_point || !matches!(unit.name(), "Y" | "M");
        let known = unit.filter(has_length).and_then(|unit| {
            let index = match unit.name() {
                "Y" | "M" | "W" | "D" | "h" | "m" | "s" => 0,
                "ms" => 1,
                "us" => 2,
                "ns" => 3,
                _ => return None,
            };
            Some((
                UNITS[index],
                unit.count() == 1 && matches!(unit.name(), "s" | "ms" | "us" | "ns"),
            ))
        });
        self.converts |= !known.is_some_and(|(_, is_same)| is_same);
        let Some((unit, _)) = known else { return "i64".to_owned() };
        self.units.insert(unit);
        self.import(if is_point { "Timestamp" } else { "TimeSpan" }, unit)
    }

    fn structure(
        &mut self,
        fields: &[DtypeField],
        wanted: &str,
    ) -> Result<Option<String>, ExportError> {
        if let Some(own) = self.own(fields, wanted)? {
            return Ok(Some(own));
        }
        let (mut body, mut scope, mut is_empty) = (String::new(), Scope::default(), true);
        for DtypeField { name, dtype, .. } in fields {
            self.left =
                self.left.checked_sub(1).ok_or(ExportError::TooManyFields { limit: MAX_FIELDS })?;
            let ty = self.ty(dtype, &identifier::of_type(name))?;
            // The derive takes no name with this character.
            let Some(ty) = ty.filter(|_| !name.contains('\0')) else {
                self.leaves_out = true;
                let _ = writeln!(body, "    // {name:?}, {dtype}, is left out.");
                continue;
            };
            is_empty = false;
            let field = scope.unique(&rust::field(name));
            if field.trim_start_matches("r#") != name {
                let _ = writeln!(body, "    #[dtype(rename = {name:?})]");
            }
            let _ = writeln!(body, "    pub {field}: {ty},");
        }
        if is_empty {
            return Ok(None);
        }
        let known = self.structs.iter().find(|one| one.wanted == wanted && one.body == body);
        if let Some(known) = known {
            return Ok(Some(known.name.clone()));
        }
        let name = if wanted.is_empty() {
            "Record".to_owned()
        } else {
            let is_taken = TAKEN.iter().chain(&UNITS).any(|name| *name == wanted);
            let part = if is_taken { "Part" } else { "" };
            self.scope.unique(&(rust::type_name(wanted) + part))
        };
        self.structs.push(Structure { name: name.clone(), wanted: wanted.to_owned(), body });
        Ok(Some(name))
    }

    /// The type of this project that is stored as a structure of these fields.
    fn own(&mut self, fields: &[DtypeField], wanted: &str) -> Result<Option<String>, ExportError> {
        let [first, second] = fields else { return Ok(None) };
        let wanted = if wanted.is_empty() { "Value" } else { wanted };
        let is_number = |letter, size| is_scalar(&first.dtype, letter, size);
        let (lengths, element) = second.dtype.axes();
        Ok(match (&*first.name, &*second.name, lengths) {
            ("present", "value", _) if is_number('b', 1) => {
                self.ty(&second.dtype, wanted)?.map(|value| self.import("Maybe", &value))
            }
            ("len", "bytes", [length]) if is_number('u', 4) && is_scalar(element, 'u', 1) => {
                Some(self.text(*length))
            }
            ("len", "items", [length, inner @ ..])
                if is_number('u', 4) && second.dtype.itemsize() > 0 =>
            {
                let item = self.ty(element, wanted)?.map(|item| arrays(item, inner));
                item.map(|item| self.import("FixedVec", &format!("{item}, {length}")))
            }
            _ => None,
        })
    }
}
