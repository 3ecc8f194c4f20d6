//! WRF: a part of nine arrays of two, three and four dimensions, `f32`, as vectors and as subarrays.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use dtype_runtime::{Basic, Error, Order, Type};

use super::loops::{Part, Rows};
use super::{Family, Pattern, Visit, Visitor};

/// A grid and the part that is sent: first and last index of x, of y and of z, which is not divided.
struct Part3 {
    all: [RangeInclusive<i32>; 3],
    part: [RangeInclusive<i32>; 3],
}

/// For each direction, the indices of the part that is sent.
fn parts() -> Vec<(char, Part3)> {
    let row = |direction, x, z, part_x, part_z| {
        (direction, Part3 { all: [x, 1..=65, z], part: [part_x, 1..=65, part_z] })
    };
    vec![
        row('y', 4..=22, 4..=27, 8..=18, 11..=13),
        row('y', 10..=31, 10..=39, 14..=27, 17..=19),
        row('y', 4..=27, 14..=47, 8..=23, 21..=23),
        row('y', 8..=34, 21..=61, 12..=30, 28..=30),
        row('y', -4..=27, 34..=85, 1..=23, 41..=43),
        row('x', 4..=22, 4..=27, 13..=15, 8..=23),
        row('x', 4..=27, 14..=47, 18..=20, 18..=43),
        row('x', -4..=27, 34..=85, 18..=20, 38..=81),
    ]
}

/// The lengths of an array, and the starts of the part that is sent, in elements.
struct Box3 {
    sizes: [usize; 3],
    subsizes: [usize; 3],
    starts: [usize; 3],
}

impl From<&Part3> for Box3 {
    fn from(Part3 { all, part }: &Part3) -> Self {
        let length = |range: &RangeInclusive<i32>| range.clone().count();
        let start = |i: usize| part[i].start().abs_diff(*all[i].start()) as usize;
        Self {
            sizes: all.each_ref().map(length),
            subsizes: part.each_ref().map(length),
            starts: [start(0), start(1), start(2)],
        }
    }
}

/// The dimensions of each array: `x` and `z`; all three; or a fourth of length two, of which the second half is sent.
const DIMENSIONS: [u32; 9] = [2, 2, 2, 2, 3, 3, 3, 4, 4];

impl Box3 {
    /// Elements of an array.
    fn length(&self, dimensions: u32) -> usize {
        let [x, y, z] = self.sizes;
        match dimensions {
            2 => x * z,
            3 => x * y * z,
            _ => 2 * x * y * z,
        }
    }

    /// Elements from an array's start to the first one that is sent.
    fn first(&self, dimensions: u32) -> usize {
        let ([x, y, z], [at_x, at_y, at_z]) = (self.sizes, self.starts);
        match dimensions {
            2 => at_x + x * at_z,
            3 => at_x + x * (at_y + y * at_z),
            _ => at_x + x * (at_y + y * (at_z + z)),
        }
    }

    /// The part of one array as vectors of vectors, from its first element.
    fn vectors(&self, dimensions: u32) -> Result<Type, Error> {
        let ([x, y, z], [part_x, part_y, part_z]) = (self.sizes, self.subsizes);
        let f32 = Type::basic(Basic::F32);
        if dimensions == 2 {
            return Type::vector(part_z as u64, part_x as u64, x as i64, &f32);
        }
        let plane = Type::vector(part_y as u64, part_x as u64, x as i64, &f32)?;
        let cube = Type::hvector(part_z as u64, 1, 4 * (x * y) as i64, &plane)?;
        if dimensions == 3 {
            return Ok(cube);
        }
        Type::hvector(1, 1, 4 * (x * y * z) as i64, &cube)
    }

    /// The part of one array as a subarray of it.
    fn subarray(&self, dimensions: u32) -> Result<Type, Error> {
        let order = |[x, y, z]: [usize; 3], last: u64| -> Vec<u64> {
            let [x, y, z] = [x as u64, y as u64, z as u64];
            match dimensions {
                2 => vec![z, x],
                3 => vec![z, y, x],
                _ => vec![last, z, y, x],
            }
        };
        let (sizes, subsizes) = (order(self.sizes, 2), order(self.subsizes, 1));
        let starts = order(self.starts, 1);
        Type::subarray(&sizes, &subsizes, &starts, Order::C, &Type::basic(Basic::F32))
    }

    fn by_hand(&self, base: usize, dimensions: u32) -> Part<Rows<f32>> {
        let ([x, y, _], [part_x, part_y, part_z]) = (self.sizes, self.subsizes);
        let (planes, plane, count, element) = (part_z, x * y, part_y, PhantomData);
        let base = base + self.first(dimensions);
        if dimensions == 2 {
            let rows =
                Rows { base, planes: 1, plane: 0, count: part_z, row: x, length: part_x, element };
            return Part { elements: part_x * part_z, by_hand: rows };
        }
        let elements = part_x * part_y * part_z;
        Part {
            elements,
            by_hand: Rows { base, planes, plane, count, row: x, length: part_x, element },
        }
    }
}

pub(super) fn all<V: Visitor>() -> Family<V> {
    let mut patterns = Vec::new();
    for (direction, part) in parts() {
        for subarrays in [false, true] {
            patterns.push(pattern(direction, &Box3::from(&part), subarrays)?);
        }
    }
    Ok(patterns)
}

fn pattern<V: Visitor>(
    direction: char,
    part: &Box3,
    subarrays: bool,
) -> anyhow::Result<Box<dyn Visit<V>>> {
    let (mut types, mut places, mut by_hand) = (Vec::new(), Vec::new(), Vec::new());
    let mut base = 0;
    for dimensions in DIMENSIONS {
        let (ty, first) = if subarrays {
            (part.subarray(dimensions)?, 0)
        } else {
            (part.vectors(dimensions)?, part.first(dimensions))
        };
        types.push(ty);
        places.push(4 * (base + first) as i64);
        by_hand.push(part.by_hand(base, dimensions));
        base += part.length(dimensions);
    }
    let ([x, y, z], [part_x, part_y, part_z]) = (part.sizes, part.subsizes);
    let family = match (direction, subarrays) {
        ('x', false) => "WRF_x_vec",
        ('x', true) => "WRF_x_sa",
        (_, false) => "WRF_y_vec",
        (_, true) => "WRF_y_sa",
    };
    Ok(Box::new(Pattern {
        family,
        parameters: format!("{part_x}×{part_y}×{part_z}/{x}×{y}×{z}"),
        ty: Type::structure(&[1; 9], &places, &types)?,
        count: 1,
        base: 0,
        length: base,
        by_hand,
    }))
}
