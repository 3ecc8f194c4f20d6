//! Every instruction set packs the same bytes, and touches no others.

use core::num::NonZero;
#[cfg(feature = "std")]
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use crate::{alone, each_isa};
use dtype_runtime::isa::{Isa, available, select, selected};
use dtype_runtime::{
    Basic, Buffer, BufferMut, Datatype, Error, Type, pack, packed_size, unpack, unpack_into,
};
use proptest::prelude::*;

#[test]
fn missing_instruction_sets_are_refused() {
    let _alone = alone();
    for isa in Isa::ALL {
        let result = select(*isa);
        assert_eq!(result.is_ok(), available(*isa));
        match result {
            Ok(()) => assert_eq!(selected(), *isa),
            Err(error) => assert_eq!(error.asked, *isa),
        }
    }
}

/// The test `the_environment_selects` runs this one in a process of its own.
#[cfg(feature = "std")]
#[test]
#[ignore = "prints what is selected, for the_environment_selects to read"]
fn print_selected() {
    println!("selected={}", selected());
}

#[cfg(feature = "std")]
#[test]
fn the_environment_selects() {
    let run = |value: &str| {
        let program = std::env::current_exe().unwrap();
        let arguments = ["--exact", "same_bytes::print_selected", "--ignored", "--nocapture"];
        let output = Command::new(program).args(arguments).env("DTYPE_KERNELS", value).output();
        let output = output.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    };
    let best = Isa::ALL.iter().rfind(|isa| available(**isa)).unwrap();
    for isa in Isa::ALL {
        let (out, err) = run(isa.name());
        let expected = if available(*isa) { isa } else { best };
        assert!(out.contains(&format!("selected={expected}")), "{out}");
        assert_eq!(err.contains("dtype: DTYPE_KERNELS="), !available(*isa), "{err}");
    }
    let (out, err) = run("mmx");
    assert!(out.contains(&format!("selected={best}")), "{out}");
    assert!(err.contains("dtype: DTYPE_KERNELS=mmx: there are no such kernels"), "{err}");
}

/// Turns gaps, lengths and keys into displacements and lengths, ordered by the keys.
fn out_of_order(runs: Vec<(u64, u64, u16)>) -> Vec<(i64, u64)> {
    let mut end = 0;
    let mut keyed = Vec::new();
    for (gap, len, key) in runs {
        keyed.push((key, (i64::try_from(end + gap).unwrap(), len)));
        end += gap + len;
    }
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, run)| run).collect()
}

/// The displacement after the last byte of the runs.
fn end(runs: &[(i64, u64)]) -> i64 {
    runs.iter().map(|(place, len)| place + len.cast_signed()).max().unwrap()
}

/// A type of bytes with these runs.
fn of_runs(runs: &[(i64, u64)]) -> Type {
    let (places, lengths): (Vec<i64>, Vec<u64>) = runs.iter().copied().unzip();
    Type::hindexed(&lengths, &places, &Type::basic(Basic::U8)).unwrap()
}

/// Types of a few runs, in any order, with gaps anywhere, nested at most once.
fn types() -> impl Strategy<Value = Type> {
    let runs = prop::collection::vec((0..12_u64, 1..20_u64, any::<u16>()), 1..8);
    let inner = (runs, 0..40_i64).prop_map(|(runs, apart)| {
        let runs = out_of_order(runs);
        Type::resized(&of_runs(&runs), 0, end(&runs) + apart).unwrap()
    });
    (inner, 1..4_u64, 0..30_i64, any::<bool>()).prop_map(|(ty, count, apart, nested)| {
        if nested {
            let stride = ty.extent() + apart;
            let ty = Type::hvector(count, 1, stride, &ty).unwrap();
            Type::resized(&ty, 0, stride * i64::try_from(count).unwrap() + 3).unwrap()
        } else {
            ty
        }
    })
}

