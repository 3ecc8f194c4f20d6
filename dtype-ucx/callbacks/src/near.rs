//! Whether fragments are better packed in the cache first.

use dtype_runtime::Committed;

/// The number of blocks to examine.
const BLOCKS: usize = 64;

/// Bytes of a cache line, the maximum cost of a gap.
const LINE: u64 = 64;

/// Whether data that follow one another in a message are near one another in memory: the gaps before the first 64 blocks are
/// no longer than the blocks, where no gap counts for more than a cache line.
///
/// A fragment in shared memory goes to lines that are in the cache of the receiver's core. Each has to come from there when it
/// is written to, and the stores of a plan, which are short, overlap or cross lines, wait for it longer than those of `memcpy`.
/// Where the data are near one another, that costs more than packing some kilobytes at a time to memory of the own cache and
/// copying them from there. Data that are far apart are waited for themselves, and the stores meanwhile cost nothing; and a
/// transpose would be packed in parts that are too short for its columns to share lines.
pub fn is_near(committed: &Committed) -> bool {
    let end = committed.size().saturating_mul(2);
    // Of two instances, as what is between them is a gap, too.
    let Ok(blocks) = committed.iov(2, 0..end) else { return false };
    let (mut gaps, mut data, mut end) = (0, 0, None);
    for block in blocks.take(BLOCKS) {
        gaps += end.map_or(0, |end| block.disp.abs_diff(end).min(LINE));
        data += block.len;
        end = Some(block.disp.saturating_add_unsigned(block.len));
    }
    gaps <= data
}

#[cfg(test)]
mod tests {
    use dtype_runtime::{Basic, Type};

    use super::is_near;

    /// Blocks of `len` bytes, `stride` bytes apart.
    fn blocks(len: u64, stride: i64) -> Type {
        Type::hvector(1000, len, stride, &Type::basic(Basic::U8)).unwrap()
    }

    #[test]
    fn gaps_count_for_a_line_at_most() {
        for (len, stride, near) in [
            (8, 16, true),
            (8, 17, false),
            (8, -16, false),
            (60, 127, false),
            (64, 128, true),
            (64, 1 << 40, true),
        ] {
            assert_eq!(is_near(&blocks(len, stride).commit()), near, "{len} of {stride}");
        }
    }

    #[test]
    fn a_message_has_several_instances() {
        let byte = Type::basic(Basic::U8);
        for (extent, near) in [(16, true), (32, false), (1 << 40, false)] {
            let apart = Type::resized(&Type::contiguous(9, &byte).unwrap(), 0, extent).unwrap();
            assert_eq!(is_near(&apart.commit()), near, "{extent}");
        }
    }

    #[test]
    fn rows_of_several_matrices_are_near_and_columns_are_not() {
        let value = Type::basic(Basic::F64);
        let rows = Type::vector(30, 10, 12, &value).unwrap();
        let matrices = Type::hvector(5, 1, 1 << 20, &rows).unwrap();
        assert!(is_near(&matrices.commit()));
        let column = Type::resized(&Type::vector(8, 1, 8, &value).unwrap(), 0, 8).unwrap();
        assert!(!is_near(&column.commit()));
        assert!(!is_near(&Type::contiguous(8, &column).unwrap().commit()));
    }

    #[test]
    fn types_without_data_are_near() {
        let empty = Type::contiguous(0, &Type::basic(Basic::U8)).unwrap();
        assert!(is_near(&empty.commit()));
    }
}
