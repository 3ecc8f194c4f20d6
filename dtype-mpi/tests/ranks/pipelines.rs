//! Transfers in chunks.

use std::num::NonZeroUsize;
use std::thread;

use dtype_mpi::traits::*;
use dtype_mpi::{Error, Pipeline};
use dtype_runtime::{Basic, Type, pack};
use dtype_test_support::numbers::Numbers;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

use crate::packed::ring;
use crate::shapes::{Flagged, Padded, Shape, assert_same, noise};

fn chunks_of(bytes: usize) -> Pipeline {
    Pipeline::new(NonZeroUsize::new(bytes).expect("not zero"))
}

/// Whether a rank can send to itself from another thread. MPICH 4.0 then loses messages, as in a C program that does the same.
fn can_send(world: &SimpleCommunicator) -> bool {
    let library = mpi::environment::library_version().expect("it is text");
    world.size() > 1 || !library.starts_with("MPICH")
}

/// Sends to the next rank on a separate thread, while this thread receives.
fn while_sending<R>(
    send: impl Fn(&mpi::topology::Process<'_>) -> Result<(), Error> + Sync,
    receive: impl FnOnce() -> R,
) -> R {
    thread::scope(|scope| {
        let sender = scope.spawn(|| send(&ring(&SimpleCommunicator::world()).0));
        let result = receive();
        sender.join().expect("no panic").unwrap();
        result
    })
}

pub(crate) fn all_lengths(world: &SimpleCommunicator) {
    if !can_send(world) {
        return;
    }
    let (_, before) = ring(world);
    for (chunk, counts) in [(64, &[0, 1, 4, 5, 6, 100][..]), (1, &[0, 3]), (1 << 18, &[1, 100_000])]
    {
        let pipeline = chunks_of(chunk);
        for &count in counts {
            let own = Padded::some(count, &mut Numbers(30));
            let flagged = Flagged::some(count, &mut Numbers(31));
            let (came, received) = while_sending(
                |next| pipeline.send(next, &own, 1),
                || Pipeline::default().recv::<Padded, _>(&before, 1).unwrap(),
            );
            assert_same(&came, &own);
            assert_eq!((received.count, received.source), (count, before.rank()));
            let (came, _) = while_sending(
                |next| pipeline.send(next, &flagged, 1),
                || pipeline.recv::<Flagged, _>(&before, 1).unwrap(),
            );
            assert_eq!(came, flagged);

            let mut into = Padded::some(count + 1, &mut Numbers(32));
            let last = pack(&into[count..]);
            while_sending(
                |next| pipeline.send(next, &own, 1),
                || pipeline.recv_into(&before, &mut into, 1).unwrap(),
            );
            assert_same(&into[..count], &own);
            assert_eq!(pack(&into[count..]), last);
            let mut into = Flagged::some(count, &mut Numbers(33));
            while_sending(
                |next| pipeline.send(next, &flagged, 1),
                || pipeline.recv_into(&before, &mut into, 1).unwrap(),
            );
            assert_eq!(into, flagged);
        }
    }
    // A type made at run time.
    let every_other = Type::vector(500, 1, 2, &Type::basic(Basic::F64)).unwrap().commit();
    let memory = noise(34, 8000);
    let mut into = vec![0; 8000];
    while_sending(
        |next| chunks_of(100).send_stream(next, every_other.packer(&memory, 1).unwrap(), 2),
        || {
            let mut unpacker = every_other.unpacker(&mut into, 1).unwrap();
            chunks_of(7).recv_stream(&before, &mut unpacker, 2).unwrap();
            assert!(unpacker.is_complete());
        },
    );
    assert!((0..8000).all(|i| into[i] == if i % 16 < 8 { memory[i] } else { 0 }));
}

pub(crate) fn misfits(world: &SimpleCommunicator) {
    if !can_send(world) {
        return;
    }
    let (_, before) = ring(world);
    let pipeline = chunks_of(50);
    let own = Flagged::some(30, &mut Numbers(35));
    let element = 14;
    // After any error, the next transfer works.
    let mut few = Flagged::some(29, &mut Numbers(36));
    let unchanged = few.clone();
    let error = while_sending(
        |next| pipeline.send(next, &own, 1),
        || pipeline.recv_into(&before, &mut few, 1).unwrap_err(),
    );
    let (source_rank, bytes, capacity) = (before.rank(), 30 * element, 29 * element);
    assert_eq!(error, Error::Truncated { source_rank, tag: 1, bytes, capacity });
    assert_eq!(few, unchanged);
    let error = while_sending(
        |next| pipeline.send(next, &pack(&own)[1..], 1),
        || pipeline.recv::<Flagged, _>(&before, 1).unwrap_err(),
    );
    assert_eq!(error, Error::Partial { bytes: 30 * element - 1, elements: 29, element });
    let mut bytes = pack(&own);
    bytes[28 * 14] = 9;
    for into in [false, true] {
        let error = while_sending(
            |next| pipeline.send(next, &bytes, 1),
            || {
                if into {
                    return pipeline.recv_into(&before, &mut few, 1).unwrap_err();
                }
                pipeline.recv::<Flagged, _>(&before, 1).unwrap_err()
            },
        );
        let invalid =
            matches!(&error, Error::Type(dtype_runtime::Error::InvalidValue { record: 28, .. }));
        assert!(invalid || matches!(error, Error::Truncated { .. }) && into, "{error}");
        assert_eq!(few, unchanged);
    }
    let (came, _) = while_sending(
        |next| pipeline.send(next, &own, 1),
        || pipeline.recv::<Flagged, _>(&before, 1).unwrap(),
    );
    assert_eq!(came, own);
}

pub(crate) fn headers(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    let magic = 0x3170_6970_6570_7964_u64;
    let no_headers: [Vec<u64>; 5] =
        [vec![], vec![magic], vec![0, 8, 8], vec![magic, 8, 0], vec![magic, 8, 8, 0]];
    for numbers in no_headers {
        let request = next.immediate_send_packed(&numbers, 3).unwrap();
        let error = Pipeline::default().recv::<u8, _>(&before, 3).unwrap_err();
        assert_eq!(error, Error::Header { bytes: numbers.len() as u64 * 8 });
        request.wait().unwrap();
    }
    // Chunks shorter or longer than announced.
    for (length, short) in [(7, true), (9, false), (16 << 20, false)] {
        let requests = [
            next.immediate_send_packed(&[magic, 8, 8], 3).unwrap(),
            next.immediate_send_packed(&vec![1_u8; length], 3).unwrap(),
        ];
        let error = Pipeline::default().recv::<u8, _>(&before, 3).unwrap_err();
        let source_rank = before.rank();
        if short {
            assert_eq!(error, Error::Short { source_rank, tag: 3, bytes: 7, expected: 8 });
        } else {
            assert!(matches!(error, Error::Truncated { capacity: 8, .. }), "{error}");
        }
        for request in requests {
            request.wait().unwrap();
        }
    }
    // The header announces more than there is memory for. No chunks follow.
    let request = next.immediate_send_packed(&[magic, 0, u64::MAX], 3).unwrap();
    assert_eq!(Pipeline::default().recv::<u8, _>(&before, 3).unwrap().0, []);
    request.wait().unwrap();
}

/// The length in a header takes no memory before the bytes arrive.
pub(crate) fn said(world: &SimpleCommunicator) {
    const SAID: u64 = 512 << 20;
    let (next, before) = ring(world);
    // The process's peak memory in KiB, if the system reports it.
    let peak = || {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    };
    let peak_before = peak();
    let requests = [
        next.immediate_send_packed(&[0x3170_6970_6570_7964_u64, SAID, 64], 3).unwrap(),
        next.immediate_send_packed(&[1_u8], 3).unwrap(),
    ];
    let error = Pipeline::default().recv::<u64, _>(&before, 3).unwrap_err();
    // A system that does not overcommit may refuse the memory. The error is that of the short chunk in either case.
    let source_rank = before.rank();
    assert_eq!(error, Error::Short { source_rank, tag: 3, bytes: 1, expected: 64 });
    if let (Some(before), Some(now)) = (peak_before, peak()) {
        assert!((now - before) << 10 < SAID / 4, "{before} KiB before, {now} KiB now");
    }
    for request in requests {
        request.wait().unwrap();
    }
}

/// A receiver must be able to count the bytes of a chunk and one more. The sender refuses longer chunks before it sends any.
pub(crate) fn uncountable(world: &SimpleCommunicator) {
    let me = world.process_at_rank(world.rank());
    if !cfg!(large_counts) {
        // The same byte many times.
        let many = Type::vector(1 << 31, 1, 0, &Type::basic(Basic::U8)).unwrap().commit();
        let send = |chunk| {
            let packer = many.packer(&[7], 1).unwrap();
            chunks_of(chunk).send_stream(&me, packer, 4).unwrap_err()
        };
        let limit = (1 << 31) - 1;
        let expected = Error::Count { call: "MPI_Isend", count: limit + 1, limit };
        assert_eq!(send(1 << 31), expected);
        assert_eq!(send(usize::MAX), expected);
    }
    // Nothing was sent.
    world.barrier();
    assert!(me.immediate_probe_with_tag(4).is_none());
}
