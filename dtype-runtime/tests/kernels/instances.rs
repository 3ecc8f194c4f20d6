//! Instances of a few runs each, compared with a loop over their bytes: few and many, touching, overlapping and backwards,
//! whole and in fragments, in both byte orders. Each is copied many times, because a type chooses other kernels after some
//! calls.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "everything here is small"
)]
#![allow(clippy::cast_sign_loss, reason = "displacements in memory")]

use std::io::{Read, Write};

use crate::{alone, each_isa};
use dtype_runtime::{Basic, Buffer, BufferMut, Committed, Representation, Type};
use dtype_test_support::model::config;
use proptest::prelude::*;

/// After this number of calls, every way to copy the instances has been used.
const CALLS: usize = if cfg!(miri) { 3 } else { 70 };

/// Bytes before and after the instances.
const MARGIN: i64 = 80;

#[derive(Clone, Debug)]
struct Case {
    width: i64,
    /// The displacement and the number of values of each run, in packed order.
    runs: Vec<(i64, u64)>,
    extent: i64,
    count: usize,
    /// The lengths of the fragments, which repeat.
    fragments: Vec<usize>,
}

fn cases() -> impl Strategy<Value = Case> {
    let run = (0..6_i64, 1..5_u64, any::<u16>());
    let extent = prop_oneof![3 => Just(None), 5 => (-3..40_i64).prop_map(Some), 1 => (-90..90_i64).prop_map(Some)];
    let count = prop_oneof![3 => 0..12_usize, 1 => 12..70_usize];
    let fragments = prop::collection::vec(1..150_usize, 1..5);
    let width = prop::sample::select(vec![1_i64, 2, 4, 8]);
    (prop::collection::vec(run, 1..6), extent, count, fragments, width, any::<bool>()).prop_map(
        |(gaps_and_runs, apart, count, fragments, width, backwards)| {
            let mut end = 0;
            let mut keyed: Vec<(u16, (i64, u64))> = Vec::new();
            for (gap, len, key) in gaps_and_runs {
                keyed.push((key, (end + gap, len)));
                end += gap + width * len as i64;
            }
            keyed.sort_unstable();
            let runs = keyed.into_iter().map(|(_, run)| run).collect();
            // Without a given distance, each instance touches the next.
            let extent = end + apart.unwrap_or(0);
            let extent = if backwards { -extent } else { extent };
            Case { width, runs, extent, count, fragments }
        },
    )
}

impl Case {
    fn committed(&self) -> Committed {
        let basic = match self.width {
            1 => Basic::U8,
            2 => Basic::U16,
            4 => Basic::U32,
            _ => Basic::U64,
        };
        let (disps, lens): (Vec<i64>, Vec<u64>) = self.runs.iter().copied().unzip();
        let ty = Type::hindexed(&lens, &disps, &Type::basic(basic)).unwrap();
        Type::resized(&ty, 0, self.extent).unwrap().commit()
    }

    /// The displacement of each packed byte. With `reversed`, the bytes of each value are in reverse order.
    fn displacements(&self, reversed: bool) -> Vec<i64> {
        let mut all = Vec::new();
        for instance in 0..self.count as i64 {
            for &(disp, len) in &self.runs {
                for value in 0..len as i64 {
                    let at = instance * self.extent + disp + value * self.width;
                    let bytes = 0..self.width;
                    all.extend(bytes.map(|i| at + if reversed { self.width - 1 - i } else { i }));
                }
            }
        }
        all
    }
}

fn bytes(number: usize, seed: u8) -> Vec<u8> {
    (0..number).map(|i| (i * 37 + i / 256) as u8 ^ seed).collect()
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn instances_are_copied_byte_by_byte(case in cases()) {
        let native = case.displacements(false);
        let swapped = case.displacements(true);
        let first = native.iter().min().copied().unwrap_or(0);
        let end = native.iter().max().map_or(0, |last| last + 1);
        let origin = MARGIN - first;
        let memory = bytes((end - first + 2 * MARGIN) as usize, 0);
        let at = |disp: &i64| (origin + disp) as usize;
        let of = |disps: &[i64]| disps.iter().map(|disp| memory[at(disp)]).collect::<Vec<u8>>();
        let (packed, other) = (of(&native), of(&swapped));
        let mut sorted = native.clone();
        sorted.sort_unstable();
        let is_disjoint = sorted.windows(2).all(|pair| pair[0] != pair[1]);
        let background = bytes(memory.len(), 0x5A);
        let mut unpacked = background.clone();
        native.iter().zip(&packed).for_each(|(disp, byte)| unpacked[at(disp)] = *byte);

        let _alone = alone();
        for isa in each_isa() {
            let committed = case.committed();
            let foreign = if cfg!(target_endian = "little") { Representation::BigEndian } else { Representation::LittleEndian };
            let conversion = committed.conversion(foreign).unwrap();
            for call in 0..CALLS {
                let from = Buffer::new(&memory).origin(origin);
                let mut out = bytes(packed.len() + 5, 1);
                prop_assert_eq!(committed.pack(from, case.count, &mut out), Ok(packed.len()));
                prop_assert_eq!(&out[..packed.len()], &packed[..], "{} call {}", isa, call);
                prop_assert_eq!(&out[packed.len()..], &bytes(packed.len() + 5, 1)[packed.len()..]);
                if is_disjoint {
                    let mut to = background.clone();
                    let buffer = BufferMut::new(&mut to).origin(origin);
                    prop_assert_eq!(committed.unpack(&packed, buffer, case.count), Ok(packed.len()));
                    prop_assert_eq!(&to, &unpacked, "{} call {}", isa, call);
                }
                if is_disjoint {
                    let mut to = background.clone();
                    let buffer = BufferMut::new(&mut to).origin(origin);
                    prop_assert!(committed.copy(from, buffer, case.count).is_ok());
                    prop_assert_eq!(&to, &unpacked, "{} copied, call {}", isa, call);
                }
                if call % 16 > 1 {
                    continue;
                }

                let mut packer = committed.packer(from, case.count).unwrap();
                let mut stream = Vec::new();
                for len in case.fragments.iter().cycle() {
                    let mut fragment = vec![0; *len];
                    let read = packer.read(&mut fragment).unwrap();
                    stream.extend_from_slice(&fragment[..read]);
                    if read == 0 {
                        break;
                    }
                }
                prop_assert_eq!(&stream, &packed, "{} fragments, call {}", isa, call);
                prop_assert_eq!(conversion.pack(from, case.count, &mut out), Ok(packed.len()));
                prop_assert_eq!(&out[..packed.len()], &other[..], "{} converted, call {}", isa, call);
                if !is_disjoint {
                    continue;
                }
                let mut to = background.clone();
                let mut unpacker = committed.unpacker(BufferMut::new(&mut to).origin(origin), case.count).unwrap();
                let (mut rest, mut lengths) = (&packed[..], case.fragments.iter().cycle());
                while !rest.is_empty() {
                    let len = rest.len().min(*lengths.next().unwrap());
                    unpacker.write_all(&rest[..len]).unwrap();
                    rest = &rest[len..];
                }
                drop(unpacker);
                prop_assert_eq!(&to, &unpacked, "{} fragments, call {}", isa, call);
                let mut to = background.clone();
                let buffer = BufferMut::new(&mut to).origin(origin);
                prop_assert_eq!(conversion.unpack(&other, buffer, case.count), Ok(packed.len()));
                prop_assert_eq!(&to, &unpacked, "{} converted, call {}", isa, call);
            }
        }
    }
}
