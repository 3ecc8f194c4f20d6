//! Writes a datatype as the declaration of a struct with the same layout.
//!
//! A `Definition` is a struct before it is written in a language. One is made for each structure, resized type and
//! list of blocks in a type, so that a structure that is used twice is declared once. Example: for
//! `struct{x: f64, part: resized(struct{u8, u8}, 0, 4)}` there are two, of 4 bytes with a gap of 2 bytes at the end,
//! and of 16 bytes, whose last 4 are the compiler's padding. A gap that the compiler would not leave becomes a field
//! `_pad0`, and a struct whose fields are not aligned is packed.

mod c;
mod definition;
mod identifier;
mod record;
mod rust;

use dtype_npy::{Dtype, NumpyDtype, NumpyError, NumpyOptions};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{Basic, Type};

use super::Message;
use crate::notation::{Meaning, Parsed};

/// Why a type cannot be declared as a struct.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The data of an instance are not within one extent from displacement 0.
    #[error(
        "data from {true_lb} to {true_ub}, and instances of {extent} bytes from {lb} on; a struct starts at 0 and \
         contains all its fields: `resized(type, 0, extent)` changes the bounds"
    )]
    Bounds {
        /// The lower bound.
        lb: i64,
        /// Bytes from one instance to the next.
        extent: i64,
        /// Displacement in bytes of the first byte of data.
        true_lb: i64,
        /// One past the last byte of data.
        true_ub: i64,
    },
    /// Data are packed in another order than that of their addresses, or a byte is named more than once.
    #[error(
        "the data at {displacement} are packed after data that end at {end}; the fields of a struct are packed in \
         the order of their addresses"
    )]
    Order {
        /// Displacement of the data in the instance.
        displacement: i64,
        /// The end of the data that are packed before them.
        end: i64,
    },
    /// The language has no type for these values.
    #[error("{language} has no type for `{basic}`")]
    NoType {
        /// The type of the values.
        basic: Basic,
        /// The language.
        language: &'static str,
    },
    /// The type has more separate blocks than a declaration should have fields.
    #[error("the struct would have more than {limit} fields")]
    TooManyFields {
        /// The limit.
        limit: usize,
    },
    /// No type of a record has the values.
    #[error("no type of a record has values of the dtype {dtype}")]
    NoRecord {
        /// The dtype.
        dtype: String,
    },
    /// The type has neither data nor an extent.
    #[error("the type has no bytes")]
    Empty,
}

/// A C header that declares structs with the layout of a type; the last one is the type itself. Static assertions
/// check sizes and offsets.
///
/// Names of fields are kept; letters that C does not allow become `_`, and fields without a name are numbered. Where
/// C has no type of a kind, it is one of the same size: `char32_t` for Rust's `char`, `unsigned char` for bytes.
///
/// # Errors
///
/// Why no struct has this layout and this order of packing.
///
/// ```
/// use dtype_text::{declaration, notation};
/// let parsed = notation::parse("resized(struct{x: [f64; 3], id: i32@26}, 0, 40)").unwrap();
/// let c = declaration::c_struct(&parsed)?;
/// assert!(c.contains("\
/// struct __attribute__((packed)) Record {
///     double x[3];
///     unsigned char _pad0[2];
///     int32_t id;
///     unsigned char _pad1[10];
/// };
/// "));
/// assert!(c.contains("static_assert(offsetof(struct Record, id) == 26"));
/// # Ok::<(), declaration::ExportError>(())
/// ```
pub fn c_struct(parsed: &Parsed) -> Result<String, ExportError> {
    Ok(c::write(&definition::definitions(parsed, &c::LANGUAGE)?))
}

