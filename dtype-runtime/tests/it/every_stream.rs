//! The common properties of all streams: native streams, converted ones, and streams through a backend. Fragments and
//! interfaces make no difference.

use std::fmt::Debug;
use std::io::{IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use crate::fragments::{fragments, lengths, shuffled};
use crate::polynomial::Polynomial;
use dtype_runtime::convertor::{Backend, Checksum, Checksummed, Fragment, Mode, Native};
use dtype_runtime::{Buffer, BufferMut, Error, Packer, Representation, Unpacker};
use dtype_test_support::case::Case;
use dtype_test_support::model::{config, trees_with_lists};
use proptest::prelude::*;

/// Memory behind a backend.
#[derive(Clone)]
struct Device<M>(M);

impl<M: AsRef<[u8]> + AsMut<[u8]>> Backend for Device<M> {
    type Error = String;

    fn size(&self) -> u64 {
        self.0.as_ref().len() as u64
    }

    fn read(&mut self, fragment: &Fragment<'_>, packed: &mut [u8]) -> Result<(), String> {
        for (memory, place) in fragment.blocks() {
            let block = &self.0.as_ref()[usize::try_from(memory).unwrap()..][..place.len()];
            packed[place].copy_from_slice(block);
        }
        Ok(())
    }

    fn write(&mut self, fragment: &Fragment<'_>, packed: &[u8]) -> Result<(), String> {
        for (memory, place) in fragment.blocks() {
            let block = &mut self.0.as_mut()[usize::try_from(memory).unwrap()..][..place.len()];
            block.copy_from_slice(&packed[place]);
        }
        Ok(())
    }
}

fn sum(bytes: &[u8]) -> Polynomial {
    let mut sum = Polynomial::default();
    sum.update(bytes);
    sum
}

/// Checks that a packer returns `whole` in pieces in any order.
fn check_packer<'a, M>(
    stream: &Packer<'a, M>,
    pack: impl Fn(&mut Packer<'a, M>, &mut [u8]) -> usize,
    whole: &[u8],
    pieces: &[Range<usize>],
) where
    M: Mode<PackError: Debug> + Clone,
    Packer<'a, M>: Read,
    Checksummed<Packer<'a, M>, Polynomial>: Read,
{
    let end = whole.len() as u64;
    let mut anywhere = stream.clone();
    for piece in pieces {
        anywhere.set_position(piece.start as u64).unwrap();
        let mut out = vec![0; piece.len()];
        assert_eq!(pack(&mut anywhere, &mut out), piece.len());
        assert_eq!((&out[..], anywhere.position()), (&whole[piece.clone()], piece.end as u64));
        assert_eq!(anywhere.remaining(), (whole.len() - piece.end) as u64);
        // The same through the traits of the standard library.
        let offset = piece.start as i64 - piece.end as i64;
        assert_eq!(anywhere.seek(SeekFrom::Current(offset)).unwrap(), piece.start as u64);
        let mut again = vec![0; piece.len()];
        anywhere.read_exact(&mut again).unwrap();
        assert_eq!(again, out);
    }
    let refused = Error::Position { position: end + 1, end };
    assert_eq!(anywhere.set_position(end + 1), Err(refused));
    assert!(
        anywhere.seek(SeekFrom::End(1)).is_err()
            && anywhere.seek(SeekFrom::End(-1 - end as i64)).is_err()
    );
    assert_eq!(anywhere.seek(SeekFrom::End(0)).unwrap(), end);
    assert!(anywhere.is_complete());

    let (mut first, mut second) = ([0; 7], [0; 50]);
    let mut buffers = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
    let number = stream.clone().read_vectored(&mut buffers).unwrap();
    assert_eq!(number, whole.len().min(57));
    assert_eq!([&first[..], &second].concat()[..number], whole[..number]);

    let mut summed = stream.clone().with_checksum(Polynomial::default());
    let mut all = Vec::new();
    for length in pieces.iter().map(ExactSizeIterator::len) {
        let mut out = vec![0; length];
        let number = summed.pack(&mut out).unwrap();
        all.extend_from_slice(&out[..number]);
        assert_eq!(*summed.checksum(), sum(&all));
    }
    summed.read_to_end(&mut all).unwrap();
    assert_eq!((&all[..], *summed.checksum()), (whole, sum(whole)));
}

/// Unpacks the pieces in any order.
fn unpack_pieces<M: Mode<Error: Debug>>(
    mut stream: Unpacker<'_, M>,
    whole: &[u8],
    pieces: &[Range<usize>],
) {
    for piece in pieces {
        stream.set_position(piece.start as u64).unwrap();
        assert_eq!(stream.unpack(&whole[piece.clone()]).unwrap(), piece.len());
    }
    stream.set_position(whole.len() as u64).unwrap();
    assert!(stream.is_complete() && stream.unpack(&[1]).unwrap() == 0);
}

/// Writes the pieces in any order, and the first bytes once more from two buffers.
fn write_pieces(mut stream: impl Write + Seek, whole: &[u8], pieces: &[Range<usize>]) {
    for piece in pieces {
        stream.seek(SeekFrom::Start(piece.start as u64)).unwrap();
        stream.write_all(&whole[piece.clone()]).unwrap();
    }
    stream.rewind().unwrap();
    let (first, second) = whole.split_at(whole.len() / 3);
    let buffers = [first, second].map(IoSlice::new);
    assert_eq!(stream.write_vectored(&buffers).unwrap(), whole.len());
    stream.flush().unwrap();
}

/// Unpacks half of a stream and writes the rest, with a checksum.
fn write_summed<'a, M>(mut summed: Checksummed<Unpacker<'a, M>, Polynomial>, whole: &[u8])
where
    M: Mode<Error: Debug>,
    Checksummed<Unpacker<'a, M>, Polynomial>: Write,
{
    let (first, second) = whole.split_at(whole.len() / 2);
    assert_eq!(summed.unpack(first).unwrap(), first.len());
    assert_eq!(*summed.checksum(), sum(first));
    summed.write_all(second).unwrap();
    assert_eq!(*summed.checksum(), sum(whole));
    assert!(summed.stream().is_complete());
}

