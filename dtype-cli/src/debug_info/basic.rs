//! The basic datatypes that compilers name in debug information.

use dtype_runtime::Basic;
use dtype_runtime::basic::Kind;
use gimli::{DwAte, DwLang, constants as dw};

use crate::declaration::{Words, header_type};

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
    let found = match (encoding, size) {
        (dw::DW_ATE_boolean, 1) => Basic::Bool,
        (dw::DW_ATE_boolean, 4) => Basic::Logical,
        (dw::DW_ATE_float, 2) if is("bf16") || is("bfloat16") => Basic::Bf16,
        (dw::DW_ATE_float, 2) => Basic::F16,
        (dw::DW_ATE_float, 4) => Basic::F32,
        (dw::DW_ATE_float, 8) => Basic::F64,
        (dw::DW_ATE_float, 16) if is_quad => Basic::Real16,
        (dw::DW_ATE_float, _) => Basic::LongDouble,
        (dw::DW_ATE_complex_float, 4) => Basic::Complex4,
        (dw::DW_ATE_complex_float, 8) => Basic::C32,
        (dw::DW_ATE_complex_float, 16) => Basic::C64,
        (dw::DW_ATE_complex_float, 32) if is_quad => Basic::Complex32,
        (dw::DW_ATE_complex_float, _) => Basic::LongDoubleComplex,
        (dw::DW_ATE_UTF, 4) if language == Some(dw::DW_LANG_Rust) => Basic::Char,
        (dw::DW_ATE_signed_char | dw::DW_ATE_unsigned_char, 1) if is("character") => Basic::CChar,
        (dw::DW_ATE_signed | dw::DW_ATE_signed_char, 1) => Basic::I8,
        (dw::DW_ATE_signed, 2) => Basic::I16,
        (dw::DW_ATE_signed, 4) => Basic::I32,
        (dw::DW_ATE_signed, 8) => Basic::I64,
        (dw::DW_ATE_signed, 16) => Basic::I128,
        (dw::DW_ATE_unsigned | dw::DW_ATE_unsigned_char | dw::DW_ATE_UTF, 1) => Basic::U8,
        (dw::DW_ATE_unsigned | dw::DW_ATE_UTF, 2) => Basic::U16,
        (dw::DW_ATE_unsigned | dw::DW_ATE_UTF, 4) => Basic::U32,
        (dw::DW_ATE_unsigned, 8) => Basic::U64,
        (dw::DW_ATE_unsigned, 16) => Basic::U128,
        (dw::DW_ATE_address, _) => return Err("an address".into()),
        (dw::DW_ATE_decimal_float, _) => return Err("a decimal floating-point number".into()),
        _ => return Err(unknown(name, size)),
    };
    Some(found).filter(fits).ok_or_else(|| unknown(name, size))
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
