//! Random nested types, small enough to be written out.

use arbitrary::{Result, Unstructured};
use dtype_runtime::Basic;
use dtype_runtime::types::{Distribution, Order, Pair};
use dtype_test_support::model::Tree;

/// The maximum number of basic datatypes of one instance.
const MAX_ELEMENTS: u64 = 1 << 9;

/// Basic datatypes that have other widths or formats on other machines.
const CHANGING: [Basic; 7] = [
    Basic::Long,
    Basic::UnsignedLong,
    Basic::Aint,
    Basic::WideChar,
    Basic::Logical,
    Basic::LongDouble,
    Basic::LongDoubleComplex,
];

/// How deeply the constructors nest.
const MAX_DEPTH: u32 = 5;

/// A tree of calls.
pub(super) fn tree(input: &mut Unstructured<'_>) -> Result<Tree> {
    Ok(nested(input, MAX_DEPTH, MAX_ELEMENTS)?.0)
}

/// A tree, and the maximum number of its elements and markers.
type Counted = (Tree, u64);

fn nested(input: &mut Unstructured<'_>, depth: u32, max: u64) -> Result<Counted> {
    if depth == 0 || input.is_empty() || input.ratio(1, 5)? {
        return leaf(input);
    }
    let call = input.int_in_range(0..=13)?;
    if call > 11 {
        return members(input, depth, max, call == 12);
    }
    let (old, each) = nested(input, depth - 1, max)?;
    let (old, most) = (Box::new(old), max / each.max(1));
    Ok(match call {
        0 if input.arbitrary()? => (Tree::Dup(old), each),
        0 => columns(input, most, old, each)?,
        // A resized type has markers even if it has no data.
        1 => (Tree::Resized(old, input.int_in_range(-10..=10)?, place(input)?), each.max(1)),
        2 => {
            let count = count(input, most)?;
            (Tree::Contiguous(count, old), count * each)
        }
        3 => {
            let (count, length) = rectangle(input, most)?;
            let stride = input.int_in_range(-3..=6)?;
            (Tree::Vector(count, length, stride, old), count * length * each)
        }
        4 => {
            let (count, length) = rectangle(input, most)?;
            (Tree::Hvector(count, length, place(input)?, old), count * length * each)
        }
        5 => {
            let blocks = blocks(input, most, |input| input.int_in_range(-6..=12))?;
            let length = blocks.iter().map(|block| block.0).sum::<u64>();
            (Tree::Indexed(blocks, old), length * each)
        }
        6 => {
            let blocks = blocks(input, most, place)?;
            let length = blocks.iter().map(|block| block.0).sum::<u64>();
            (Tree::Hindexed(blocks, old), length * each)
        }
        7 => {
            let blocks = ascending(input, most)?;
            let length = blocks.iter().map(|block| block.0).sum::<u64>();
            (Tree::Indexed(blocks, old), length * each)
        }
        8 => {
            let length = count(input, most / 8)?.max(1);
            let blocks = ascending(input, most / length)?;
            let places: Vec<i64> = blocks.iter().map(|block| block.1).collect();
            let all = length * places.len() as u64 * each;
            (Tree::IndexedBlock(length, places, old), all)
        }
        9 => {
            let length = count(input, most / 8)?.max(1);
            let blocks = blocks(input, most / length, place)?;
            let places: Vec<i64> = blocks.iter().map(|block| block.1).collect();
            let all = length * places.len() as u64 * each;
            (Tree::HindexedBlock(length, places, old), all)
        }
        10 => subarray(input, most, old, each)?,
        _ => darray(input, most, old, each)?,
    })
}

/// A leaf of the tree.
fn leaf(input: &mut Unstructured<'_>) -> Result<Counted> {
    let unnamed = [(Basic::F64, Basic::U64), (Basic::I8, Basic::F64), (Basic::U16, Basic::U8)];
    Ok(match input.int_in_range(0..=9)? {
        0 => (Tree::LbMarker, 1),
        1 => (Tree::UbMarker, 1),
        2 => (Tree::Pair(*input.choose(Pair::ALL)?), 2),
        3 => {
            let (value, index) = *input.choose(&unnamed)?;
            (Tree::ValueIndex(value, index), 2)
        }
        4 => (Tree::F90Real(Some(input.int_in_range(0..=33)?), None), 1),
        5 => (Tree::F90Integer(input.int_in_range(0..=38)?), 1),
        6 => (Tree::Basic(*input.choose(&CHANGING)?), 1),
        _ => (Tree::Basic(*input.choose(Basic::ALL)?), 1),
    })
}

/// A number of repetitions: sometimes none, and in one case of four as many as the kernels for many blocks need.
pub(super) fn count(input: &mut Unstructured<'_>, most: u64) -> Result<u64> {
    if most == 0 {
        return Ok(0);
    }
    let byte = input.int_in_range(0..=255)?;
    Ok(if byte < 192 { byte % (most.min(8) + 1) } else { most.min(byte - 192) })
}

/// A number of blocks, and the length of each.
fn rectangle(input: &mut Unstructured<'_>, most: u64) -> Result<(u64, u64)> {
    let blocks = count(input, most)?;
    Ok((blocks, count(input, most / blocks.max(8))?))
}

