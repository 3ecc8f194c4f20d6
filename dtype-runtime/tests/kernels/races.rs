//! What several threads may do at the same time. These tests compare results, but their purpose is to run under the thread
//! sanitizer, which reports two threads at one byte even if the result is right. All threads are joined before anything is
//! compared.
//!
//! The sanitizer does not see the masked and the wide accesses of AVX-512: only the results test these. With
//! `DTYPE_KERNELS=portable` it sees all accesses.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use dtype_runtime::commit::Committed;
use dtype_runtime::convertor::Converted;
use dtype_runtime::representation::{Architecture, ByteOrder, LongDouble, Widths};
use dtype_runtime::{
    Basic, Buffer, BufferMut, Datatype, Error, Flags, Packer, Representation, Type, Unpacker, pack,
};

const THREADS: usize = 4;

/// Runs each piece of work on a thread of its own. All of them begin when the last thread has started.
fn together<W: FnOnce() + Send>(work: impl IntoIterator<Item = W>) {
    let work: Vec<W> = work.into_iter().collect();
    let start = &Barrier::new(work.len());
    thread::scope(|scope| {
        for work in work {
            scope.spawn(move || {
                start.wait();
                work();
            });
        }
    });
}

/// After another instruction set was selected, a part of a message is copied with that set.
#[test]
fn fragments_while_instructions_are_selected() {
    use dtype_runtime::isa::{Isa, available, select, selected};

    let _alone = crate::alone();
    let before = selected();
    let members = [Basic::U8, Basic::U16, Basic::U8].map(Type::basic);
    let record = Type::structure(&[1, 1, 1], &[0, 4, 12], &members).unwrap();
    let rows = Type::contiguous(100, &Type::resized(&record, 0, 16).unwrap()).unwrap();
    let types = [(rows.clone(), 1), (rows.clone(), 3), (Type::resized(&rows, 0, 2000).unwrap(), 3)];
    let calls = if cfg!(miri) { 20 } else { 4000 };
    let best = Isa::ALL.iter().rfind(|isa| available(**isa)).copied().unwrap();
    let left = &AtomicU32::new(types.len() as u32);
    thread::scope(|scope| {
        for (ty, count) in types {
            scope.spawn(move || {
                let ty = ty.commit();
                let memory = vec![7; 16 * 100 + 2000 * (count - 1)];
                let size = ty.packed_size(count).unwrap();
                let mut wrong = 0;
                for call in 0..calls {
                    let (mut at, mut out) = (0, vec![0; size]);
                    let mut packer = ty.packer(&memory, count).unwrap();
                    while !packer.is_complete() {
                        let end = size.min(at + 90 + call % 20);
                        at += packer.pack(&mut out[at..end]);
                    }
                    wrong += out.iter().filter(|byte| **byte != 7).count();
                }
                left.fetch_sub(1, Ordering::Relaxed);
                assert_eq!(wrong, 0);
            });
        }
        while left.load(Ordering::Relaxed) > 0 {
            select(Isa::Portable).unwrap();
            select(best).unwrap();
        }
    });
    select(before).unwrap();
}

/// Instances in a memory. Together, the cases have every kind of operation of a plan.
struct Case {
    committed: Committed,
    count: usize,
    origin: usize,
    len: usize,
}

impl Case {
    fn new(ty: Result<Type, Error>, count: usize) -> Self {
        let ty = ty.unwrap();
        let last = (count as i64 - 1) * ty.extent();
        let start = (ty.true_lb() + last.min(0)).min(0);
        let end = ty.true_ub() + last.max(0);
        let origin = usize::try_from(-start).unwrap();
        let len = usize::try_from(end - start).unwrap();
        Self { committed: ty.commit(), count, origin, len }
    }

    fn packed_size(&self) -> usize {
        self.committed.packed_size(self.count).unwrap()
    }

    fn unpacker<'a>(&self, memory: &'a mut [u8]) -> Unpacker<'a> {
        self.committed
            .unpacker(BufferMut::new(memory).origin(self.origin as i64), self.count)
            .unwrap()
    }

    fn packer<'a>(&self, memory: &'a [u8]) -> Packer<'a> {
        self.committed.packer(Buffer::new(memory).origin(self.origin as i64), self.count).unwrap()
    }
}