proptest! {
    /// As a whole and in fragments.
    #[test]
    fn random_types(ty in types(), count in 0..60_usize, unaligned in 0..64_usize, cut in 0..999_usize) {
        let _alone = alone();
        let ty = ty.commit();
        let extent = usize::try_from(ty.extent()).unwrap();
        let memory: Vec<u8> = (0..=unaligned + extent * count).map(|i| i.to_le_bytes()[0]).collect();
        let size = ty.packed_size(count).unwrap();
        let mut all = Vec::new();
        for _ in each_isa() {
            let mut packed = vec![0xEE; size + 70];
            ty.pack(Buffer::new(&memory).origin(unaligned as i64), count, &mut packed[..size]).unwrap();
            prop_assert!(packed[size..].iter().all(|byte| *byte == 0xEE));
            packed.truncate(size);

            let mut back = vec![0xDD; memory.len()];
            ty.unpack(&packed, BufferMut::new(&mut back).origin(unaligned as i64), count).unwrap();

            let mut copy = vec![0xDD; memory.len()];
            ty.copy(Buffer::new(&memory).origin(unaligned as i64), BufferMut::new(&mut copy).origin(unaligned as i64), count).unwrap();
            prop_assert!(copy == back);

            let mut fragments = vec![0; size];
            let (one, two) = fragments.split_at_mut(cut.min(size));
            let mut packer = ty.packer(Buffer::new(&memory).origin(unaligned as i64), count).unwrap();
            packer.pack(one);
            packer.pack(two);
            prop_assert!(fragments == packed);

            let mut again = vec![0xDD; memory.len()];
            let mut unpacker = ty.unpacker(BufferMut::new(&mut again).origin(unaligned as i64), count).unwrap();
            unpacker.unpack(&packed[..cut.min(size)]).unwrap();
            unpacker.unpack(&packed[cut.min(size)..]).unwrap();
            prop_assert!(again == back);
            all.push((packed, back));
        }
        for other in &all[1..] {
            prop_assert!(other == &all[0]);
        }
    }
}

proptest! {
    /// One instance at a time. After many calls, the engine uses other kernels.
    #[test]
    fn one_at_a_time(ty in types(), unaligned in 0..64_i64) {
        let _alone = alone();
        let len = usize::try_from(ty.true_ub() + unaligned).unwrap();
        let size = usize::try_from(ty.size()).unwrap();
        let memory: Vec<u8> = (0..len).map(|i| (i * 7).to_le_bytes()[0]).collect();
        for _ in each_isa() {
            let committed = ty.commit();
            let (mut expected, mut untouched) = (vec![0; size], vec![0xDD; len]);
            committed.pack(Buffer::new(&memory).origin(unaligned), 1, &mut expected).unwrap();
            committed.unpack(&expected, BufferMut::new(&mut untouched).origin(unaligned), 1).unwrap();
            for call in 0..80 {
                let mut packed = vec![0xEE; size + 70];
                // With room beyond the packed bytes, and without.
                let room = size + call % 2 * 70;
                committed.pack(Buffer::new(&memory).origin(unaligned), 1, &mut packed[..room]).unwrap();
                prop_assert!(packed[..size] == expected);
                prop_assert!(packed[size..].iter().all(|byte| *byte == 0xEE));
                let mut back = vec![0xDD; len];
                committed.unpack(&expected, BufferMut::new(&mut back).origin(unaligned), 1).unwrap();
                prop_assert!(back == untouched);
            }
            // Another instruction set is selected after the commit.
            for _ in each_isa() {
                let mut packed = vec![0; size];
                committed.pack(Buffer::new(&memory).origin(unaligned), 1, &mut packed).unwrap();
                prop_assert!(packed == expected);
            }
        }
    }
}

/// The runs of a record, as displacements and lengths in packed order.
fn runs() -> impl Strategy<Value = Vec<(i64, u64)>> {
    let len = || prop_oneof![1..20_u64, 60..70_u64, 100..400_u64];
    let irregular = prop::collection::vec((0..12_u64, len(), any::<u16>()), 1..12);
    let irregular = irregular.prop_map(out_of_order);
    let regular = (2..40_i64, len(), 0..40_i64, any::<bool>());
    let regular = regular.prop_map(|(count, len, gap, backwards)| {
        let stride = len.cast_signed() + gap;
        let place = |index| if backwards { (count - 1 - index) * stride } else { index * stride };
        (0..count).map(|index| (place(index), len)).collect()
    });
    prop_oneof![irregular, regular]
}