/// Checks that an unpacker of `$target` unpacks to `$expected` in a blank memory.
macro_rules! check_unpacker {
    ($case:ident, $whole:expr, $expected:expr, $pieces:expr, |$target:ident| $stream:expr) => {{
        let mut memories = [$case.blank(), $case.blank(), $case.blank()];
        let [first, second, third] = &mut memories;
        {
            let $target = &mut first[..];
            unpack_pieces($stream, $whole, $pieces);
        }
        {
            let $target = &mut second[..];
            write_pieces($stream, $whole, $pieces);
        }
        {
            let $target = &mut third[..];
            write_summed($stream.with_checksum(Polynomial::default()), $whole);
        }
        for memory in &memories {
            prop_assert_eq!(memory, $expected);
        }
    }};
}

/// The opposite of this machine's byte order.
const SWAPPED: Representation = if cfg!(target_endian = "little") {
    Representation::BigEndian
} else {
    Representation::LittleEndian
};

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn every_packer_gives_the_same_stream(
        tree in trees_with_lists(4),
        count in 0_usize..6,
        lengths in lengths(),
        seed: u64,
    ) {
        let case = Case::new(&tree, count);
        let (committed, origin) = (&case.committed, case.origin as i64);
        let buffer = Buffer::new(&case.memory).origin(origin);
        let whole = case.packed();
        let pieces = shuffled(fragments(whole.len(), &lengths), seed);
        let packer = committed.packer(buffer, count).unwrap();
        check_packer(&packer, Packer::<Native>::pack, &whole, &pieces);

        let device = Device(case.memory.clone());
        let packer = committed.packer_with(device, origin.into(), count).unwrap();
        check_packer(&packer, |packer, out| packer.pack(out).unwrap(), &whole, &pieces);
        let mut packer = packer;
        for position in pieces.iter().map(|piece| piece.start as u64) {
            packer.set_position(position).unwrap();
            let stack = committed.description().stack(count as u64, position).unwrap();
            prop_assert_eq!(packer.stack(), stack);
        }

        let Ok(conversion) = committed.conversion(SWAPPED) else { return Ok(()) };
        let whole = conversion.pack_to_vec(buffer, count).unwrap();
        let pieces = shuffled(fragments(whole.len(), &lengths), seed);
        let packer = conversion.packer(buffer, count).unwrap();
        check_packer(&packer, |packer, out| packer.pack(out).unwrap(), &whole, &pieces);
    }

    #[test]
    fn every_unpacker_makes_the_same_memory(
        tree in trees_with_lists(4),
        count in 0_usize..6,
        lengths in lengths(),
        seed: u64,
    ) {
        let case = Case::new(&tree, count);
        if case.overlaps() {
            return Ok(());
        }
        let (committed, origin) = (&case.committed, case.origin as i64);
        let whole = case.packed();
        let expected = &case.unpacked(&whole);
        let pieces = &shuffled(fragments(whole.len(), &lengths), seed)[..];
        check_unpacker!(case, &whole, expected, pieces, |target| {
            committed.unpacker(BufferMut::new(target).origin(origin), count).unwrap()
        });
        check_unpacker!(case, &whole, expected, pieces, |target| {
            committed.unpacker_with(Device(target), origin.into(), count).unwrap()
        });
        let Ok(conversion) = committed.conversion(SWAPPED) else { return Ok(()) };
        let buffer = Buffer::new(&case.memory).origin(origin);
        let whole = conversion.pack_to_vec(buffer, count).unwrap();
        let pieces = &shuffled(fragments(whole.len(), &lengths), seed)[..];
        check_unpacker!(case, &whole, expected, pieces, |target| {
            conversion.unpacker(BufferMut::new(target).origin(origin), count).unwrap()
        });
    }
}

