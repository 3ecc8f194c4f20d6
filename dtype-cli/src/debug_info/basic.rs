//! The basic datatypes that compilers name in debug information.

use dtype_runtime::Basic;
use dtype_runtime::basic::Kind;
use gimli::{DwAte, DwLang, constants as dw};

use crate::value::of_size;
use dtype_text::declaration::{Words, header_type};

/// The basic datatype with this encoding, or else a description of the type.
pub(super) fn basic(
    name: &str,
    encoding: DwAte,
    size: u64,
    language: Option<DwLang>,
) -> Result<Basic, String> {
    let fits = |basic: &Basic| basic.size() as u64 == size;
    if let Some(basic) = by_words(name).filter(fits) {
        return Ok(basic);
    }
    let is = |word: &str| name.contains(word);
    let is_quad = is("128") || is("kind=16") || is("__ieee128");
    let kind = match encoding {
        dw::DW_ATE_boolean => Kind::Logical,
        dw::DW_ATE_float => Kind::Float,
        dw::DW_ATE_complex_float => Kind::Complex,
        dw::DW_ATE_signed | dw::DW_ATE_signed_char => Kind::Integer,
        dw::DW_ATE_unsigned | dw::DW_ATE_unsigned_char | dw::DW_ATE_UTF => Kind::Unsigned,
        dw::DW_ATE_address => return Err("an address".into()),
        dw::DW_ATE_decimal_float => return Err("a decimal floating-point number".into()),
        _ => return Err(unknown(name, size)),
    };
    let is_one = size == 1 && matches!(encoding, dw::DW_ATE_signed_char | dw::DW_ATE_unsigned_char);
    let found = match (kind, size) {
        (Kind::Float, 2) if is("bf16") || is("bfloat16") => Some(Basic::Bf16),
        (Kind::Float, 16) if is_quad => Some(Basic::Real16),
        (Kind::Complex, 32) if is_quad => Some(Basic::Complex32),
        _ if is_one && is("character") => Some(Basic::CChar),
        (_, 4) if encoding == dw::DW_ATE_UTF && language == Some(dw::DW_LANG_Rust) => {
            Some(Basic::Char)
        }
        _ => of_size(kind, size),
    };
    found.ok_or_else(|| unknown(name, size))
}

fn unknown(name: &str, size: u64) -> String {
    format!("a `{name}` of {size} bytes, which is no basic datatype")
}

/// The type that words of C name, such as `long unsigned int`.
fn by_words(name: &str) -> Option<Basic> {
    let mut words = Words::default();
    let is_c = name.split(' ').all(|word| words.add(word));
    is_c.then(|| words.basic())?
}

/// The type that headers name so, for example `int32_t`, if it has the values of `basic`.
pub(super) fn of_header(name: &str, basic: Basic) -> Option<Basic> {
    let is_number = |basic: Basic| match basic.kind() {
        Kind::Unsigned | Kind::Character => Kind::Integer,
        other => other,
    };
    let named = header_type(name)?;
    (named.size() == basic.size() && is_number(named) == is_number(basic)).then_some(named)
}