/// Runs, and the stride of the records: with gaps, joined from one record to the next, at the distance of the runs, or
/// backwards.
fn records() -> impl Strategy<Value = (Vec<(i64, u64)>, i64)> {
    (runs(), 0..5, 0..30_i64).prop_map(|(runs, kind, apart)| {
        let (first, last) = (runs[0], runs[runs.len() - 1]);
        let end = end(&runs);
        let extent = match (kind, &runs[..]) {
            (0, _) => last.0 + last.1.cast_signed() - first.0,
            (1, _) => -end - apart,
            (2, [first, next, ..]) => (next.0 - first.0) * i64::try_from(runs.len()).unwrap(),
            _ => end + apart,
        };
        (runs, extent)
    })
}

proptest! {
    /// Records that are too long for a permutation, in fragments of any lengths.
    #[test]
    fn fragments_of_wide_records(
        (runs, extent) in records(),
        count in 2..if cfg!(miri) { 4_usize } else { 30 },
        lengths in prop::collection::vec(prop_oneof![1..80_usize, 500..3000_usize], 1..4),
        until in prop_oneof![Just(100_usize), 0..100_usize],
    ) {
        fragments_agree(&of_runs(&runs), &runs, extent, count, &lengths, until)?;
    }

    /// Blocks of each kind of list. Several blocks are copied at once if they fit the fragment.
    #[test]
    fn fragments_of_lists(
        runs in blocks(),
        count in 1..4_usize,
        lengths in prop::collection::vec(prop_oneof![1..80_usize, 100..3000_usize], 1..4),
        until in prop_oneof![Just(100_usize), 0..100_usize],
    ) {
        let extent = end(&runs) + 5;
        fragments_agree(&of_runs(&runs), &runs, extent, count, &lengths, until)?;
    }

    /// Types that nest rows and lists. A fragment is a part of one list, or of some records.
    #[test]
    fn fragments_of_nested_types(
        (ty, runs) in nested(),
        apart in 0..3_i64,
        count in 1..6_usize,
        lengths in prop::collection::vec(prop_oneof![1..80_usize, 100..9000_usize], 1..4),
        until in prop_oneof![Just(100_usize), 0..100_usize],
    ) {
        fragments_agree(&ty, &runs, ty.extent() + 4 * apart, count, &lengths, until)?;
    }
}

/// Types of one to three levels, and their runs.
fn nested() -> impl Strategy<Value = (Type, Vec<(i64, u64)>)> {
    let runs = prop::collection::vec((1..6_u64, 1..20_u64, any::<u16>()), 1..6);
    let levels = prop::collection::vec(
        (0..3, prop::collection::vec(0..3_i64, 1..if cfg!(miri) { 4 } else { 12 }), any::<bool>()),
        1..4,
    );
    (runs.prop_map(out_of_order), levels).prop_map(|(runs, levels)| {
        let (mut ty, mut all) = (of_runs(&runs), runs);
        for (kind, gaps, backwards) in levels {
            let extent = end(&all);
            let inner = Type::resized(&ty, 0, extent).unwrap();
            let mut places: Vec<i64> = match kind {
                // Repetitions side by side, at equal distances, or at any distances.
                0 => (0..).zip(&gaps).map(|(number, _)| extent * number).collect(),
                1 => (0..).zip(&gaps).map(|(number, _)| (extent + 8) * number).collect(),
                _ => gaps
                    .iter()
                    .scan(0, |at, gap| Some(core::mem::replace(at, *at + extent + gap)))
                    .collect(),
            };
            if backwards {
                places.reverse();
            }
            ty = Type::hindexed_block(1, &places, &inner).unwrap();
            let moved = |place| all.iter().map(move |(disp, len)| (place + disp, *len));
            all = places.iter().flat_map(|place| moved(*place)).collect();
        }
        (ty, all)
    })
}

/// Blocks of similar lengths.
fn blocks() -> impl Strategy<Value = Vec<(i64, u64)>> {
    let longest = prop::sample::select(vec![1, 2, 3, 4, 8, 12, 24, 48, 100, 200_u64]);
    let number = if cfg!(miri) { 10..30_usize } else { 10..200 };
    (longest, 1..5_u64, number, any::<bool>()).prop_flat_map(
        |(longest, times, number, backwards)| {
            let lengths = longest.div_ceil(times)..=longest;
            let all = prop::collection::vec((1..12_u64, lengths, Just(0)), number);
            all.prop_map(out_of_order).prop_map(move |mut all| {
                if backwards {
                    all.reverse();
                }
                all
            })
        },
    )
}

