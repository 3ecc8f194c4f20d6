//! Whether a type made at run time names data that the elements of a slice have.
//!
//! A type says which basic data lie at which bytes. In memory of other elements, it would read padding, or write the bytes of
//! one number into another. So each datum of the type must be a datum of an element, at the same place. A slice of `u8` is
//! memory without a type, and takes any data.

use std::any::type_name;
use std::collections::BTreeSet;

use dtype_runtime::typemap::{Node, TypeMap};
use dtype_runtime::types::{Elem, Entry, Loop};
use dtype_runtime::{Basic, Datatype as Described, Packed, Type};

use crate::error::Error;

/// The data that instances of a type name in elements of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    /// Any bytes are values of them.
    Free,
    /// Some are restricted to certain values, and all are whole elements.
    Whole,
    /// Some are restricted, at this byte of an element, and not all are whole elements.
    Restricted(u64),
}

/// The data of `count` instances of a type in the memory of a `[T]`. Displacement 0 of the first one is `origin` bytes from the
/// start of an element.
pub(crate) fn data<T: Described>(ty: &Type, origin: u64, count: usize) -> Result<Data, Error> {
    let element = innermost(T::TYPE_MAP);
    if ty.size() == 0 || count == 0 || is_untyped(element) {
        return Ok(Data::Free);
    }
    let (stride, mut restricted) = (element.stride() as u64, None);
    let origin = BTreeSet::from([reduced(origin.into(), stride)]);
    let starts = repeated(&origin, count as u64, ty.extent(), stride);
    let mut compare = |run: Run, base| {
        // The later ones lie at the same offsets.
        (0..run.count.min(stride)).try_for_each(|index| {
            let offset = run.offset(base, index * run.basic.size() as u64);
            match datum(element, offset) {
                Some(datum) if datum.is(run.basic) => {
                    if datum.is_restricted {
                        restricted.get_or_insert(offset);
                    }
                    Ok(())
                }
                other => Err(Error::Memory {
                    element: type_name::<T>(),
                    offset,
                    found: run.basic.name(),
                    expected: other.map_or("no data", |datum| datum.basic.name()),
                }),
            }
        })
    };
    see(ty.description().entries(), stride, &starts, &mut compare)?;
    let Some(offset) = restricted else { return Ok(Data::Free) };
    let wholes = [Type::of::<T>(), Type::of_record::<T>()].map(|ty| innermost_of(ty, T::TYPE_MAP));
    let Some(filled) = filled(ty, &wholes, stride) else {
        return Ok(Data::Restricted(offset));
    };
    let mut is_whole = |run: Run, base| {
        let is_start = run.offset(base, 0) == 0 && run.count.is_multiple_of(stride);
        if is_start { Ok(()) } else { Err(()) }
    };
    let whole = see(filled.description().entries(), stride, &starts, &mut is_whole);
    Ok(whole.map_or(Data::Restricted(offset), |()| Data::Whole))
}

/// Checks packed bytes that are whole elements: the elements of a `[T]`, or of the arrays in it.
pub(crate) fn check_values<T: Described>(packed: &[u8]) -> Result<(), Error> {
    let (element, size) = (innermost(T::TYPE_MAP).size(), T::TYPE_MAP.size());
    if size == 0 {
        return Ok(());
    }
    let (arrays, rest) = packed.split_at(packed.len() - packed.len() % size);
    Packed::<T>::new(arrays)?;
    if !rest.is_empty() {
        // Part of an array. Its first element, which is checked anyway, stands for those that it lacks.
        let mut array = rest.to_vec();
        while array.len() < size {
            array.extend_from_within(..element);
        }
        Packed::<T>::new(&array)?;
    }
    Ok(())
}