/// Columns of a matrix with short elements and long rows.
fn columns(input: &mut Unstructured<'_>, most: u64, old: Box<Tree>, each: u64) -> Result<Counted> {
    let (columns, rows) = (input.int_in_range(1..=20)?, input.int_in_range(1..=24)?);
    if columns * rows > most {
        return Ok((Tree::Dup(old), each));
    }
    let (apart, row) = (input.int_in_range(-40..=40)?, input.int_in_range(-300..=300)?);
    let column = Tree::Hvector(rows, 1, row, old);
    Ok((Tree::Hvector(columns, 1, apart, Box::new(column)), columns * rows * each))
}

/// A number of bytes, which is usually a multiple of eight.
fn place(input: &mut Unstructured<'_>) -> Result<i64> {
    let number: i8 = input.arbitrary()?;
    Ok(if number % 4 == 0 { number.into() } else { 8 * i64::from(number / 4) })
}

/// A few blocks at any displacement.
fn blocks(
    input: &mut Unstructured<'_>,
    most: u64,
    mut place: impl FnMut(&mut Unstructured<'_>) -> Result<i64>,
) -> Result<Vec<(u64, i64)>> {
    let number = input.int_in_range(0..=5.min(most))?;
    (0..number).map(|_| Ok((count(input, most / number)?.max(1) - 1, place(input)?))).collect()
}

/// Up to a few dozen blocks in ascending order, some of them adjacent, so that a plan keeps them in a list.
fn ascending(input: &mut Unstructured<'_>, most: u64) -> Result<Vec<(u64, i64)>> {
    let number = input.int_in_range(0..=60.min(most / 4))?;
    let mut at = input.int_in_range(-9..=9)?;
    let mut blocks = Vec::new();
    for _ in 0..number {
        let shape: u8 = input.arbitrary()?;
        let length = u64::from(shape % 4);
        blocks.push((length, at));
        at += length as i64 + i64::from(shape / 4 % 4) - i64::from(shape >= 0xF8);
    }
    Ok(blocks)
}

/// Members at any displacement, or repeated fields.
fn members(
    input: &mut Unstructured<'_>,
    depth: u32,
    max: u64,
    is_structure: bool,
) -> Result<Counted> {
    let number = input.int_in_range(0..=4)?;
    let (mut members, mut all) = (Vec::new(), 0);
    for _ in 0..number {
        let (old, each) = nested(input, depth - 1, max / number)?;
        let length = if is_structure { count(input, max / number / each.max(1))? } else { 1 };
        all += length * each;
        members.push((length, place(input)?, old));
    }
    if is_structure {
        return Ok((Tree::Structure(members), all));
    }
    let repeat = count(input, max / all.max(1))?;
    let fields: Result<Vec<_>> =
        members.into_iter().map(|(_, at, old)| Ok((at, place(input)?, old))).collect();
    Ok((Tree::Ucp(fields?, repeat), repeat * all))
}

/// The lengths of an array with at most `most` elements, which is few enough to write it out.
fn sizes(input: &mut Unstructured<'_>, most: u64) -> Result<Vec<u64>> {
    let number = input.int_in_range(1..=3)?;
    let mut rest = most.max(1);
    (0..number)
        .map(|_| {
            let size = input.int_in_range(1..=rest.min(6))?;
            rest /= size;
            Ok(size)
        })
        .collect()
}

fn order(input: &mut Unstructured<'_>) -> Result<Order> {
    Ok(if input.arbitrary()? { Order::C } else { Order::Fortran })
}

fn subarray(input: &mut Unstructured<'_>, most: u64, old: Box<Tree>, each: u64) -> Result<Counted> {
    let sizes = sizes(input, most)?;
    let all = sizes.iter().product::<u64>() * each;
    let dimensions: Result<Vec<_>> = sizes
        .into_iter()
        .map(|size| {
            let subsize = input.int_in_range(1..=size)?;
            Ok((size, subsize, input.int_in_range(0..=size - subsize)?))
        })
        .collect();
    Ok((Tree::Subarray(dimensions?, order(input)?, old), all.max(1)))
}

fn darray(input: &mut Unstructured<'_>, most: u64, old: Box<Tree>, each: u64) -> Result<Counted> {
    let sizes = sizes(input, most)?;
    let all = sizes.iter().product::<u64>() * each;
    let (mut dimensions, mut coordinates) = (Vec::new(), Vec::new());
    for size in sizes {
        let processes = input.int_in_range(1..=3)?;
        let length = input.int_in_range(1..=3)?;
        let (kind, processes) = match input.int_in_range(0..=4)? {
            0 => (Distribution::None, 1),
            1 => (Distribution::Block(None), processes),
            2 => (Distribution::Block(Some(size.div_ceil(processes) + length - 1)), processes),
            3 => (Distribution::Cyclic(None), processes),
            _ => (Distribution::Cyclic(Some(length)), processes),
        };
        dimensions.push((size, kind, processes));
        coordinates.push(input.int_in_range(0..=processes - 1)?);
    }
    Ok((Tree::Darray(dimensions, coordinates, order(input)?, old), all.max(1)))
}
