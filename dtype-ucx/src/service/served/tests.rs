//! Tests without UCX, so that Miri can run them.

use dtype_runtime::pack;

use super::*;
use crate::service::wire::{Block, GET, OF_BLOCKS, PUT, Row};

fn request(kind: u8, parts: u32, base: i64, run: u64, length: u64) -> Request {
    Request { token: 1, memory: 2, base, run, position: 0, length, parts, kind }
}

#[test]
fn requests_are_served_until_the_end() {
    let mut memory: Vec<u8> = (0..40).collect();
    let start = NonNull::new(memory.as_mut_ptr()).unwrap();
    // SAFETY: the memory has this length and is not used until the end.
    let served = unsafe { Served::new(start, 40) };
    let rows = pack(&[Row { count: 3, stride: -16 }]);
    let mut reply = b"before".to_vec();
    assert_eq!(served.serve(&request(GET, 1, 33, 2, 6), &rows, &mut reply), Ok(()));
    assert_eq!(reply, b"before\x21\x22\x11\x12\x01\x02");
    let blocks =
        pack(&[Block { displacement: 39, length: 1 }, Block { displacement: 3, length: 20 }]);
    let put = [&blocks[..], &[0xEE; 21]].concat();
    let blocks = request(PUT | OF_BLOCKS, 2, 0, 0, 21);
    assert_eq!(served.serve(&blocks, &put, &mut reply), Ok(()));
    let put = [&rows[..], b"abcdef"].concat();
    assert_eq!(served.serve(&request(PUT, 1, 33, 2, 6), &put, &mut reply), Ok(()));
    assert_eq!(reply.len(), 12);
    // Outside the memory by one byte.
    for (base, reason) in [(31, Refusal::Outside), (39, Refusal::Outside), (-1, Refusal::Outside)] {
        let refused = served.serve(&request(PUT, 1, base, 2, 6), &put, &mut reply);
        assert_eq!(refused, Err(reason));
    }
    served.end();
    let refused = served.serve(&request(GET, 1, 33, 2, 6), &rows, &mut reply);
    assert_eq!((refused, reply.len()), (Err(Refusal::Unregistered), 12));

    let mut expected: Vec<u8> = (0..40).collect();
    expected[3..23].fill(0xEE);
    expected[39] = 0xEE;
    for (at, value) in [33, 34, 17, 18, 1, 2].into_iter().zip(*b"abcdef") {
        expected[at] = value;
    }
    assert_eq!(memory, expected);
}