/// Checks that fragments of these lengths, which repeat, equal those of a copy byte by byte, until this percentage of the
/// stream. `runs` are the runs of an instance.
fn fragments_agree(
    ty: &Type,
    runs: &[(i64, u64)],
    extent: i64,
    count: usize,
    lengths: &[usize],
    until: usize,
) -> Result<(), TestCaseError> {
    let _alone = alone();
    let ty = Type::resized(ty, 0, extent).unwrap();
    let ends = |i: usize| i64::try_from(i).unwrap() * extent;
    let lowest = ends(count - 1).min(0) + ty.true_lb();
    let highest = ends(count - 1).max(0) + ty.true_ub();
    let origin = -lowest;
    // The offset in memory of each packed byte.
    let bytes: Vec<usize> = (0..count)
        .flat_map(|i| runs.iter().map(move |(place, len)| (ends(i) + place, *len)))
        .flat_map(|(place, len)| (0..len.cast_signed()).map(move |byte| place + byte))
        .map(|place| usize::try_from(place + origin).unwrap())
        .collect();
    let length = usize::try_from(highest - lowest).unwrap();
    let memory: Vec<u8> = (0..length).map(|i| (i * 7 + i / 256).to_le_bytes()[0]).collect();
    for _ in each_isa() {
        let ty = ty.commit();
        let mut packer = ty.packer(Buffer::new(&memory).origin(origin), count).unwrap();
        // After some fragments, the engine cuts a type in another way.
        for _ in 0..if lengths.len() > 1 { 70 } else { 0 } {
            packer.set_position(bytes.len() as u64 / 2).unwrap();
            packer.pack(&mut [0]);
        }
        packer.set_position(0).unwrap();
        let mut target = vec![0xDD; length];
        let mut wanted = target.clone();
        // Unpacking is refused if records overlap.
        let mut unpacker = ty.unpacker(BufferMut::new(&mut target).origin(origin), count).ok();
        prop_assert!(unpacker.is_some() || extent.unsigned_abs() < ty.true_ub().cast_unsigned());
        let (mut at, mut lengths) = (0, lengths.iter().cycle());
        while at < bytes.len() * until / 100 {
            let part = &bytes[at..bytes.len().min(at + lengths.next().unwrap())];
            at += part.len();
            let expected: Vec<u8> = part.iter().map(|place| memory[*place]).collect();
            let mut packed = vec![0xEE; part.len() + 70];
            prop_assert_eq!(packer.pack(&mut packed[..part.len()]), part.len());
            prop_assert!(packed[..part.len()] == expected);
            prop_assert!(packed[part.len()..].iter().all(|byte| *byte == 0xEE));
            if let Some(unpacker) = &mut unpacker {
                unpacker.unpack(&expected).unwrap();
                for place in part {
                    wanted[*place] = memory[*place];
                }
            }
        }
        if unpacker.is_some() {
            drop(unpacker);
            prop_assert!(target == wanted);
        }
    }
    Ok(())
}

#[cfg(feature = "derive")]
mod derived {
    use super::{alone, each_isa};
    use dtype_runtime::{Datatype, Packer, pack, unpack, unpack_into};

    macro_rules! every_count {
        ($($name:ident { $($field:ident: $ty:ty = $value:expr),* })*) => {$(
            #[test]
            fn $name() {
                #[derive(Datatype, Clone, Debug, PartialEq)]
                #[repr(C)]
                struct Record { $($field: $ty),* }

                let _alone = alone();
                for count in 0..=200_u8 {
                    let items: Vec<Record> =
                        (0..count).map(|i| Record { $($field: { let f = $value; f(i) }),* }).collect();
                    let mut all = Vec::new();
                    for _ in each_isa() {
                        let packed = pack(&items);
                        assert_eq!(unpack::<Record>(&packed).unwrap(), items);
                        let mut over = items.clone();
                        over.reverse();
                        unpack_into(&packed, &mut over).unwrap();
                        assert_eq!(over, items);
                        let (mut packer, mut fragments) = (Packer::new(&items), packed.clone());
                        for fragment in fragments.chunks_mut(1000 + usize::from(count)) {
                            fragment.fill(0);
                            packer.pack(fragment);
                        }
                        assert_eq!(fragments, packed);
                        all.push(packed);
                    }
                    assert!(all.iter().all(|packed| *packed == all[0]));
                }
            }
        )*};
    }