fn cases() -> Vec<Case> {
    let basic = Type::basic;
    let column = Type::vector(40, 1, 6, &basic(Basic::U16)).unwrap();
    let types = [Basic::U8, Basic::U64, Basic::U16].map(basic);
    let record = Type::structure(&[1, 1, 1], &[0, 8, 16], &types).unwrap();
    // Displacements without a pattern, with equal lengths and with varied lengths.
    let places: Vec<i64> = (0..60).map(|i| i * (i + 3) / 2).collect();
    let lengths: Vec<u64> = (0..60).map(|i| 1 + i % 2).collect();
    let spread: Vec<i64> = places.iter().map(|place| 9 * place).collect();
    let row = Type::hvector(3, 1, 11, &basic(Basic::U32)).unwrap();
    // The last run of an instance touches the first of the next.
    let touching = Type::hindexed(&[2, 3], &[0, 5], &basic(Basic::U8)).unwrap();
    vec![
        Case::new(Ok(basic(Basic::U64)), 40),
        Case::new(Type::hvector(50, 1, 11, &basic(Basic::U64)), 1),
        Case::new(Type::resized(&column, 0, 2), 6),
        Case::new(Ok(record), 30),
        Case::new(Type::hindexed_block(4, &spread, &basic(Basic::U8)), 2),
        Case::new(Type::hindexed(&lengths, &spread, &basic(Basic::U16)), 2),
        Case::new(Type::hvector(5, 1, -40, &row), 3),
        Case::new(Type::resized(&touching, 0, 8), 30),
    ]
}

/// The places where the parts of a stream of this length meet: inside elements, and inside records.
fn cuts(end: usize, shift: usize) -> [usize; THREADS + 1] {
    let mut cuts = [0; THREADS + 1];
    for (i, cut) in cuts.iter_mut().enumerate() {
        *cut = (end * i / THREADS + shift).min(end);
    }
    cuts[0] = 0;
    cuts[THREADS] = end;
    cuts
}

/// An unpacker for each part.
fn parts<'a>(mut rest: Unpacker<'a>, cuts: &[usize; THREADS + 1]) -> Vec<Unpacker<'a>> {
    let mut parts = Vec::new();
    for &cut in &cuts[1..THREADS] {
        let (front, back) = rest.split_at(cut as u64).unwrap();
        parts.push(front);
        rest = back;
    }
    parts.push(rest);
    parts
}

#[test]
fn parts_are_unpacked_side_by_side() {
    for case in cases() {
        let packed: Vec<u8> = (0..case.packed_size()).map(|i| (i * 7 + 1) as u8).collect();
        let mut wanted = vec![0x5A; case.len];
        assert_eq!(case.unpacker(&mut wanted).unpack(&packed), Ok(packed.len()));
        for (shift, fragment) in [(1, 5), (2, 1000), (3, 1), (5, 64), (7, 13)] {
            let cuts = cuts(packed.len(), shift);
            let mut memory = vec![0x5A; case.len];
            let parts = parts(case.unpacker(&mut memory), &cuts);
            together(parts.into_iter().zip(cuts.windows(2)).map(|(mut part, ends)| {
                let bytes = &packed[ends[0]..ends[1]];
                move || {
                    for piece in bytes.chunks(fragment) {
                        assert_eq!(part.unpack(piece), Ok(piece.len()));
                    }
                }
            }));
            assert_eq!(memory, wanted);
        }
    }
}

#[test]
fn clones_pack_side_by_side() {
    for case in cases() {
        let memory: Vec<u8> = (0..case.len).map(|i| (i * 31 + 7) as u8).collect();
        let packer = case.packer(&memory);
        let mut wanted = vec![0; case.packed_size()];
        packer.clone().pack(&mut wanted);
        let cuts = cuts(wanted.len(), 3);
        let mut out = vec![0; wanted.len()];
        let mut rest = &mut out[..];
        let mut work = Vec::new();
        for ends in cuts.windows(2) {
            let (room, behind) = rest.split_at_mut(ends[1] - ends[0]);
            rest = behind;
            let (packer, wanted) = (&packer, &wanted[ends[0]..]);
            work.push(move || {
                // A packer lends memory that all threads may read.
                let chunk = packer.chunk();
                let mut mine = packer.clone();
                mine.set_position(ends[0] as u64).unwrap();
                assert!(wanted.starts_with(mine.chunk()) && !chunk.is_empty());
                assert_eq!(mine.chunks().map(<[u8]>::len).sum::<usize>(), wanted.len());
                assert_eq!(mine.pack(room), room.len());
            });
        }
        together(work);
        assert_eq!(out, wanted);
    }
}

