//! Records of random fields, computed from a seed when they are compiled.

use crate::datatype::Datatype;
use crate::typemap::{Field, Markers, TypeMap};

/// A record of `SIZE` bytes, which must be [`size_of_random`].
pub(super) struct Random<const SEED: u64, const SIZE: usize>([u8; SIZE]);

const MOST_FIELDS: usize = 6;

/// Fields, with the alignment that they have on most machines.
const FIELDS: [(&TypeMap, usize); 10] = [
    (<u8 as Datatype>::TYPE_MAP, 1),
    (<u8 as Datatype>::TYPE_MAP, 1),
    (<u16 as Datatype>::TYPE_MAP, 2),
    (<u32 as Datatype>::TYPE_MAP, 4),
    (<f32 as Datatype>::TYPE_MAP, 4),
    (<f64 as Datatype>::TYPE_MAP, 8),
    (<f64 as Datatype>::TYPE_MAP, 8),
    (<u128 as Datatype>::TYPE_MAP, 16),
    (<[f32; 3] as Datatype>::TYPE_MAP, 4),
    (<[u8; 5] as Datatype>::TYPE_MAP, 1),
];

/// The first fields are those of the record.
struct Fields {
    all: [Field; MOST_FIELDS],
    number: usize,
    size: usize,
}

/// A number less than `end`, for each seed and index.
#[expect(clippy::cast_possible_truncation, reason = "less than `end`")]
const fn draw(seed: u64, index: usize, end: usize) -> usize {
    let state = (seed << 8 | index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((mixed ^ mixed >> 31) % end as u64) as usize
}

/// Of one to six fields in the order of C, every seventh is skipped.
const fn fields(seed: u64) -> Fields {
    let mut all = [Field::skipped("", 0, 0); MOST_FIELDS];
    let (mut end, mut alignment, mut at) = (0_usize, 1, 0);
    let number = 1 + draw(seed, 0, MOST_FIELDS);
    while at < number {
        let (map, aligned) = FIELDS[draw(seed, 2 * at + 1, FIELDS.len())];
        let offset = end.next_multiple_of(aligned);
        all[at] = if at > 0 && draw(seed, 2 * at + 2, 7) == 0 {
            Field::skipped("", offset, map.stride())
        } else {
            Field::new("", offset, map)
        };
        if aligned > alignment {
            alignment = aligned;
        }
        (end, at) = (offset + map.stride(), at + 1);
    }
    Fields { all, number, size: end.next_multiple_of(alignment) }
}

pub(super) const fn size_of_random(seed: u64) -> usize {
    fields(seed).size
}

impl<const SEED: u64, const SIZE: usize> Random<SEED, SIZE> {
    const FIELDS: &'static Fields = &fields(SEED);
}

// SAFETY: all bytes of the record are initialised, and the fields lie in it.
unsafe impl<const SEED: u64, const SIZE: usize> Datatype for Random<SEED, SIZE> {
    const TYPE_MAP: &'static TypeMap = &TypeMap::structure::<Self>(
        "Random",
        Self::FIELDS.all.split_at(Self::FIELDS.number).0,
        Markers::NONE,
    );
}

/// Evaluates an expression for 16 of the types.
macro_rules! for_random {
    (|$type:ident| $call:expr) => {
        $crate::typed::layout::random::for_random!(
            |$type| $call;
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
        )
    };
    (|$type:ident| $call:expr; $($seed:literal)*) => { $({
        type $type = $crate::typed::layout::random::Random<
            $seed,
            { $crate::typed::layout::random::size_of_random($seed) },
        >;
        $call
    })* };
}

pub(super) use for_random;
