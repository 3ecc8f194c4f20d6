//! The part of a layout that is drawn, and the length of its rows.

use std::collections::BTreeSet;
use std::ops::Range;

use super::View;
use crate::fields::{DiagramField, Repeat};
use dtype_runtime::Type;
use dtype_runtime::outline::Outline;

/// The maximum number of instances that are drawn.
const MAX_INSTANCES: u64 = 1 << 48;
/// Cells in a row.
const MAX_COLUMNS: usize = 1024;
/// Rows in a picture.
const MAX_ROWS: usize = 1024;
/// Cells in a picture: as an SVG, each can take a few hundred bytes.
const MAX_CELLS: u64 = 1 << 16;
/// Bytes in a cell: a cell has a bit for each byte.
const MAX_UNIT: u32 = 64;
/// The number of points that are bounds. The points of the data follow them.
const BOUNDS: usize = 4;
/// The minimum number of cells in a row.
const FEWEST_CELLS: u64 = 8;
/// The minimum number of elements in a row of an array.
const MIN_IN_GRID: u64 = 4;
/// How much longer than the maximum a row of an array may be: the maximum divided by this.
const SLACK: u64 = 8;
/// The maximum number of rows that draw one row of an array.
const MAX_PARTS: u64 = 16;

/// The part of a layout that is drawn.
pub(super) struct Rows {
    pub(super) instances: u64,
    /// Bytes in a cell.
    pub(super) unit: u32,
    /// Bytes in a row.
    pub(super) pitch: u64,
    /// Bytes from one row of the array to the next. If a row of the picture has fewer bytes, each row of the array is drawn as
    /// several rows, the last of which may be shorter.
    array: u64,
    /// The start of the first row and the end of the last one.
    pub(super) start: i128,
    pub(super) end: i128,
    /// The numbers of the rows that are drawn, from 0 at `start`.
    pub(super) drawn: Vec<i128>,
}

impl Rows {
    /// Chooses the rows. `fields` are all fields, or none if some are unknown.
    pub(super) fn new(
        ty: &Type,
        outline: Outline<'_>,
        fields: &[DiagramField],
        view: &View,
    ) -> Self {
        let columns = view.columns.clamp(1, MAX_COLUMNS) as u64;
        let instances = view.instances.min(MAX_INSTANCES);
        let last = i128::from(ty.extent()) * i128::from(instances.saturating_sub(1));
        let mut points = Vec::new();
        if instances > 0 {
            let data = (ty.size() > 0).then_some([ty.true_lb(), ty.true_ub()]);
            for [from, to] in [Some([ty.lb(), ty.ub()]), data].into_iter().flatten() {
                let (from, to) = (i128::from(from.min(to)), i128::from(from.max(to)));
                // A reader looks at the first instance first, so its points come first.
                points.extend([from, (to - 1).max(from), from + last, (to - 1).max(from) + last]);
            }
        }
        let least = points.iter().copied().min().unwrap_or(0);
        let greatest = points.iter().copied().max().unwrap_or(0);
        let is_long = (greatest - least).unsigned_abs() >= columns.into();
        let (unit, is_grid) = match view.unit {
            Some(unit) => (unit.clamp(1, MAX_UNIT), false),
            None if is_long => element(ty, fields, view).map_or((1, false), |unit| (unit, true)),
            None => (1, false),
        };
        let start = least - least.rem_euclid(unit.into());
        // The end of an empty range adds no byte.
        let is_empty = ty.extent() == 0 && ty.size() == 0 || instances == 0;
        let end = points.iter().copied().max().map_or(start, |point| point + i128::from(!is_empty));
        let bytes = u64::from(unit);
        let all = (end - start).unsigned_abs();
        let natural = natural(ty, outline, view, all, unit, columns, instances);
        // The row of the array around the elements, if it fits one row or several.
        let longest = (columns + columns / SLACK) * bytes;
        let shortest = match natural {
            _ if view.row.is_some() => None,
            _ if is_grid => Some(MIN_IN_GRID * bytes),
            None => Some(columns * bytes + 1),
            Some(_) => None,
        };
        let fits = |stride: &u64| {
            shortest.is_some_and(|shortest| (shortest..=MAX_PARTS * longest).contains(stride))
        };
        let strides = outline.strides().into_iter();
        let strides = strides.filter(|stride| stride.is_multiple_of(bytes));
        let grid = strides.filter(fits).min();
        let array = grid.or(natural).unwrap_or_else(|| {
            let even = columns - columns % FEWEST_CELLS;
            bytes * if even > 0 { even } else { columns }
        });
        let pitch = match grid {
            Some(array) => (array / bytes).div_ceil(array.div_ceil(longest)) * bytes,
            None => array,
        };

        // The first element of an array is at the origin.
        let is_array = view.row.is_some() || grid.is_some();
        let start = if is_array { start - start.rem_euclid(array.into()) } else { start };
        let mut rows = Self { instances, unit, pitch, array, start, end, drawn: Vec::new() };
        let number = if end > start { rows.number_of(end - 1) + 1 } else { 0 };
        let in_all = usize::try_from(MAX_CELLS * bytes / pitch).unwrap_or(MAX_ROWS);
        let most = view.rows.clamp(1, MAX_ROWS.min(in_all));
        rows.drawn = if number <= most as i128 {
            (0..number).collect()
        } else {
            let wanted = points.iter().map(|point| rows.number_of(*point));
            some(most, &wanted.collect::<Vec<_>>())
        };
        rows
    }