/// Each thread clones types and commits them. Any thread may drop the last handle to a type.
#[test]
fn owners_come_and_go() {
    for turn in 0..50_usize {
        let number = Type::basic(Basic::F64);
        let ty = Type::vector(2 + turn as u64, 1, 3, &number).unwrap();
        let committed = ty.commit();
        let owners: Vec<_> = (0..THREADS).map(|_| (ty.clone(), committed.clone())).collect();
        drop((ty, committed));
        let memory = vec![7; 8 * 3 * (turn + 2)];
        together(owners.into_iter().map(|(ty, committed)| {
            let memory = &memory;
            move || {
                let both = Type::contiguous(2, &ty).unwrap();
                drop(ty);
                let mut out = vec![0; 8 * (turn + 2)];
                committed.clone().pack(memory, 1, &mut out).unwrap();
                drop(committed);
                assert_eq!((both.size(), out[0]), (16 * (turn as u64 + 2), 7));
            }
        }));
    }
}

/// The address of memory that threads share by agreement.
#[derive(Clone, Copy)]
struct Shared(*mut u8);

// SAFETY: the value is only an address. Each access through it has its own reason.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    fn at(self, offset: usize) -> *mut u8 {
        self.0.wrapping_add(offset)
    }
}

/// Converts the data of each case while another thread fills the gaps with 2. Each byte of data is 1 before, and `data`
/// afterwards.
fn convert_beside_gaps(convert: impl Fn(&Case, *mut u8) + Sync, data: u8) {
    for case in &cases() {
        let mut is_data = vec![false; case.len];
        for piece in case.committed.iov(case.count, 0..case.packed_size() as u64).unwrap() {
            let first = usize::try_from(case.origin as i64 + piece.disp).unwrap();
            is_data[first..first + piece.len as usize].fill(true);
        }
        let mut memory = vec![1; case.len];
        let start = Shared(memory.as_mut_ptr());
        let (convert, is_data) = (&convert, &is_data);
        let fill = move || {
            for at in (0..is_data.len()).filter(|at| !is_data[*at]) {
                // SAFETY: a byte of the memory that the conversion does not touch.
                unsafe { start.at(at).write(2) };
            }
        };
        let work: [Box<dyn FnOnce() + Send + '_>; 2] =
            [Box::new(fill), Box::new(move || convert(case, start.at(case.origin)))];
        together(work);
        for (byte, is_data) in memory.iter().zip(is_data) {
            assert_eq!(*byte, if *is_data { data } else { 2 });
        }
    }
}

/// Packing does not even read the bytes between the data.
#[test]
fn packing_leaves_the_gaps_to_others() {
    let pack = |case: &Case, origin: *mut u8| {
        // SAFETY: the data lie in the memory, and nothing writes them.
        let packer = unsafe { Packer::from_raw(&case.committed, origin, case.count) };
        let mut out = vec![0; case.packed_size()];
        assert_eq!(packer.unwrap().pack(&mut out), out.len());
        assert!(out.iter().all(|byte| *byte == 1));
    };
    convert_beside_gaps(pack, 1);
}

#[test]
fn unpacking_leaves_the_gaps_to_others() {
    let unpack = |case: &Case, origin: *mut u8| {
        // SAFETY: the data lie in the memory, and no other thread accesses them.
        let unpacker = unsafe { Unpacker::from_raw(&case.committed, origin, case.count) };
        let packed = vec![3; case.packed_size()];
        assert_eq!(unpacker.unwrap().unpack(&packed), Ok(packed.len()));
    };
    convert_beside_gaps(unpack, 3);
}

/// A struct with padding, and with a field that any thread may write while the struct is borrowed.
#[derive(Datatype, Debug, Default)]
struct Counted {
    flag: u8,
    value: u64,
    #[dtype(skip)]
    seen: AtomicU32,
    number: u16,
}

#[test]
fn skipped_fields_are_written_meanwhile() {
    let items: Vec<Counted> = (0..200_u16)
        .map(|i| Counted {
            flag: i as u8,
            value: u64::from(i) << 40,
            number: i,
            ..Counted::default()
        })
        .collect();
    let wanted = pack(&items);
    let cuts = cuts(wanted.len(), 5);
    together(cuts.windows(2).map(|ends| {
        let (items, wanted) = (&items, &wanted[ends[0]..ends[1]]);
        let position = ends[0] as u64;
        move || {
            for item in items {
                item.seen.fetch_add(1, Ordering::Relaxed);
            }
            let mut packer = Packer::new(items);
            packer.set_position(position).unwrap();
            let mut out = vec![0; wanted.len()];
            assert_eq!(packer.pack(&mut out), out.len());
            assert_eq!(out, wanted);
            assert_eq!(pack(items)[..5], pack(&items[..1])[..5]);
        }
    }));
    assert!(items.iter().all(|item| item.seen.load(Ordering::Relaxed) as usize == THREADS));
}

/// Slices whose parts meet inside an element where all bit patterns are values, and between records elsewhere.
#[test]
fn parts_of_slices_are_unpacked_side_by_side() {
    let numbers: Vec<(u8, u64, u16)> =
        (0..200_u16).map(|i| (i as u8, u64::from(i) << 40, i)).collect();
    let flags: Vec<(bool, u32, char)> =
        (0..200_u32).map(|i| (i % 2 == 1, i << 20, char::from(i as u8))).collect();
    let (bytes, checked) = (pack(&numbers), pack(&flags));
    let mut cuts_of_checked = cuts(checked.len(), 0);
    for cut in &mut cuts_of_checked {
        *cut -= *cut % 9;
    }
    for shift in 1..9 {
        let mut target = vec![(0, 0, 0); numbers.len()];
        let mut targets = vec![(false, 0, 'x'); flags.len()];
        let cuts = cuts(bytes.len(), shift);
        let all = parts(Unpacker::new(&mut target), &cuts).into_iter().zip(cuts.windows(2));
        let both = all.map(|(part, ends)| (part, &bytes[ends[0]..ends[1]]));
        let cuts = &cuts_of_checked;
        let all = parts(Unpacker::new(&mut targets), cuts).into_iter().zip(cuts.windows(2));
        let both = both.chain(all.map(|(part, ends)| (part, &checked[ends[0]..ends[1]])));
        together(both.map(|(mut part, bytes)| {
            move || {
                for piece in bytes.chunks(11) {
                    assert_eq!(part.unpack(piece), Ok(piece.len()));
                }
            }
        }));
        assert_eq!((&target, &targets), (&numbers, &flags));
    }
}

/// Records that fit several times into a register of 64 bytes, and a record that needs two registers, with gaps in and between
/// them. If the machine supports it, a masked access reads or writes a register at once and leaves out the gaps.
fn permutations() -> Vec<Case> {
    let small =
        Type::structure(&[1; 3], &[0, 2, 5], &[Basic::U8, Basic::U16, Basic::U8].map(Type::basic));
    let small = Type::resized(&small.unwrap(), 0, 8).unwrap();
    let backwards =
        Type::structure(&[1; 2], &[6, 0], &[Basic::U32, Basic::U16].map(Type::basic)).unwrap();
    let backwards = Type::resized(&backwards, 0, 12).unwrap();
    let wide = Type::hindexed(&[3, 1, 2], &[60, 0, 30], &Type::basic(Basic::U64)).unwrap();
    vec![
        Case::new(Ok(small.clone()), 160),
        // The records are repeated by a loop or by blocks, and not by instances.
        Case::new(Type::hvector(160, 1, 9, &small), 1),
        Case::new(Type::hvector(300, 3, 5, &Type::basic(Basic::U8)), 1),
        Case::new(Type::resized(&backwards, 0, -12), 120),
        Case::new(Ok(wide), 40),
    ]
}

/// Two threads begin where their parts meet, and one of them goes backwards, so both access the same register at the same time.
/// The parts meet inside a record and inside a value, at every position of some records.
#[test]
fn two_fragments_meet_inside_a_permutation() {
    for case in permutations() {
        let packed: Vec<u8> = (0..case.packed_size()).map(|i| (i * 7 + 1) as u8).collect();
        let mut wanted = vec![0x5A; case.len];
        assert_eq!(case.unpacker(&mut wanted).unpack(&packed), Ok(packed.len()));
        let middle = packed.len() / 2;
        for cut in middle..middle + 40 {
            let mut memory = vec![0x5A; case.len];
            let (mut front, mut back) = case.unpacker(&mut memory).split_at(cut as u64).unwrap();
            let (first, second) = packed.split_at(cut);
            let work: [Box<dyn FnOnce() + Send + '_>; 2] = [
                Box::new(move || {
                    let mut end = first.len();
                    for piece in first.rchunks(150) {
                        end -= piece.len();
                        front.set_position(end as u64).unwrap();
                        assert_eq!(front.unpack(piece), Ok(piece.len()));
                    }
                }),
                Box::new(move || {
                    for piece in second.chunks(150) {
                        assert_eq!(back.unpack(piece), Ok(piece.len()));
                    }
                }),
            ];
            together(work);
            assert_eq!(memory, wanted);
        }
    }
}

/// The same for slices, whose plans are constants.
#[test]
fn two_fragments_meet_inside_a_permutation_of_a_slice() {
    let items: Vec<(u8, u32, u16)> =
        (0..200_u16).map(|i| (i as u8, u32::from(i) << 20, i)).collect();
    let packed = pack(&items);
    for cut in packed.len() / 2..packed.len() / 2 + 30 {
        let mut target = vec![(0, 0, 0); items.len()];
        let (mut front, mut back) = Unpacker::new(&mut target).split_at(cut as u64).unwrap();
        let (first, second) = packed.split_at(cut);
        let work: [Box<dyn FnOnce() + Send + '_>; 2] = [
            Box::new(move || assert_eq!(front.unpack(first), Ok(first.len()))),
            Box::new(move || assert_eq!(back.unpack(second), Ok(second.len()))),
        ];
        together(work);
        assert_eq!(target, items);
    }
}

/// The parts of a converted stream. None begins inside a value that is converted as a whole.
fn foreign_parts<'a>(
    case: &Case,
    representation: Representation,
    memory: &'a mut [u8],
    cuts: &[usize; THREADS + 1],
) -> Vec<Unpacker<'a, Converted>> {
    let mut rest = case.unpacker(memory).with_representation(representation).unwrap();
    let mut parts = Vec::new();
    for &cut in &cuts[1..THREADS] {
        let (front, back) = rest.split_at(cut as u64).unwrap();
        parts.push(front);
        rest = back;
    }
    parts.push(rest);
    parts
}