    every_count! {
        tail { a: f64 = f64::from, b: u32 = u32::from, c: u8 = |i| i }
        hole { a: u8 = |i| i, b: u64 = u64::from }
        small { a: u32 = u32::from, b: u16 = u16::from }
        body { a: [f64; 6] = |i| [f64::from(i); 6], b: u32 = u32::from, c: u8 = |i: u8| !i }
        mixed { a: [f32; 3] = |i| [f32::from(i); 3], b: f64 = f64::from, c: [i16; 2] = |i| [i16::from(i); 2] }
        scattered { a: u8 = |i| i, b: i16 = i16::from, c: i32 = i32::from, d: f64 = f64::from, e: u8 = |i| i }
        nested { a: (i32, f64) = |i| (1, f64::from(i)), b: [(u8, f64); 3] = |i| [(i, 0.5); 3], c: f32 = f32::from }
        wide { a: [f64; 8] = |i| [f64::from(i); 8], b: u32 = u32::from, c: u8 = |i: u8| !i }
        long { a: u64 = u64::from, b: [u32; 40] = |i| [u32::from(i) << 7; 40], c: u32 = |i| !u32::from(i) }
        joined { a: [u16; 7] = |i| [u16::from(i); 7], b: f64 = f64::from, c: [u64; 9] = |i| [u64::from(i) << 40; 9] }
        checked { a: bool = |i| i % 2 == 0, b: u32 = u32::from, c: char = char::from }
    }
}

/// The number of records unpacked beside another thread.
const RECORDS: usize = 64;

/// While records are unpacked, another thread writes the bytes between their fields. Such a write would be lost if gaps were
/// read and written back.
#[test]
fn gaps_are_left_to_other_threads() {
    let _alone = alone();
    let byte = Type::basic(Basic::U8);
    let record = Type::hindexed(&[8, 1, 4], &[0, 9, 12], &byte).unwrap();
    let ty = Type::resized(&record, 0, 24).unwrap().commit();
    let is_data = |at: usize| matches!(at % 24, 0..=7 | 9 | 12..=15);
    for _ in each_isa() {
        let memory: Vec<AtomicU8> = (0..24 * RECORDS).map(|_| AtomicU8::new(0)).collect();
        let packed = vec![0xAA; ty.packed_size(RECORDS).unwrap()];
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut turn = 0_u8;
                while !done.load(Ordering::Relaxed) {
                    for (at, byte) in memory.iter().enumerate() {
                        if !is_data(at) {
                            let seen = byte.load(Ordering::Relaxed);
                            assert_eq!(seen, turn, "byte {at} was overwritten");
                            byte.store(turn.wrapping_add(1), Ordering::Relaxed);
                        }
                    }
                    turn = turn.wrapping_add(1);
                }
            });
            let origin = memory.as_ptr().cast::<u8>().cast_mut();
            for _ in 0..if writer.is_finished() { 0 } else { 20_000 } {
                // SAFETY: the data lie in the memory, which may be written through shared references; the other
                // thread accesses only the gaps.
                unsafe { ty.unpack_raw(&packed, origin, RECORDS).unwrap() };
            }
            done.store(true, Ordering::Relaxed);
        });
        for (at, byte) in memory.iter().enumerate() {
            assert!(!is_data(at) || byte.load(Ordering::Relaxed) == 0xAA);
        }
    }
}

/// Packed records of zeros, except for ones in the bytes `ones` of each.
fn records_with(size: usize, ones: &[usize], count: usize) -> Vec<u8> {
    let record: Vec<u8> = (0..size).map(|byte| ones.contains(&byte).into()).collect();
    record.repeat(count)
}

