//! Datatypes of the fields that two dtypes have in common.

use dtype_npy::{Dtype, Kind};
use dtype_runtime::{Error, Type};

fn repeated(lengths: &[u64], element: &Type) -> Result<Type, Error> {
    // An array of dtypes has at most `i64::MAX` bytes, but elements without bytes can be any number.
    Type::contiguous(lengths.iter().fold(1_u64, |all, length| all.saturating_mul(*length)), element)
}

fn structure(
    offsets: impl Iterator<Item = u64>,
    types: &[Type],
    itemsize: u64,
) -> Result<Type, Error> {
    // No offset or size of a dtype exceeds `i64::MAX`.
    let offsets: Vec<i64> = offsets.map(u64::cast_signed).collect();
    let all = Type::structure(&vec![1; types.len()], &offsets, types)?;
    Type::resized(&all, 0, itemsize.cast_signed())
}

/// How the bytes of a value become those of the same value in another dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// As they are.
    Moved,
    /// In the opposite order.
    Reversed,
    /// By NumPy: the values are of another kind or width.
    Cast,
}

/// The values of two dtypes that correspond in the same way.
pub(crate) struct Common {
    pub(crate) from: Type,
    pub(crate) to: Type,
    /// The same values without padding.
    pub(crate) packed: Type,
}

/// Why the fields of one dtype cannot be copied to another.
pub(crate) type Refusal = String;

/// The path of a field within an item.
pub(crate) fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// A field's name in a message, in front of what is said of it.
pub(crate) fn named(path: &str) -> String {
    if path.is_empty() { "the item".to_owned() } else { format!("field `{path}`") }
}

/// A function for a path of names, the dtypes there, and how the values correspond.
pub(crate) type Visit<'a> = dyn FnMut(&[String], &Dtype, &Dtype, How) + 'a;

/// Calls `visit` with the path, both dtypes and the way of each value of `to`, which `from` must have under the same name.
pub(crate) fn correspond(
    from: &Dtype,
    to: &Dtype,
    path: &mut Vec<String>,
    visit: &mut Visit<'_>,
) -> Result<(), Refusal> {
    let ((theirs, inner_from), (ours, inner_to)) = (from.axes(), to.axes());
    if theirs != ours {
        let name = named(&path.join("."));
        return Err(format!("{name} has the shape {theirs:?} in the source, expected {ours:?}"));
    }
    match (inner_from.kind(), inner_to.kind()) {
        (Kind::Structure { fields: theirs }, Kind::Structure { fields: ours }) => {
            for field in ours {
                path.push(field.name.clone());
                let Some(their) = theirs.iter().find(|their| their.name == field.name) else {
                    return Err(format!("{} is not in the source", named(&path.join("."))));
                };
                correspond(&their.dtype, &field.dtype, path, visit)?;
                path.pop();
            }
        }
        (Kind::Structure { .. }, _) => {
            let name = named(&path.join("."));
            return Err(format!("{name} is a structure in the source, expected {inner_to}"));
        }
        (_, Kind::Structure { .. }) => {
            let name = named(&path.join("."));
            return Err(format!("{name} is {inner_from} in the source, expected a structure"));
        }
        _ => visit(path, inner_from, inner_to, way(inner_from, inner_to)),
    }
    Ok(())
}

fn way(from: &Dtype, to: &Dtype) -> How {
    match (from.kind(), to.kind()) {
        (
            Kind::Scalar { letter, order, unit },
            Kind::Scalar { letter: wanted, order: wanted_order, unit: wanted_unit },
        ) if (letter, unit) == (wanted, wanted_unit) && from.itemsize() == to.itemsize() => {
            if order == wanted_order { How::Moved } else { How::Reversed }
        }
        _ => How::Cast,
    }
}

/// The values that correspond in this way, in the order of `to`; `None` if there are none. The dtypes have passed
/// [`correspond`].
pub(crate) fn common(from: &Dtype, to: &Dtype, how: How) -> Result<Option<Common>, Error> {
    match (from.kind(), to.kind()) {
        (Kind::Array { lengths, element }, Kind::Array { element: inner, .. }) => {
            let Some(one) = common(element, inner, how)? else { return Ok(None) };
            Ok(Some(Common {
                from: repeated(lengths, &one.from)?,
                to: repeated(lengths, &one.to)?,
                packed: repeated(lengths, &one.packed)?,
            }))
        }
        (Kind::Structure { fields: theirs }, Kind::Structure { fields: ours }) => {
            let (mut places, mut all, mut size) = (Vec::new(), Vec::new(), 0);
            for field in ours {
                let Some(their) = theirs.iter().find(|their| their.name == field.name) else {
                    continue;
                };
                if let Some(one) = common(&their.dtype, &field.dtype, how)? {
                    places.push((their.offset, field.offset, size));
                    size += one.packed.size();
                    all.push(one);
                }
            }
            if all.is_empty() {
                return Ok(None);
            }
            let types = |of: fn(&Common) -> &Type| {
                all.iter().map(|one| of(one).clone()).collect::<Vec<_>>()
            };
            let at = |of: fn(&(u64, u64, u64)) -> u64| places.iter().map(of);
            Ok(Some(Common {
                from: structure(at(|place| place.0), &types(|one| &one.from), from.itemsize())?,
                to: structure(at(|place| place.1), &types(|one| &one.to), to.itemsize())?,
                packed: structure(at(|place| place.2), &types(|one| &one.packed), size)?,
            }))
        }
        _ if way(from, to) == how => {
            let one = to.datatype()?;
            Ok(Some(Common { from: one.clone(), to: one.clone(), packed: one }))
        }
        _ => Ok(None),
    }
}
