//! The memory that reading a message takes: a small multiple of the bytes that have arrived, whatever the header
//! says.

use dtype_message::{Incoming, Limits};
use dtype_runtime::{Basic, Type};
use dtype_test_support::counting::max_in_use;
use dtype_test_support::frames::{announce, changed};

/// The maximum of the memory in use during the work, beyond the memory before.
fn most<T>(work: impl FnOnce() -> T) -> usize {
    max_in_use(work).0
}

#[test]
fn memory_follows_the_bytes() {
    let (chunk, limits) = (64 * 1024, &Limits::UNLIMITED);
    let mut bytes = Vec::new();
    dtype_message::write(&mut bytes, &vec![(1_u8, 2_u32); 200_000]).unwrap();
    let hostile = changed(&bytes, |b| announce(b, 1 << 60));
    for end in [48, 100, 10_000, 100_000, 500_000, hostile.len()] {
        let stream = &hostile[..end];
        // Each packed record of 5 bytes becomes 8 bytes. A list that grows exists twice for a moment.
        let bound = end * 8 / 5 * 3 + 3 * chunk;
        let read = most(|| dtype_message::read::<(u8, u32)>(&mut &stream[..], limits).unwrap_err());
        let over = most(|| {
            dtype_message::read_reusing(&mut &stream[..], &mut Vec::<(u8, u32)>::new(), limits)
                .unwrap_err()
        });
        let packed = most(|| {
            let message = Incoming::open(stream, limits).unwrap().unwrap();
            message.packed().unwrap_err()
        });
        let skipped = most(|| {
            let message = Incoming::open(stream, limits).unwrap().unwrap();
            message.skip().unwrap_err()
        });
        println!("{end} bytes: read {read}, over {over}, packed {packed}, skipped {skipped}");
        assert!(read <= bound && over <= bound && packed <= bound && skipped <= 2 * chunk);
    }

    // If the destination is given, the buffer is at most as large as the destination.
    let ty = Type::of::<(u8, u32)>().commit();
    let mut memory = vec![0; 8 * 200_000];
    let by = most(|| dtype_message::read_with(&mut &bytes[..], &ty, &mut memory, 200_000).unwrap());
    assert!(by <= memory.len() + chunk, "{by}");

    // Writing needs memory for one piece, however long the message is.
    let items = vec![(1_u8, 2_u32); 200_000];
    let written = most(|| dtype_message::write(&mut std::io::sink(), &items).unwrap());
    let by =
        most(|| dtype_message::write_with(&mut std::io::sink(), &ty, &memory, 200_000).unwrap());
    assert!(written <= 2 * chunk && by <= 2 * chunk, "{written}, {by}");

    // A single huge record with the receiver's signature is read in pieces, too.
    let huge = Type::contiguous(1 << 60, &Type::basic(Basic::U8)).unwrap();
    let header = changed(&bytes, |b| {
        b[8..16].copy_from_slice(&huge.signature_hash().to_le_bytes());
        b[16..24].copy_from_slice(&1_u64.to_le_bytes());
        b[24..32].copy_from_slice(&huge.size().to_le_bytes());
        announce(b, 1);
    });
    let packed = most(|| {
        let message = Incoming::open(&header[..], limits).unwrap().unwrap();
        message.header().check_type(&huge).unwrap();
        message.packed().unwrap_err()
    });
    assert!(packed <= 3 * header.len() + 3 * chunk, "{packed}");
}