    /// The number of the row that has a byte.
    fn number_of(&self, byte: i128) -> i128 {
        let (array, pitch) = (i128::from(self.array), i128::from(self.pitch));
        let at = byte - self.start;
        at / array * i128::from(self.array.div_ceil(self.pitch)) + at % array / pitch
    }

    /// The bytes of a row.
    pub(super) fn bytes_of(&self, number: i128) -> Range<i128> {
        let parts = i128::from(self.array.div_ceil(self.pitch));
        let array = self.start + number / parts * i128::from(self.array);
        let start = array + number % parts * i128::from(self.pitch);
        let end = (start + i128::from(self.pitch)).min(array + i128::from(self.array));
        start..end.min(self.end)
    }
}

/// Chooses at most `most` of all rows: first rows where something starts or ends, then rows with data, beginning with the first
/// instance. The rows of the data are at the end of `wanted`, if there are any.
fn some(most: usize, wanted: &[i128]) -> Vec<i128> {
    let mut drawn = BTreeSet::new();
    for row in wanted {
        if drawn.len() < most {
            drawn.insert(*row);
        }
    }
    let data = wanted.get(BOUNDS..).unwrap_or(&[]);
    if let (Some(first), Some(least), Some(greatest)) =
        (data.first(), data.iter().min(), data.iter().max())
    {
        for row in (*first..=*greatest).chain((*least..*first).rev()) {
            if drawn.len() >= most {
                break;
            }
            drawn.insert(row);
        }
    }
    drawn.into_iter().collect()
}

/// The size of an element, if all elements have one size, and the size divides all displacements and bounds.
fn element(ty: &Type, fields: &[DiagramField], view: &View) -> Option<u32> {
    let sizes = || fields.iter().filter_map(|field| Some(field.basic?.size()));
    let size = sizes().next().filter(|size| sizes().all(|other| other == *size))?;
    let unit = u32::try_from(size).ok().filter(|unit| (2..=MAX_UNIT).contains(unit))?;
    let fits = |bytes: i128| bytes.rem_euclid(unit.into()) == 0;
    let is_regular = |field: &DiagramField| {
        let stride = |level: &Repeat| level.stride.is_some_and(|stride| fits(stride.into()));
        fits(field.offset) && field.levels.iter().all(stride)
    };
    let bounds = [ty.lb(), ty.extent()].map(i128::from);
    let row = view.row.map_or(0, i128::from);
    (bounds.into_iter().chain([row]).all(fits) && fields.iter().all(is_regular)).then_some(unit)
}

/// The bytes in a row that the view or the type suggests.
fn natural(
    ty: &Type,
    outline: Outline<'_>,
    view: &View,
    all: u128,
    unit: u32,
    columns: u64,
    instances: u64,
) -> Option<u64> {
    let unit = u64::from(unit);
    let most = columns * unit;
    if let Some(row) = view.row {
        // Whole cells, up to the maximum for a row.
        return Some(row.div_ceil(unit).clamp(1, MAX_COLUMNS as u64) * unit);
    }
    if all <= u128::from(most) {
        return Some(most);
    }
    let whole = |pitch: &u64| pitch.is_multiple_of(unit);
    let extent = u64::try_from(ty.extent()).ok().filter(|_| instances > 1);
    let instance = extent.filter(|extent| (FEWEST_CELLS * unit..=most).contains(extent));
    let natural = instance.or_else(|| {
        let mut strides = outline.strides().into_iter();
        strides.find(|stride| (FEWEST_CELLS * unit..=most).contains(stride))
    });
    // As many rows of the array as fit into a row of the picture.
    natural.filter(whole).map(|pitch| most / pitch * pitch)
}
