//! Determines whether the structures of the Open MPI in this process are known.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use dtype_runtime::Basic;

use super::layout::{CONVERTOR_SIZES, Class, Datatype};
use crate::boundary::contain;
use crate::mode::Mode;
use crate::original::next;
use crate::report;

/// A version that this library was compared with.
struct Version {
    prefix: &'static str,
    /// The number of predefined types, including those without data.
    predefined: usize,
    /// Whether its receiver writes parts of values to wrong displacements. (5.0.11: the first part of a value that begins a
    /// block.)
    whole_values: bool,
}

const VERSIONS: [Version; 2] = [
    Version { prefix: "4.1.", predefined: 26, whole_values: false },
    Version { prefix: "5.0.", predefined: MAX_PREDEFINED, whole_values: true },
];

/// The maximum number of predefined types in any known version.
const MAX_PREDEFINED: usize = 28;

/// The number of the first predefined type with data.
const FIRST: usize = 4;

/// Facts about a library of a known version.
#[derive(Debug)]
pub(super) struct Supported {
    /// The basic types by their numbers, with their sizes in bytes.
    basics: Basics,
    /// Whether a fragment for the library must end with a whole value.
    pub(super) whole_values: bool,
}

type Basics = [Option<(Option<Basic>, usize)>; MAX_PREDEFINED];

impl Supported {
    /// The basic type with this number, if it is known, and the size of a value; `None` if no type has the number.
    pub(super) fn basic(&self, kind: u16) -> Option<(Option<Basic>, usize)> {
        *self.basics.get(usize::from(kind))?
    }
}

static FOUND: OnceLock<Option<Supported>> = OnceLock::new();

/// The library, if the mode is not `off` and its structures are known. The first call determines this.
#[inline]
pub(super) fn get() -> Option<&'static Supported> {
    FOUND.get_or_init(|| contain(|| Mode::get().on.then(look).flatten()).flatten()).as_ref()
}

/// Whether [`get`] has found a library.
#[inline]
pub(super) fn is_known() -> bool {
    FOUND.get().is_some_and(Option::is_some)
}

/// Once [`is_known`], messages that gain nothing are left to the library without being counted.
#[inline]
pub(super) fn is_silent() -> bool {
    SILENT.load(Ordering::Acquire)
}

static SILENT: AtomicBool = AtomicBool::new(false);

fn look() -> Option<Supported> {
    let version = text(next(c"opal_version_string"));
    match check(&version) {
        Ok(found) => {
            report::begin(Ok(format!("Open MPI {version}")));
            let mode = Mode::get();
            SILENT.store(!mode.reports() && !mode.all, Ordering::Release);
            Some(found)
        }
        Err(why) => {
            report::begin(Err(format!("Open MPI {version}: {why}")));
            None
        }
    }
}

/// A text constant of the library; empty if the library has no constant of this name.
fn text(at: *mut c_void) -> String {
    if at.is_null() {
        return String::new();
    }
    // SAFETY: an array of characters that ends with a zero, because this function is only used for such constants.
    unsafe { CStr::from_ptr(at.cast::<c_char>()) }.to_string_lossy().into_owned()
}

fn check(version: &str) -> Result<Supported, String> {
    let Some(known) = VERSIONS.iter().find(|known| version.starts_with(known.prefix)) else {
        let known = VERSIONS.map(|known| known.prefix);
        return Err(format!("only the versions {}x are known", known.join("x and ")));
    };
    check_size(c"opal_convertor_t_class", "opal_convertor_t", &CONVERTOR_SIZES)?;
    check_size(c"opal_datatype_t_class", "opal_datatype_t", &[size_of::<Datatype>()])?;
    Ok(Supported { basics: basics(known.predefined)?, whole_values: known.whole_values })
}

/// Checks the size of an object.
fn check_size(class: &CStr, name: &str, known: &[usize]) -> Result<(), String> {
    let class = next(class).cast::<Class>();
    if class.is_null() {
        return Err(format!("it has no class {name}"));
    }
    // SAFETY: the object of this name is a class in all versions, and classes have not changed between them.
    let (found, size) = unsafe { (text((*class).name.cast_mut().cast()), (*class).size) };
    if found != name || !known.contains(&size) {
        return Err(format!(
            "its {found} has {size} bytes, and {name} with {known:?} bytes is known"
        ));
    }
    Ok(())
}

/// Reads the predefined types, and checks that their structures agree with each other.
fn basics(predefined: usize) -> Result<Basics, String> {
    let table = next(c"opal_datatype_basicDatatypes").cast::<*const Datatype>();
    if table.is_null() {
        return Err("it has no table of predefined types".to_owned());
    }
    let mut basics = [None; MAX_PREDEFINED];
    for (number, slot) in basics.iter_mut().enumerate().take(predefined).skip(FIRST) {
        // SAFETY: the table has more entries than are read; each is the address of a constant datatype, of the size
        // that was checked.
        let (name, id, size, desc) = unsafe {
            let datatype = *table.add(number);
            if datatype.is_null() {
                continue;
            }
            let name = CStr::from_ptr(ptr::addr_of!((*datatype).name).cast::<c_char>());
            let name = name.to_string_lossy().into_owned();
            (name, (*datatype).id, (*datatype).size, (*datatype).desc)
        };
        // If the library's compiler lacks a type, the table has another one in its place.
        if usize::from(id) != number || !name.starts_with("OPAL_") || size == 0 {
            continue;
        }
        // SAFETY: the description of a predefined type has one entry, filled before a message can be sent.
        let elem = unsafe { (!desc.entries.is_null()).then(|| (*desc.entries).elem) };
        if desc.used != 1 || elem.is_none_or(|elem| usize::from(elem.head.kind) != number) {
            return Err(format!("the description of its type {name} is not known"));
        }
        *slot = Some((basic(&name, size), size));
    }
    if basics.iter().flatten().count() < 10 {
        return Err("it has fewer predefined types than are known".to_owned());
    }
    Ok(basics)
}

/// The basic type of this name, if it has this size. Only pictures and comparisons need more than the size.
fn basic(name: &str, size: usize) -> Option<Basic> {
    let basic = match name {
        "OPAL_INT1" => Basic::I8,
        "OPAL_INT2" => Basic::I16,
        "OPAL_INT4" => Basic::I32,
        "OPAL_INT8" | "OPAL_LONG" => Basic::I64,
        "OPAL_UINT1" => Basic::U8,
        "OPAL_UINT2" => Basic::U16,
        "OPAL_UINT4" => Basic::U32,
        "OPAL_UINT8" | "OPAL_UNSIGNED_LONG" => Basic::U64,
        "OPAL_FLOAT4" => Basic::F32,
        "OPAL_FLOAT8" => Basic::F64,
        "OPAL_FLOAT_COMPLEX" => Basic::C32,
        "OPAL_DOUBLE_COMPLEX" => Basic::C64,
        "OPAL_BOOL" => Basic::Bool,
        // If both have 16 bytes, one of them is C's `long double` and the other Fortran's `real(16)`.
        "OPAL_FLOAT12" | "OPAL_FLOAT16" => Basic::LongDouble,
        "OPAL_LONG_DOUBLE_COMPLEX" => Basic::LongDoubleComplex,
        _ => return None,
    };
    (basic.size() == size).then_some(basic)
}
