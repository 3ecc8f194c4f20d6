//! The constants of a type map agree with a look at each of its fields.

use alloc::boxed::Box;
use alloc::vec::Vec;
use std::sync::Mutex;

use super::*;
use crate::basic::Basic;
use crate::commit::builder::tests::bytes_of_ops;
use crate::datatype::Datatype;
use crate::plan::Blocks;
use crate::typemap::Markers;
use dtype_test_support::numbers::Numbers;

/// The offsets of the data bytes, in the order of the type map.
fn bytes(map: &TypeMap, base: usize) -> Vec<i64> {
    match map.node() {
        Node::Basic { basic, .. } => (base..base + basic.size()).map(signed_offset).collect(),
        Node::Array { count, element } => {
            (0..*count).flat_map(|n| bytes(element, base + n * element.stride())).collect()
        }
        Node::Structure { fields, .. } => fields
            .iter()
            .filter_map(|field| Some(bytes(field.map()?, base + field.offset())))
            .flatten()
            .collect(),
    }
}

fn signed_offset(offset: usize) -> i64 {
    i64::try_from(offset).unwrap()
}

fn check(map: &TypeMap) {
    let packed = bytes(map, 0);
    let mut data = packed.clone();
    data.sort_unstable();
    let all = 0..signed_offset(map.stride());
    let gaps: Vec<i64> = all.filter(|at| data.binary_search(at).is_err()).collect();
    let same = |ops: Option<&[Op]>, expected: Vec<i64>| {
        assert_eq!(bytes_of_ops(ops.unwrap(), 0), expected, "{map:?}");
    };
    same(ConstantOps::<1024>::packed(map).ops(), packed);
    same(ConstantOps::<1024>::data(map).ops(), data);
    same(ConstantOps::<1024>::gaps(map).ops(), gaps);
}

/// The maps and their fields, kept for the whole program so that leak checkers see them.
static KEPT: Mutex<(Vec<&'static TypeMap>, Vec<&'static [Field]>)> =
    Mutex::new((Vec::new(), Vec::new()));

fn kept(map: TypeMap) -> &'static TypeMap {
    let map = Box::leak(Box::new(map));
    KEPT.lock().unwrap().0.push(map);
    map
}

/// A structure of fields at any offsets, in any order, with gaps or without.
fn structure(numbers: &mut Numbers, depth: u32) -> &'static TypeMap {
    let mut fields = Vec::new();
    let mut end = 0;
    let spread = numbers.below(3);
    for _ in 0..numbers.below(5) {
        let offset = end + usize::try_from(numbers.below(1 + 2 * spread)).unwrap();
        let inner = map(numbers, depth);
        fields.push(if numbers.below(5) == 0 {
            Field::skipped("skipped", offset, inner.stride())
        } else {
            Field::new("field", offset, inner)
        });
        end = offset + inner.stride();
        let other = numbers.index(fields.len());
        let last = fields.len() - 1;
        if spread > 0 {
            fields.swap(other, last);
        }
    }
    let fields = Vec::leak(fields);
    KEPT.lock().unwrap().1.push(fields);
    macro_rules! of_size {
        ($($size:literal)*) => {
            match end {
                $(0..=$size => TypeMap::structure::<[u8; $size]>("S", fields, Markers::NONE),)*
                _ => TypeMap::basic(Basic::F64),
            }
        };
    }
    kept(of_size!(0 1 2 3 4 5 6 8 12 16 24 32 64 128 256 512))
}

fn map(numbers: &mut Numbers, depth: u32) -> &'static TypeMap {
    match numbers.below(if depth == 0 { 3 } else { 8 }) {
        0 => kept(TypeMap::basic(Basic::U8)),
        1 => kept(TypeMap::basic(Basic::U32)),
        2 => <(u8, u32, ())>::TYPE_MAP,
        3 | 4 => {
            let count = usize::try_from(numbers.below(4)).unwrap();
            kept(TypeMap::array(map(numbers, depth - 1), count))
        }
        _ => structure(numbers, depth - 1),
    }
}

#[test]
#[cfg_attr(miri, ignore = "makes type maps that are never freed")]
fn data_and_gaps_of_any_type_map() {
    let mut numbers = Numbers(11);
    for _ in 0..2000 {
        check(structure(&mut numbers, 3));
    }
}

type Spread = (u8, u32, u16, u64);
type Nine<T> = (T, T, T, T, T, T, T, T, T);
/// More entries than are compiled.
type Many = Nine<Nine<Nine<Nine<u8>>>>;

#[test]
fn operations_that_are_too_many_are_refused() {
    assert!(ConstantOps::<1>::packed(<[Spread; 2]>::TYPE_MAP).ops().is_none());
    assert!(ConstantOps::<64>::packed(<[Spread; 2]>::TYPE_MAP).ops().is_some());
    // Too many entries to look at each. Without gaps, only the packed order requires a look.
    assert!(ConstantOps::<1>::packed(Many::TYPE_MAP).ops().is_none());
    assert_eq!(ConstantOps::<1>::data(Many::TYPE_MAP).ops().unwrap().len(), 1);
    assert!(ConstantOps::<1>::gaps(Many::TYPE_MAP).ops().unwrap().is_empty());
    // A structure is one entry, and each of its fields is another.
    let is_compiled = |fields: usize| {
        let field = |offset| Field::new("field", offset, <u8>::TYPE_MAP);
        let fields = (0..fields).map(field).collect::<Vec<_>>().leak();
        KEPT.lock().unwrap().1.push(fields);
        let map = TypeMap::structure::<[u8; MAX_ENTRIES]>("S", fields, Markers::NONE);
        ConstantOps::<1>::packed(&map).ops().is_some()
    };
    assert_eq!([MAX_ENTRIES - 1, MAX_ENTRIES].map(is_compiled), [true, false]);
    // An array is one entry, however long it is.
    assert!(ConstantOps::<4>::packed(<[Spread; 100_000]>::TYPE_MAP).ops().is_some());
}

#[test]
fn parts_of_which_nothing_or_everything_is_written_are_not_looked_into() {
    // Each array has room for the operations, but not for the inner loop.
    assert_eq!(ConstantOps::<0>::packed(<[(); 4]>::TYPE_MAP).ops(), Some(&[][..]));
    assert_eq!(ConstantOps::<0>::gaps(<[u32; 4]>::TYPE_MAP).ops(), Some(&[][..]));
    let all = ConstantOps::<1>::data(<[u32; 4]>::TYPE_MAP);
    assert_eq!(all.ops(), Some(&[Op::Blocks(Blocks::run(0, 16))][..]));
}

#[test]
fn most_fields_lie_in_the_order_of_their_declaration() {
    let in_order = |fields: [(usize, &'static TypeMap); 2]| {
        is_ascending(&fields.map(|(offset, map)| Field::new("field", offset, map)))
    };
    let (byte, word) = (<u8>::TYPE_MAP, <u32>::TYPE_MAP);
    assert!(in_order([(0, word), (4, byte)]) && in_order([(8, word), (12, byte)]));
    assert!(in_order([(0, byte), (4, word)]));
    assert!(!in_order([(4, byte), (0, word)]) && !in_order([(0, word), (3, byte)]));
}