/// The error of a backend that cannot copy.
struct Lost;

impl Backend for Lost {
    type Error = std::io::Error;

    fn size(&self) -> u64 {
        8
    }

    fn read(&mut self, _: &Fragment<'_>, _: &mut [u8]) -> Result<(), Self::Error> {
        Err(std::io::Error::other("the device is lost"))
    }

    fn write(&mut self, _: &Fragment<'_>, _: &[u8]) -> Result<(), Self::Error> {
        Err(std::io::Error::other("the device is lost"))
    }
}

#[test]
fn a_backends_error_becomes_an_io_error() {
    use dtype_runtime::{Basic, Type};
    let bytes = Type::contiguous(8, &Type::basic(Basic::U8)).unwrap().commit();
    let mut packer = bytes.packer_with(Lost, 0, 1).unwrap();
    let error = packer.read(&mut [0; 3]).unwrap_err();
    assert_eq!(error.to_string(), "the device is lost");
    assert_eq!(packer.read(&mut []).unwrap(), 0);
    let mut summed = packer.with_checksum(Polynomial::default());
    assert!(summed.read(&mut [0; 3]).is_err() && summed.pack(&mut [0; 3]).is_err());
    assert_eq!((summed.stream().position(), *summed.checksum()), (0, Polynomial(0)));
    let mut unpacker =
        bytes.unpacker_with(Lost, 0, 1).unwrap().with_checksum(Polynomial::default());
    let error = unpacker.write(&[1; 3]).unwrap_err();
    assert_eq!(error.to_string(), "the device is lost");
    assert_eq!((unpacker.stream().position(), *unpacker.checksum()), (0, Polynomial(0)));
}

#[cfg(feature = "rayon")]
mod parallel {
    use dtype_runtime::{Basic, Error, Packer, Representation, Type, Unpacker, pack};

    use super::SWAPPED;