/// Where values are converted byte by byte, parts meet anywhere. Where values change their widths, parts meet between two such
/// values, or inside other values.
#[test]
fn parts_of_converted_streams_are_unpacked_side_by_side() {
    let basic = Type::basic;
    let mixed =
        Type::structure(&[1; 3], &[0, 8, 17], &[Basic::U16, Basic::Long, Basic::U32].map(basic));
    let mixed = Type::resized(&mixed.unwrap(), 0, 24).unwrap();
    let real =
        Type::structure(&[1; 2], &[0, 16], &[Basic::U16, Basic::LongDouble].map(basic)).unwrap();
    let narrow = Widths { long: 4, ..Widths::HOST };
    let double = Widths { long_double: LongDouble::Binary64, ..Widths::HOST };
    let [narrow, double] = [narrow, double].map(|widths| {
        Representation::Foreign(Architecture::from_widths(ByteOrder::NATIVE, widths).unwrap())
    });
    let numbers = Case::new(Type::hvector(90, 1, 11, &basic(Basic::U32)), 2);
    let mut all: Vec<(Case, Representation, usize)> = Vec::new();
    for representation in [Representation::BigEndian, Representation::LittleEndian] {
        all.extend(permutations().into_iter().map(|case| (case, representation, 1)));
        all.extend(cases().into_iter().map(|case| (case, representation, 1)));
    }
    // Records of this packed size. Parts begin in the first value, which does not change its width. A narrower value fits,
    // whatever its bytes are.
    all.push((numbers, Representation::External32, 1));
    all.push((Case::new(Ok(mixed.clone()), 120), Representation::External32, 10));
    all.push((Case::new(Ok(mixed), 120), narrow, 10));
    all.push((Case::new(Ok(real), 60), double, 10));
    for (case, representation, record) in &all {
        let source: Vec<u8> = vec![0; case.len];
        let packer = case.packer(&source).with_representation(*representation).unwrap();
        let end = packer.remaining() as usize;
        let packed: Vec<u8> = (0..end).map(|i| (i * 7 + 1) as u8).collect();
        let mut wanted = vec![0x5A; case.len];
        let mut alone = case.unpacker(&mut wanted).with_representation(*representation).unwrap();
        assert_eq!(alone.unpack(&packed), Ok(end));
        for (shift, fragment) in [(1, 5), (2, 1000), (0, 1), (5, 64), (7, 13)] {
            let mut cuts = cuts(end, shift);
            for cut in &mut cuts[1..THREADS] {
                *cut = *cut - *cut % record + if *record > 1 { shift.min(1) } else { 0 };
            }
            let mut memory = vec![0x5A; case.len];
            let parts = foreign_parts(case, *representation, &mut memory, &cuts);
            together(parts.into_iter().zip(cuts.windows(2)).map(|(mut part, ends)| {
                let bytes = &packed[ends[0]..ends[1]];
                move || {
                    for piece in bytes.chunks(fragment) {
                        assert_eq!(part.unpack(piece), Ok(piece.len()));
                    }
                    assert_eq!(part.incomplete(), 0);
                }
            }));
            assert_eq!(memory, wanted);
        }
    }
}

