//! Types of Rust that stand for one value: those of dtype-runtime, and the numbers of zerocopy. Debug information has their names
//! and their fields.

use dtype_npy::DateUnit;
use dtype_runtime::Basic;

use crate::names;
use crate::notation::Meaning;
use crate::structure::{Structure, What};

/// What a struct of Rust means, by its name and its fields; `None` if it means no more than these.
pub(crate) fn meaning(of: &Structure) -> Option<Meaning> {
    let name = own_name(of.name.as_deref()?);
    let (name, arguments) = name.split_once('<').unwrap_or((name, ""));
    let field = |number: usize| of.declared.get(number).map(|at| &of.members[*at]);
    let is = |number: usize, name: &str, basic: Basic| {
        field(number).is_some_and(|field| {
            field.name.as_deref() == Some(name)
                && matches!(field.of.what, What::Basic(found) if found == basic)
        })
    };
    let bytes = |number: usize| match &field(number)?.of.what {
        What::Array(array) => match (&array.element.what, &*array.lengths) {
            (What::Basic(Basic::U8), [length]) => Some(*length),
            _ => None,
        },
        _ => None,
    };
    let filled = of.members.iter().filter(|member| member.size != Some(0)).count();
    let unit = || {
        let unit = own_name(arguments.trim_end_matches('>'));
        let symbols = [
            ("Seconds", "s"),
            ("Milliseconds", "ms"),
            ("Microseconds", "us"),
            ("Nanoseconds", "ns"),
        ];
        let (_, symbol) = symbols.into_iter().find(|(name, _)| *name == unit)?;
        DateUnit::new(symbol)
    };
    let order = || match own_name(arguments.trim_end_matches('>')) {
        "BigEndian" => Some(true),
        "LittleEndian" => Some(false),
        _ => None,
    };
    match name {
        "FixedStr" if is(0, "len", Basic::U32) => bytes(1).map(|_| Meaning::Text),
        "FixedVec" if is(0, "len", Basic::U32) => match &field(1)?.of.what {
            What::Array(array) => Some(Meaning::List { capacity: *array.lengths.first()? }),
            _ => None,
        },
        "Maybe" if is(0, "present", Basic::Bool) && filled <= 2 => Some(Meaning::Optional),
        "Timestamp" if is(0, "0", Basic::I64) && filled == 1 => Some(Meaning::Time(Some(unit()?))),
        "TimeSpan" if is(0, "0", Basic::I64) && filled == 1 => Some(Meaning::Span(Some(unit()?))),
        "Uuid" if filled == 1 && bytes(0) == Some(16) => Some(Meaning::Uuid),
        _ if filled == 1 => {
            let basic = names::of_rust(&name.to_lowercase())?;
            let is_number = name.starts_with(['U', 'I', 'F']);
            let is_whole = bytes(0) == Some(basic.size() as u64) && is_number;
            is_whole.then_some(Meaning::Number { basic, is_big: order()? })
        }
        _ => None,
    }
}

/// The last part of a path.
fn own_name(path: &str) -> &str {
    let end = path.find('<').unwrap_or(path.len());
    path[..end].rfind("::").map_or(path, |at| &path[at + 2..])
}
