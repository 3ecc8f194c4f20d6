//! Nested repetitions as rows of numbers.

use alloc::vec::Vec;

use super::description::Detail;
use super::{Item, Type, items};

/// One level of nested repetitions: `count` pieces of `length` bytes with a stride of `stride` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Level {
    /// Displacement of the first repetition in bytes: from the origin for the outermost level, from the start of
    /// a repetition of the level around it for the others. Only the outermost level has a displacement: the sum
    /// of all nested ones. The others have 0.
    pub base: i64,
    /// Packed bytes of one repetition: at the innermost level the length of a run, at other levels `length ·
    /// count` of the next inner level.
    pub length: u64,
    /// The number of repetitions.
    pub count: u64,
    /// Bytes from the start of one repetition to the start of the next. May be negative, or less than one
    /// repetition spans; 0 for a single repetition.
    pub stride: i64,
}

impl Type {
    /// The repetitions of one instance as rows, outermost first, if its data are nested repetitions of one run of bytes. A
    /// network adapter's repeated keys are registered in this form, one row for each level (UCX's struct datatype proposal,
    /// example 3). Byte `b` of the run, in repetition `i` of the outermost level and `j` of the next, lies at `levels[0].base +
    /// i · levels[0].stride + j · levels[1].stride + b`, and the last index runs fastest.
    ///
    /// A plain run is one level with one repetition. For a type without data the list is empty. The result is `None` if one
    /// repetition has several runs or several nests, as the [description](Self::description) shows them; a common stride among
    /// the displacements of a list is not detected. A [`ucp_struct`](Self::ucp_struct) of several fields is such a type: its
    /// bytes go field by field within each repetition, and no order of rows can express this. So each field needs a key of its
    /// own, whose rows are those of the structure with only this field:
    ///
    /// ```
    /// use dtype_runtime::types::{Level, UcpField};
    /// use dtype_runtime::{Basic, Type};
    /// let fields = [
    ///     UcpField { displacement: 0, extent: 16, ty: Type::basic(Basic::F32) },
    ///     UcpField { displacement: 8, extent: 16, ty: Type::basic(Basic::U16) },
    /// ];
    /// assert_eq!(Type::ucp_struct(&fields, 3)?.levels(), None);
    /// let alone = Type::ucp_struct(&fields[1..], 3)?.levels();
    /// assert_eq!(alone, Some(vec![Level { base: 8, length: 2, count: 3, stride: 16 }]));
    ///
    /// // Part of an array of 4 × 6 × 8 elements.
    /// use dtype_runtime::types::Order;
    /// let (whole, part, start) = ([4, 6, 8], [2, 3, 5], [1, 0, 2]);
    /// let part = Type::subarray(&whole, &part, &start, Order::C, &Type::basic(Basic::I32))?;
    /// assert_eq!(
    ///     part.levels(),
    ///     Some(vec![
    ///         Level { base: 4 * (48 + 2), length: 3 * 20, count: 2, stride: 4 * 48 },
    ///         Level { base: 0, length: 20, count: 3, stride: 4 * 8 },
    ///     ])
    /// );
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn levels(&self) -> Option<Vec<Level>> {
        let description = self.describe(Detail::Bytes);
        let mut levels = Vec::new();
        let mut body = description.entries();
        let run = loop {
            let mut parts = items(body);
            match (parts.next(), parts.next()) {
                (Some(Item::Elem(run)), None) => break run,
                (Some(Item::Loop(head, inside)), None) => {
                    let (count, stride) = (head.loops, head.extent);
                    levels.push(Level { base: 0, length: 0, count, stride });
                    body = inside;
                }
                // Loops are never empty, so this is the body of the loop over the instances.
                (None, _) => return Some(levels),
                (Some(_), Some(_)) => return None,
            }
        };
        if levels.is_empty() {
            levels.push(Level { base: 0, length: 0, count: 1, stride: 0 });
        }
        levels[0].base = run.disp;
        let mut length = run.size();
        for level in levels.iter_mut().rev() {
            level.length = length;
            // The total is not greater than the size of the type.
            length *= level.count;
        }
        Some(levels)
    }
}
