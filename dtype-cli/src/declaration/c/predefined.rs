//! The macros that a C compiler of this system defines itself, and those of other systems, which it does not define.

use std::ffi::{c_char, c_int, c_long, c_longlong, c_short};
use std::fmt::Write;
use std::sync::LazyLock;

use dtype_runtime::Basic;
use dtype_runtime::basic::Kind;

/// Macros that are 1 if they are defined, and whether they are.
const SYSTEM: &[(&str, bool)] = &[
    ("__STDC__", true),
    ("__STDC_HOSTED__", true),
    ("__cplusplus", false),
    ("_MSC_VER", false),
    ("_WIN32", false),
    ("_WIN64", false),
    ("WIN32", false),
    ("__MINGW32__", false),
    ("__CYGWIN__", cfg!(target_os = "cygwin")),
    ("__APPLE__", cfg!(target_vendor = "apple")),
    ("__FreeBSD__", cfg!(target_os = "freebsd")),
    ("__linux__", cfg!(target_os = "linux")),
    ("__linux", cfg!(target_os = "linux")),
    ("__gnu_linux__", cfg!(all(target_os = "linux", target_env = "gnu"))),
    ("__ELF__", cfg!(target_os = "linux")),
    ("__unix__", cfg!(not(target_vendor = "apple"))),
    ("__unix", cfg!(not(target_vendor = "apple"))),
    ("__LP64__", cfg!(target_pointer_width = "64")),
    ("_LP64", cfg!(target_pointer_width = "64")),
    ("__CHAR_UNSIGNED__", c_char::MIN == 0),
    ("__x86_64__", cfg!(target_arch = "x86_64")),
    ("__x86_64", cfg!(target_arch = "x86_64")),
    ("__amd64__", cfg!(target_arch = "x86_64")),
    ("__amd64", cfg!(target_arch = "x86_64")),
    ("__i386__", cfg!(target_arch = "x86")),
    ("__aarch64__", cfg!(target_arch = "aarch64")),
    ("__arm__", cfg!(target_arch = "arm")),
    ("__powerpc64__", cfg!(target_arch = "powerpc64")),
    ("__riscv", cfg!(any(target_arch = "riscv32", target_arch = "riscv64"))),
];

/// Macros whose value is a size, or a byte order.
const VALUES: &[(&str, usize)] = &[
    ("__CHAR_BIT__", 8),
    ("__SIZEOF_SHORT__", size_of::<c_short>()),
    ("__SIZEOF_INT__", size_of::<c_int>()),
    ("__SIZEOF_LONG__", size_of::<c_long>()),
    ("__SIZEOF_LONG_LONG__", size_of::<c_longlong>()),
    ("__SIZEOF_POINTER__", size_of::<usize>()),
    ("__SIZEOF_SIZE_T__", size_of::<usize>()),
    ("__SIZEOF_PTRDIFF_T__", size_of::<usize>()),
    ("__SIZEOF_FLOAT__", 4),
    ("__SIZEOF_DOUBLE__", 8),
    ("__SIZEOF_WINT_T__", 4),
    ("__ORDER_LITTLE_ENDIAN__", 1234),
    ("__ORDER_BIG_ENDIAN__", 4321),
    ("__ORDER_PDP_ENDIAN__", 3412),
    ("__BYTE_ORDER__", if cfg!(target_endian = "big") { 4321 } else { 1234 }),
    ("__FLOAT_WORD_ORDER__", if cfg!(target_endian = "big") { 4321 } else { 1234 }),
];

/// The integer of 64 bits, and that of a pointer's size.
const INT64: Basic = if cfg!(all(target_pointer_width = "64", not(target_vendor = "apple"))) {
    Basic::Long
} else {
    Basic::LongLong
};
const POINTER: Basic = if cfg!(target_pointer_width = "64") { Basic::Long } else { Basic::Int };

/// A wide character has no sign on Arm, unless Apple makes the system.
const WCHAR: Basic =
    if cfg!(all(any(target_arch = "aarch64", target_arch = "arm"), not(target_vendor = "apple"))) {
        Basic::Unsigned
    } else {
        Basic::Int
    };