/// Makes each byte of many records invalid. The error must be that of the same record alone, with its number.
fn checks_agree<T: Datatype + Clone>(ones: &[usize]) {
    let size = packed_size::<T>(1);
    // The time grows with the square of the length.
    let limit = if std::env::var_os("CI").is_some() { 1200 } else { 600 };
    for count in [1, 2, 3, 7, 8, 9, 16, 17, 40].into_iter().filter(|count| count * size <= limit) {
        let valid = records_with(size, ones, count);
        let items = unpack::<T>(&valid).unwrap();
        for place in 0..valid.len() {
            let mut bytes = valid.clone();
            for value in [0, 2, 0x80, 0xD8, 0xFF] {
                bytes[place] = value;
                let record = place / size;
                let expected = unpack::<T>(&bytes[record * size..][..size]).map(drop);
                let expected = expected.map_err(|error| match error {
                    Error::InvalidValue { path, expected, value, .. } => {
                        Error::InvalidValue { record, path, expected, value }
                    }
                    other => other,
                });
                assert_eq!(
                    unpack::<T>(&bytes).map(drop),
                    expected,
                    "{count} records, byte {place}"
                );
                let mut over = items.clone();
                assert_eq!(unpack_into(&bytes, &mut over).map(drop), expected);
                if expected.is_err() {
                    assert_eq!(pack(&over), valid, "nothing is written");
                } else {
                    assert_eq!(pack(&over), bytes);
                }
            }
        }
    }
}

/// Enums, whose numbers may have gaps.
#[cfg(feature = "derive")]
mod enums {
    use core::num::NonZero;

    use dtype_runtime::Datatype;

    use super::checks_agree;

    /// Numbers with one gap, which form two ranges.
    #[derive(Datatype, Clone, Copy)]
    #[repr(u8)]
    enum Gap {
        A = 0,
        B = 1,
        C = 0xD8,
        D = 0xD9,
    }

    /// Numbers with more gaps, one of which is at 0.
    #[derive(Datatype, Clone, Copy)]
    #[repr(i16)]
    enum Gaps {
        A = -256,
        B = 1,
        C = 0x80,
        D = 0x101,
    }

    /// Numbers with too many gaps for vectorized checks.
    #[derive(Datatype, Clone, Copy)]
    #[repr(u8)]
    enum Even {
        A = 0,
        B = 2,
        C = 4,
        D = 6,
        E = 8,
        F = 0x80,
    }

    pub(super) fn agree() {
        checks_agree::<(Gap, i8)>(&[]);
        checks_agree::<(char, Gap, [u64; 2], Gap)>(&[]);
        checks_agree::<(Gaps, u16, Gap)>(if cfg!(target_endian = "big") { &[1] } else { &[0] });
        checks_agree::<(Even, bool)>(&[]);
        checks_agree::<([Gap; 30], NonZero<u8>)>(&[30]);
    }
}

#[test]
#[cfg_attr(miri, ignore = "tests instructions that Miri does not have, and takes long")]
fn every_instruction_set_refuses_the_same_values() {
    let _alone = alone();
    for _ in each_isa() {
        checks_agree::<(bool, char, f32, u64)>(&[]);
        checks_agree::<(u8, bool)>(&[]);
        checks_agree::<(char, bool)>(&[]);
        checks_agree::<(NonZero<u64>, u8, bool)>(&[0]);
        checks_agree::<(bool, NonZero<u16>, NonZero<i8>)>(&[1, 3]);
        checks_agree::<(NonZero<u128>, bool)>(&[3]);
        #[cfg(feature = "derive")]
        enums::agree();
        // Records of a vector of 16 bytes, of one byte more, and of several vectors, and the same with wider lanes.
        checks_agree::<[bool; 16]>(&[]);
        checks_agree::<[bool; 17]>(&[]);
        checks_agree::<([bool; 9], [u8; 20], char, bool)>(&[]);
        checks_agree::<(NonZero<u64>, bool, NonZero<u64>, char)>(&[0, 9]);
        checks_agree::<[(NonZero<u64>, bool); 3]>(&[0, 9, 18]);
        // The same with a vector of 64 bytes.
        checks_agree::<[bool; 64]>(&[]);
        checks_agree::<[bool; 65]>(&[]);
        checks_agree::<[(bool, char); 5]>(&[]);
        checks_agree::<([char; 12], [bool; 12])>(&[]);
        checks_agree::<(bool, [u8; 70], NonZero<u32>, [u8; 61], char)>(&[71]);
    }
}
