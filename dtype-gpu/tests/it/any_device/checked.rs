//! Packed records with invalid values are refused before anything is written, with the error of the host.

use std::num::NonZeroU16;

use dtype_gpu::{Error, PrepareOn};
use dtype_runtime::{Datatype, Type};

use super::devices::{Guarded, queue};

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
enum Side {
    Left = 1,
    Right = 2,
    Both = 7,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(i64)]
enum Far {
    Near = 0,
    Below = -5,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Cell {
    number: NonZeroU16,
    letters: [char; 3],
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Record {
    x: f64,
    is_fixed: bool,
    side: Side,
    cells: [Cell; 2],
    far: Far,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[dtype(check = Interval::is_ordered)]
struct Interval {
    from: u16,
    to: u16,
}

impl Interval {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "as the derive calls it")]
    fn is_ordered(&self) -> bool {
        self.from <= self.to
    }
}

/// What unpacking the records gives on the device, and whether it left the memory as it was.
fn unpack<T: Datatype>(packed: &[u8], test: &str) -> Option<(Result<(), Error>, bool)> {
    let queue = queue(test)?;
    let ty = Type::of::<T>();
    let records = packed.len() / ty.size() as usize;
    let packing = ty.commit().prepare_on(queue.device()).unwrap();
    let blank = vec![0x5A; records * ty.extent() as usize];
    let memory = Guarded::new(&queue, &blank, 0);
    let from = Guarded::new(&queue, packed, 3);
    let (from, to) = ((&from.buffer, from.at(0) as u64), (&memory.buffer, memory.at(0) as i64));
    let result = packing.unpack_checked::<T>(&queue, from, records, to);
    Some((result, memory.bytes(&queue) == blank))
}

/// The error of the host.
fn refused<T: Datatype>(packed: &[u8]) -> Error {
    dtype_runtime::Packed::<T>::new(packed).unwrap_err().into()
}

#[test]
fn invalid_values_are_refused() {
    let test = "invalid_values_are_refused";
    let cell = Cell { number: NonZeroU16::MAX, letters: ['a', '\u{D7FF}', '\u{10FFFF}'] };
    let record =
        Record { x: 1.5, is_fixed: true, side: Side::Both, cells: [cell; 2], far: Far::Below };
    let records: Vec<Record> = (0..700)
        .map(|i| match i % 3 {
            0 => Record { side: Side::Left, far: Far::Near, ..record },
            1 => Record { side: Side::Right, is_fixed: false, ..record },
            _ => record,
        })
        .collect();
    let packed = dtype_runtime::pack(&records);
    let size = packed.len() / records.len();
    let Some((valid, is_blank)) = unpack::<Record>(&packed, test) else { return };
    assert_eq!((valid, is_blank), (Ok(()), false));
    // The packed offsets of the fields, with bits that are no value of theirs.
    let changes: [(usize, &[u8]); 8] = [
        (8, &[2]),
        (9, &[3]),
        (9, &[0]),
        (10, &[0, 0]),
        (24, &[0, 0]),
        (26, &0xD800_u32.to_le_bytes()),
        (30, &0x11_0000_u32.to_le_bytes()),
        (38, &[1]),
    ];
    for (offset, bits) in changes {
        for record in [0, 300, 699] {
            let mut packed = packed.clone();
            packed[record * size + offset..][..bits.len()].copy_from_slice(bits);
            packed[699 * size + 8] = 2;
            let (result, is_blank) = unpack::<Record>(&packed, test).unwrap();
            assert_eq!((result, is_blank), (Err(refused::<Record>(&packed)), true), "{offset}");
        }
    }
}

#[test]
fn functions_check_on_the_host() {
    let test = "functions_check_on_the_host";
    let intervals: Vec<_> = (0..50).map(|i| Interval { from: i, to: 2 * i }).collect();
    let mut packed = dtype_runtime::pack(&intervals);
    let Some((valid, is_blank)) = unpack::<Interval>(&packed, test) else { return };
    assert_eq!((valid, is_blank), (Ok(()), false));
    packed[41 * 4] = 200;
    let (result, is_blank) = unpack::<Interval>(&packed, test).unwrap();
    assert_eq!((result, is_blank), (Err(refused::<Interval>(&packed)), true));
}