/// All threads request a property that the type computes at the first request.
#[test]
fn several_threads_compute_a_property_at_once() {
    for round in 0..20 {
        // New types with blocks in no order, so that the computation takes some time.
        let places: Vec<i64> = (0..40).map(|i| i * 7 % 40 * 3 + round % 3).collect();
        let list = Type::indexed_block(1, &places, &Type::basic(Basic::U16)).unwrap();
        let ty = Type::structure(&[1, 1], &[0, 1000], &[list.clone(), list]).unwrap();
        let twice = Type::hvector(2, 1, 1, &ty).unwrap();
        let committed = ty.commit();
        let bytes = ty.marshal();
        together((0..THREADS).map(|_| {
            let (ty, committed, twice, bytes) = (&ty, committed.clone(), twice.clone(), &bytes);
            move || {
                assert!(!ty.flags().contains(Flags::OVERLAP));
                assert!(twice.flags().contains(Flags::OVERLAP));
                let mut memory = vec![0; 4000];
                let packed = vec![1; 160];
                assert_eq!(committed.unpack(&packed, &mut memory, 1), Ok(160));
                assert!(committed.unpacker(&mut memory, 2).is_ok());
                let refused = twice.commit().unpack(&[1; 320], &mut memory, 1);
                assert_eq!(refused, Err(Error::Overlap { count: 1 }));
                assert_eq!((&ty.marshal(), &Type::unmarshal(bytes).unwrap()), (bytes, ty));
                assert_eq!(ty.signature(), committed.signature());
            }
        }));
    }
}

/// The last thread to drop a type need not be the thread that made it.
#[test]
fn types_are_dropped_by_any_thread() {
    for _ in 0..20 {
        let column = Type::vector(9, 1, 3, &Type::basic(Basic::U8)).unwrap();
        let committed = Type::contiguous(2, &column).unwrap().commit();
        let memory = [7; 100];
        let work: Vec<_> = (0..THREADS)
            .map(|_| {
                let (column, committed) = (column.clone(), committed.clone());
                let mut packer = committed.packer(&memory, 1).unwrap();
                move || {
                    drop(committed);
                    assert_eq!(packer.pack(&mut [0; 20]), 18);
                    drop(packer);
                    assert_eq!(column.size(), 9);
                }
            })
            .collect();
        drop((column, committed));
        together(work);
    }
}