    /// More records than a thread takes at a time.
    fn records() -> Vec<(u8, u64)> {
        (0..150_000_u64)
            .map(|i| (i.to_le_bytes()[0], i.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
            .collect()
    }

    #[test]
    fn all_cores_convert_to_the_same_bytes() {
        let records = records();
        let packer = Packer::new(&records).with_representation(SWAPPED).unwrap();
        let mut whole = vec![0; 9 * records.len()];
        assert_eq!(packer.clone().pack(&mut whole), Ok(whole.len()));
        for (start, len) in [(0, whole.len()), (5, whole.len()), (9, 1_000_003), (13, 0)] {
            let mut packer = packer.clone();
            packer.set_position(start as u64).unwrap();
            let mut out = vec![0; len];
            let bytes = len.min(whole.len() - start);
            assert_eq!(packer.par_pack(&mut out), Ok(bytes));
            assert_eq!(out[..bytes], whole[start..start + bytes]);
            assert_eq!(packer.position(), (start + bytes) as u64);
        }
    }

    #[test]
    fn all_cores_convert_to_the_same_memory() {
        let records = records();
        let mut whole = vec![0; 9 * records.len()];
        Packer::new(&records).with_representation(SWAPPED).unwrap().pack(&mut whole).unwrap();
        for lengths in
            [[whole.len(), 0, 0], [9 * 60_000 + 4, 700_000, whole.len()], [5, 4, whole.len()]]
        {
            let mut target = vec![(0, 0); records.len()];
            let mut unpacker = Unpacker::new(&mut target).with_representation(SWAPPED).unwrap();
            let mut rest = &whole[..];
            for length in lengths {
                let (bytes, after) = rest.split_at(length.min(rest.len()));
                assert_eq!(unpacker.par_unpack(bytes), Ok(bytes.len()));
                rest = after;
            }
            assert!(unpacker.is_complete() && unpacker.incomplete() == 0);
            assert_eq!(target, records);
        }
    }

    /// This needs a `long` of 64 bits, which becomes 32 bits in external32.
    #[cfg(target_pointer_width = "64")]
    #[cfg(unix)]
    #[test]
    fn widths_change_on_all_cores() {
        let numbers: Vec<i64> = (0..400_000).map(|i| i * 5000 - 1_000_000_000).collect();
        let memory = pack(&numbers);
        let longs = Type::basic(Basic::Long).commit();
        let external = longs.conversion(Representation::External32).unwrap();
        let mut out = vec![0; 4 * numbers.len()];
        let mut packer = external.packer(&memory, numbers.len()).unwrap();
        assert_eq!(packer.par_pack(&mut out), Ok(out.len()));
        let expected: Vec<u8> =
            numbers.iter().flat_map(|&i| i32::try_from(i).unwrap().to_be_bytes()).collect();
        assert_eq!(out, expected);
        let mut back = vec![0; memory.len()];
        let mut unpacker = external.unpacker(&mut back, numbers.len()).unwrap();
        // One thread completes the value, and then all threads continue.
        assert_eq!(unpacker.par_unpack(&out[..6]), Ok(6));
        assert_eq!(unpacker.par_unpack(&out[6..8]), Ok(2));
        assert_eq!(unpacker.par_unpack(&out[8..1_200_001]), Ok(1_199_993));
        assert_eq!(unpacker.incomplete(), 1);
        unpacker.set_position(1_200_000).unwrap();
        assert_eq!(unpacker.par_unpack(&out[1_200_000..]), Ok(400_000));
        assert_eq!((unpacker.is_complete(), unpacker.incomplete()), (true, 0));
        assert_eq!(back, memory);
    }

    #[cfg(target_pointer_width = "64")]
    #[cfg(unix)]
    #[test]
    fn the_first_value_that_does_not_fit_is_named() {
        let mut numbers = vec![1_i64; 400_000];
        (numbers[250_000], numbers[350_000]) = (1 << 40, 1 << 41);
        let memory = pack(&numbers);
        let longs = Type::basic(Basic::Long).commit();
        let external = longs.conversion(Representation::External32).unwrap();
        let mut packer = external.packer(&memory, numbers.len()).unwrap();
        let refused = Error::IntegerRange { position: 1_000_000, value: 1 << 40, bytes: 4 };
        assert_eq!(packer.par_pack(&mut vec![0; 1_600_000]), Err(refused));
        assert_eq!(packer.position(), 0);
    }
}