/// Integers that have the macros `__NAME_TYPE__`, `__NAME_MAX__` and `__NAME_WIDTH__`, with those that they have, and
/// whether `__UNAME_TYPE__` and `__UNAME_MAX__` belong to them.
const INTEGERS: &[(&str, Basic, &str, bool)] = &[
    ("SCHAR", Basic::SignedChar, "MW", false),
    ("SHRT", Basic::Short, "MW", false),
    ("INT", Basic::Int, "MW", false),
    ("LONG", Basic::Long, "MW", false),
    ("LONG_LONG", Basic::LongLong, "MW", false),
    ("INT8", Basic::SignedChar, "TM", true),
    ("INT16", Basic::Short, "TM", true),
    ("INT32", Basic::Int, "TM", true),
    ("INT64", INT64, "TM", true),
    ("INT_LEAST8", Basic::SignedChar, "TMW", true),
    ("INT_LEAST16", Basic::Short, "TMW", true),
    ("INT_LEAST32", Basic::Int, "TMW", true),
    ("INT_LEAST64", INT64, "TMW", true),
    ("INTMAX", INT64, "TMW", true),
    ("INTPTR", POINTER, "TMW", true),
    ("PTRDIFF", POINTER, "TMW", false),
    ("SIZE", unsigned(POINTER), "TMW", false),
    ("WCHAR", WCHAR, "TMW", false),
    (
        "WINT",
        if cfg!(target_vendor = "apple") { Basic::Int } else { Basic::Unsigned },
        "TMW",
        false,
    ),
    ("SIG_ATOMIC", Basic::Int, "TMW", false),
    ("CHAR16", Basic::UnsignedShort, "T", false),
    ("CHAR32", Basic::Unsigned, "T", false),
];

const fn unsigned(basic: Basic) -> Basic {
    match basic {
        Basic::SignedChar => Basic::UnsignedChar,
        Basic::Short => Basic::UnsignedShort,
        Basic::Int => Basic::Unsigned,
        Basic::Long => Basic::UnsignedLong,
        _ => Basic::UnsignedLongLong,
    }
}

/// The lines that define these macros. Only compilers of Unix have most of them.
pub(super) static LINES: LazyLock<String> = LazyLock::new(|| {
    let mut lines = String::new();
    for (name, _) in SYSTEM.iter().filter(|(name, is_defined)| *is_defined && is_known(name)) {
        define(&mut lines, name, "1");
    }
    if !cfg!(unix) {
        return lines;
    }
    for (name, value) in VALUES {
        define(&mut lines, name, &value.to_string());
    }
    for (name, basic) in
        [("LONG_DOUBLE", Basic::LongDouble), ("WCHAR_T", Basic::WideChar), ("INT128", Basic::I128)]
    {
        if basic != Basic::I128 || cfg!(target_pointer_width = "64") {
            define(&mut lines, &format!("__SIZEOF_{name}__"), &basic.size().to_string());
        }
    }
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        define(&mut lines, "__BIGGEST_ALIGNMENT__", "16");
    }
    for (name, basic, has, has_unsigned) in INTEGERS {
        integer(&mut lines, name, *basic, has);
        if *has_unsigned {
            integer(&mut lines, &format!("U{name}"), unsigned(*basic), "TM");
        }
    }
    lines
});

fn define(lines: &mut String, name: &str, value: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(lines, "#define {name} {value}");
}

/// Defines the macros of an integer: `T` is its type, `M` its greatest value, `W` its width.
fn integer(lines: &mut String, name: &str, basic: Basic, has: &str) {
    let is_unsigned = basic.kind() == Kind::Unsigned;
    let width = 8 * basic.size();
    let (word, suffix) = match if is_unsigned { basic } else { unsigned(basic) } {
        Basic::UnsignedChar => ("char", ""),
        Basic::UnsignedShort => ("short", ""),
        Basic::Unsigned => ("int", "U"),
        Basic::UnsignedLong => ("long", "UL"),
        _ => ("long long", "ULL"),
    };
    let sign = if is_unsigned { "unsigned" } else { "signed" };
    let suffix = if is_unsigned { suffix } else { suffix.trim_start_matches('U') };
    let most = u128::MAX >> (128 - width + usize::from(!is_unsigned));
    for (letter, what, value) in [
        ('T', "TYPE", format!("{sign} {word}")),
        ('M', "MAX", format!("{most:#x}{suffix}")),
        ('W', "WIDTH", width.to_string()),
    ] {
        if has.contains(letter) {
            define(lines, &format!("__{name}_{what}__"), &value);
        }
    }
}

fn is_known(name: &str) -> bool {
    cfg!(unix) || ["__STDC__", "__cplusplus"].contains(&name)
}

/// Whether no compiler of this system defines a macro.
pub(super) fn is_absent(name: &str) -> bool {
    SYSTEM.iter().any(|(one, is_defined)| *one == name && !is_defined && is_known(name))
}