/// A C header for the packed records of messages, which are of these types: structs without padding, the constants of their
/// enums, sizes and signatures, the tags of the kinds of message, and functions that read and write frames. `name` names the
/// enum of the messages, or a type that is one of the notation.
///
/// # Errors
///
/// The errors of [`c_struct`].
pub fn c_messages(name: &str, all: &[(Option<Message>, Parsed)]) -> Result<String, ExportError> {
    let named = |message: &Option<Message>, parsed: &Parsed| match message {
        Some(message) => format!("{name}_{}", message.name),
        None => parsed.fields.type_name(&parsed.ty).unwrap_or(name).to_owned(),
    };
    // Text is bytes, and a message without records has no type.
    let structs = all.iter().flat_map(|(message, parsed)| {
        let head = message
            .as_ref()
            .and_then(|message| Some((format!("{}Head", message.name), message.head.as_ref()?)));
        let is_text = message.as_ref().is_some_and(|message| message.is_text);
        let own = message.as_ref().map_or(name, |message| &message.name).to_owned();
        head.into_iter().chain((!is_text).then_some((own, parsed)))
    });
    let structs: Vec<(String, &Parsed)> =
        structs.filter(|(_, parsed)| parsed.ty.extent() != 0).collect();
    let structs: Vec<(&str, &Parsed)> =
        structs.iter().map(|(name, parsed)| (name.as_str(), *parsed)).collect();
    let declarations = definition::declarations(&structs, &c::OF_PEERS, true, false)?;
    let records = all.iter().map(|(message, parsed)| c::Records {
        name: named(message, parsed),
        tag: message.as_ref().map(|message| message.tag),
        head: message.as_ref().and_then(|message| message.head.as_ref()),
        parsed,
    });
    Ok(c::write_messages(&declarations, &records.collect::<Vec<_>>()))
}

/// Rust structs with the layout of a type, as [`c_struct`] writes them in C. Complex numbers are those of the crate
/// `num-complex`, and 16-bit floating-point numbers those of `half`. If a field has a name that is not one of Rust's, the
/// structs derive `dtype_runtime::Datatype`, which gives it that name.
///
/// The type of a file's records becomes a struct that the readers of `dtype-npy` and `dtype-hdf5` fill: with the derive,
/// `FixedStr`, `Timestamp` and `Maybe`. Where the file has texts, gaps or unaligned values, the struct has another layout.
///
/// # Errors
///
/// The errors of [`c_struct`].
///
/// ```
/// use dtype_text::{declaration, notation};
/// let parsed = notation::parse("struct{x: [f64; 3], type: u8}").unwrap();
/// let rust = declaration::rust_struct(&parsed)?;
/// assert!(rust.contains("\
/// pub struct Record {
///     pub x: [f64; 3],
///     pub r#type: u8,
/// }
/// "));
/// let parsed = notation::parse(r#"struct{"total blocks": i32, time: f64}"#).unwrap();
/// let rust = declaration::rust_struct(&parsed)?;
/// assert!(rust.contains(r#"
///     #[dtype(rename = "total blocks")]
///     pub total_blocks: i32,
/// "#));
/// # Ok::<(), declaration::ExportError>(())
/// ```
pub fn rust_struct(parsed: &Parsed) -> Result<String, ExportError> {
    match parsed.fields.stored() {
        Some(stored) => record::write(stored),
        None => Ok(rust::write(&definition::definitions(parsed, &rust::LANGUAGE)?)),
    }
}

/// The NumPy dtype with the layout of a type: the names of its fields, texts as `S` and `U`, and times as `M8` and `m8`.
///
/// # Errors
///
/// Why NumPy has no dtype for this layout.
///
/// ```
/// use dtype_text::declaration::{Language, numpy_dtype, parse};
/// let parsed = parse("struct P { double x[3]; int id; };", Language::C, None).unwrap();
/// assert!(numpy_dtype(&parsed)?.expression.starts_with("np.dtype({'names': ['x', 'id'], "));
/// # Ok::<(), dtype_npy::NumpyError>(())
/// ```
pub fn numpy_dtype(parsed: &Parsed) -> Result<NumpyDtype, NumpyError> {
    let name = |structure: &Type, member: usize| parsed.fields.of(structure)?.get(member)?.clone();
    let own = |ty: &Type| meant(parsed.fields.meaning(ty)?, ty.size());
    NumpyDtype::of_type_with(&parsed.ty, &NumpyOptions::memory(), name, own)
}

/// NumPy's dtype for a value with a meaning, of this size in bytes.
fn meant(meaning: Meaning, size: u64) -> Option<Dtype> {
    let (letter, unit) = match meaning {
        Meaning::Bytes => ('S', None),
        Meaning::Characters => ('U', None),
        Meaning::Time(unit) => ('M', unit),
        Meaning::Span(unit) => ('m', unit),
        _ => return None,
    };
    let dtype = Dtype::scalar(letter, size, ByteOrder::NATIVE)?;
    Some(match unit {
        Some(unit) => dtype.with_unit(unit),
        None => dtype,
    })
}