/// The elements of arrays, at any depth; of other types the type itself.
const fn innermost(map: &'static TypeMap) -> &'static TypeMap {
    match *map.node() {
        Node::Array { element, .. } => innermost(element),
        Node::Basic { .. } | Node::Structure { .. } => map,
    }
}

/// As [`innermost`], for the type of the map.
fn innermost_of(ty: Type, map: &'static TypeMap) -> Type {
    let Node::Array { element, .. } = *map.node() else { return ty };
    match ty.contents().ok().and_then(|contents| contents.datatypes.into_iter().next()) {
        Some(inside) => innermost_of(inside, element),
        None => ty,
    }
}

/// Whether the elements are bytes.
fn is_untyped(element: &TypeMap) -> bool {
    matches!(*element.node(), Node::Basic { basic: Basic::U8, .. }) && !element.is_restricted()
}

/// Basic datatypes that touch, in a type whose displacements are reduced to offsets in an element.
#[derive(Clone, Copy)]
struct Run {
    basic: Basic,
    count: u64,
    disp: i64,
    stride: u64,
}

impl Run {
    /// The offset in an element of a byte of the run, if the displacements count from `base`.
    fn offset(self, base: u64, byte: u64) -> u64 {
        reduced(i128::from(base) + i128::from(self.disp) + i128::from(byte), self.stride)
    }
}

/// A displacement as an offset in an element of `stride` bytes.
fn reduced(displacement: i128, stride: u64) -> u64 {
    let offset = displacement.checked_rem_euclid(i128::from(stride)).unwrap_or(0);
    u64::try_from(offset).unwrap_or(0)
}

/// All offsets that repetitions lead to from those in `bases`.
fn repeated(bases: &BTreeSet<u64>, times: u64, extent: i64, stride: u64) -> BTreeSet<u64> {
    let step = i128::from(reduced(extent.into(), stride));
    let times = if step == 0 { 1 } else { times.min(stride) };
    let repeat = |&base: &u64| {
        (0..times).map(move |time| reduced(i128::from(base) + i128::from(time) * step, stride))
    };
    bases.iter().flat_map(repeat).collect()
}

/// The bytes of an element of a `[T]`; of arrays, of an element of theirs.
pub(crate) const fn stride<T: Described>() -> usize {
    innermost(T::TYPE_MAP).stride()
}

/// Passes all runs of a description's entries to `visit`, with each offset in an element from which their displacements count.
///
/// Of a long repetition, only as many are visited as have different offsets, at most one for each byte of an element.
fn see<E>(
    mut entries: &[Entry],
    stride: u64,
    bases: &BTreeSet<u64>,
    visit: &mut impl FnMut(Run, u64) -> Result<(), E>,
) -> Result<(), E> {
    loop {
        match *entries {
            [Entry::Elem(Elem { basic, count, disp, .. }), ref after @ ..] => {
                let run = Run { basic, count, disp, stride };
                bases.iter().try_for_each(|&base| visit(run, base))?;
                entries = after;
            }
            [Entry::Loop(Loop { loops, items, extent, .. }), ref after @ ..] => {
                let (body, others) = after.split_at(items);
                see(body, stride, &repeated(bases, loops, extent, stride), visit)?;
                entries = others;
            }
            [Entry::EndLoop(_), ..] | [] => return Ok(()),
        }
    }
}

/// A basic datatype at an offset in an element.
struct Datum {
    basic: Basic,
    /// The offset in the basic datatype.
    within: u64,
    is_restricted: bool,
}

impl Datum {
    /// Whether it is this basic datatype. A byte of MPI is any byte of data.
    fn is(&self, basic: Basic) -> bool {
        let is_byte = matches!(basic, Basic::Byte | Basic::Packed);
        is_byte || (self.within == 0 && self.basic.canonical() == basic.canonical())
    }
}

/// The datum at an offset; `None` if no data are there.
fn datum(map: &TypeMap, offset: u64) -> Option<Datum> {
    let is_restricted = map.has_check();
    let inside = match *map.node() {
        Node::Basic { basic, .. } => {
            let is_restricted = map.is_restricted();
            let datum = Datum { basic, within: offset, is_restricted };
            return (offset < basic.size() as u64).then_some(datum);
        }
        Node::Array { element, .. } => datum(element, offset.checked_rem(element.stride() as u64)?),
        Node::Structure { fields, .. } => fields.iter().find_map(|field| {
            let offset = offset.checked_sub(field.offset() as u64)?;
            (offset < field.size() as u64).then(|| datum(field.map()?, offset))?
        }),
    };
    inside.map(|datum| Datum { is_restricted: datum.is_restricted || is_restricted, ..datum })
}

/// The type with all bytes of an element in the place of each of the whole elements; `None` if it has other data.
fn filled(ty: &Type, wholes: &[Type], stride: u64) -> Option<Type> {
    if ty.size() == 0 {
        return Some(ty.clone());
    }
    if wholes.contains(ty) {
        return bytes_with_bounds_of(ty, stride).ok();
    }
    let mut contents = ty.contents().ok()?;
    for part in &mut contents.datatypes {
        *part = filled(part, wholes, stride)?;
    }
    contents.rebuild().ok()
}

/// Bytes with the bounds of an element. Bounds that were set outrank those of the data around, and others do not.
fn bytes_with_bounds_of(element: &Type, stride: u64) -> Result<Type, dtype_runtime::Error> {
    let byte = Type::basic(Basic::Byte);
    let beside = |at| Type::structure(&[1, 1], &[0, at], &[element.clone(), byte.clone()]);
    let mut parts = vec![(0, Type::contiguous(stride, &byte)?)];
    if beside(element.lb() - 1)?.lb() == element.lb() {
        parts.push((element.lb(), Type::lb_marker()));
    }
    if beside(element.ub())?.ub() == element.ub() {
        parts.push((element.ub(), Type::ub_marker()));
    }
    let (displacements, types): (Vec<i64>, Vec<Type>) = parts.into_iter().unzip();
    Type::structure(&vec![1; types.len()], &displacements, &types)
}

#[cfg(test)]
mod tests {
    use dtype_runtime::Datatype;

    use super::*;
    use dtype_test_support::numbers::Numbers;

    #[derive(Datatype)]
    #[repr(C)]
    struct Padded(u8, f64, [u16; 3]);

    #[derive(Datatype)]
    #[repr(C)]
    #[dtype(resize(lb = -4, extent = 12))]
    struct Flags(bool, bool, u16);

    #[derive(Datatype)]
    #[dtype(check = is_short)]
    struct Short(u8, u8);

    fn is_short(short: &Short) -> bool {
        short.0 <= short.1
    }

    /// A type of elements of a `[T]`, their parts and others.
    fn random<T: Datatype>(numbers: &mut Numbers, depth: u64) -> Type {
        if depth == 0 || numbers.below(6) == 0 {
            let basics = [Basic::U8, Basic::F64, Basic::U16, Basic::Bool, Basic::Byte];
            let wholes = [Type::of::<T>(), Type::of_record::<T>()];
            let basic = Type::basic(*numbers.one_of(&basics));
            return if numbers.below(4) == 0 { basic } else { numbers.one_of(&wholes).clone() };
        }
        let mut inside = || random::<T>(numbers, depth - 1);
        let (one, other) = (inside(), inside());
        let size = size_of::<T>() as u64;
        let mut place = || {
            let off = if numbers.below(5) == 0 { numbers.around(9) } else { 0 };
            numbers.around(4) * size.cast_signed() + off
        };
        let (first, second, extent) = (place(), place(), place());
        let (count, length) = (numbers.below(4), numbers.below(3));
        let ty = match numbers.below(7) {
            0 => Type::contiguous(count, &one),
            1 => Type::vector(count, length, numbers.around(4), &one),
            2 => Type::hvector(count, length, extent, &one),
            3 => Type::hindexed(&[count, length], &[first, second], &one),
            4 => Type::structure(&[count, length], &[first, second], &[one, other]),
            5 => Type::structure(&[1, 1], &[first, second], &[one, Type::ub_marker()]),
            _ => Type::resized(&one, first, extent),
        };
        ty.unwrap()
    }

    /// The same, one datum after the other.
    fn expected<T: Datatype>(ty: &Type, origin: u64, count: i64) -> Option<Data> {
        let stride = size_of::<T>() as u64;
        let at = |displacement: i64| i128::from(displacement) + i128::from(origin);
        let all = || {
            (0..count).flat_map(|index| {
                let start = at(index * ty.extent());
                ty.type_map()
                    .map(move |entry| (entry.basic, start + i128::from(entry.displacement)))
            })
        };
        let mut is_restricted = false;
        for (basic, place) in all() {
            let datum =
                datum(T::TYPE_MAP, reduced(place, stride)).filter(|datum| datum.is(basic))?;
            is_restricted |= datum.is_restricted;
        }
        if !is_restricted {
            return Some(Data::Free);
        }
        let whole: Vec<_> = Type::of_record::<T>().type_map().collect();
        let all: Vec<_> = all().collect();
        let is_whole = all.chunks(whole.len()).all(|chunk| {
            let start = chunk[0].1 - i128::from(whole[0].displacement);
            chunk.len() == whole.len()
                && reduced(start, stride) == 0
                && chunk.iter().zip(&whole).all(|(&(basic, place), whole)| {
                    basic == whole.basic && place == start + i128::from(whole.displacement)
                })
        });
        Some(if is_whole { Data::Whole } else { Data::Restricted(0) })
    }

    fn compare<T: Datatype>(seed: u64) -> [u32; 4] {
        let mut numbers = Numbers(seed);
        let mut found = [0; 4];
        for _ in 0..20_000 {
            let depth = numbers.below(4);
            let ty = random::<T>(&mut numbers, depth);
            let origin = if numbers.below(3) == 0 { numbers.below(40) } else { 0 };
            let count = numbers.below(4);
            if ty.size() == 0 || count == 0 || ty.elements() > 5000 {
                continue;
            }
            let data = data::<T>(&ty, origin, usize::try_from(count).unwrap()).ok();
            let expected = expected::<T>(&ty, origin, count.cast_signed());
            let kind = match (data, expected) {
                (None, None) => 0,
                (Some(Data::Free), Some(Data::Free)) => 1,
                // Elements that are put together of their data are whole, but are not recognised.
                (Some(Data::Restricted(_)), Some(Data::Restricted(_) | Data::Whole)) => 2,
                (Some(Data::Whole), Some(Data::Whole)) => 3,
                different => panic!("{different:?}, {count} at {origin}: {:?}", ty.description()),
            };
            found[kind] += 1;
        }
        found
    }

    #[test]
    fn random_types_name_what_each_of_their_data_names() {
        let seen = |found: [u32; 4], kinds: &[usize]| {
            assert!(kinds.iter().all(|&kind| found[kind] > 20), "{found:?}");
        };
        seen(compare::<f64>(1), &[0, 1]);
        seen(compare::<Padded>(2), &[0, 1]);
        seen(compare::<Flags>(3), &[0, 1, 2, 3]);
        seen(compare::<Short>(4), &[0, 2, 3]);
        seen(compare::<(u8, bool, f64)>(5), &[0, 1, 2, 3]);
    }
}
