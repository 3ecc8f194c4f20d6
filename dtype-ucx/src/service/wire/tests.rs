//! Valid and hostile requests, against memory of some length.

use dtype_runtime::pack;

use super::*;

fn rows(
    base: i64,
    run: u64,
    rows: &[(u64, i64)],
    position: u64,
    length: u64,
) -> (Request, Vec<u8>) {
    let rows: Vec<Row> = rows.iter().map(|&(count, stride)| Row { count, stride }).collect();
    let parts = u32::try_from(rows.len()).unwrap();
    let request = Request { token: 1, memory: 2, base, run, position, length, parts, kind: GET };
    (request, pack(&rows))
}

fn list(blocks: &[(i64, u64)], length: u64) -> (Request, Vec<u8>) {
    let blocks: Vec<Block> =
        blocks.iter().map(|&(displacement, length)| Block { displacement, length }).collect();
    let parts = u32::try_from(blocks.len()).unwrap();
    let kind = GET | OF_BLOCKS;
    let request =
        Request { token: 1, memory: 2, base: 0, run: 0, position: 0, length, parts, kind };
    (request, pack(&blocks))
}

fn segments(region: &Region) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    region.for_each(|displacement, length| found.push((displacement, length))).unwrap();
    found
}

fn refusal((request, payload): &(Request, Vec<u8>), len: usize) -> Option<Refusal> {
    request.region(payload, len).err()
}

#[test]
fn what_requests_name() {
    // The example in the module's documentation.
    let (request, payload) = rows(6, 2, &[(3, 8)], 0, 6);
    let (region, packed) = request.region(&payload, 24).unwrap();
    assert_eq!((segments(&region), region.length()), (vec![(6, 2), (14, 2), (22, 2)], 6));
    assert!(packed.is_empty());
    // From the middle of one run to the middle of another.
    let (request, payload) = rows(6, 2, &[(3, 8)], 1, 4);
    let (region, _) = request.region(&payload, 24).unwrap();
    assert_eq!(segments(&region), [(7, 1), (14, 2), (22, 1)]);
    // Two levels, with a negative stride, for a get and a put.
    let (request, mut payload) = rows(60, 1, &[(2, -30), (2, 4)], 0, 4);
    let request = Request { kind: PUT, ..request };
    payload.extend(b"abcd");
    let (region, packed) = request.region(&payload, 65).unwrap();
    assert_eq!(segments(&region), [(60, 1), (64, 1), (30, 1), (34, 1)]);
    assert_eq!(packed, b"abcd");
    let (request, payload) = list(&[(9, 1), (0, 3), (9, 1), (10, 0)], 5);
    let (region, _) = request.region(&payload, 10).unwrap();
    assert_eq!((segments(&region), region.length()), (vec![(9, 1), (0, 3), (9, 1), (10, 0)], 5));
}

#[test]
fn what_is_refused() {
    use Refusal::{Malformed, Outside};
    let good = rows(6, 2, &[(3, 8)], 0, 6);
    assert_eq!(refusal(&good, 24), None);
    assert_eq!(refusal(&good, 23), Some(Outside));
    assert_eq!(refusal(&good, 0), Some(Outside));
    assert_eq!(refusal(&rows(-1, 2, &[(3, 8)], 0, 6), 24), Some(Outside));
    assert_eq!(refusal(&rows(6, 2, &[(3, -8)], 0, 6), 24), Some(Outside));
    assert_eq!(refusal(&rows(i64::MAX, 2, &[(3, 8)], 0, 6), 24), Some(Outside));
    assert_eq!(refusal(&rows(i64::MIN, 2, &[(3, 8)], 0, 6), 24), Some(Outside));
    assert_eq!(refusal(&rows(0, 2, &[(3, 8)], 1, 6), 24), Some(Malformed));
    assert_eq!(refusal(&rows(0, 2, &[(3, 8)], u64::MAX, 2), 24), Some(Malformed));
    assert_eq!(refusal(&rows(0, 0, &[(3, 8)], 0, 0), 24), Some(Malformed));
    assert_eq!(refusal(&rows(0, 2, &[(0, 8)], 0, 0), 24), Some(Malformed));
    for count in [1 << 40, 1 << 62, u64::MAX] {
        for stride in [1, 8, 1 << 40, i64::MAX, i64::MIN] {
            assert!(refusal(&rows(0, 2, &[(count, stride)], 0, 6), 24).is_some());
            assert!(refusal(&rows(0, 2, &[(count, stride); 3], 0, 6), 24).is_some());
            assert!(refusal(&rows(0, count, &[(3, stride)], 0, 6), 24).is_some());
        }
    }
    // The greatest depth: two of two of two …, all at the same byte, or farther and farther away.
    let strides: Vec<(u64, i64)> = (0..MAX_ROWS).map(|level| (2, 3 << (31 - level))).collect();
    assert_eq!(refusal(&rows(0, 1, &strides, 1 << 31, 100), usize::MAX >> 1), None);
    assert_eq!(refusal(&rows(0, 1, &[(2, 0); MAX_ROWS], 1 << 31, 100), 24), None);
    // Very many repetitions of one byte: no more are visited than were requested.
    let (request, payload) = rows(5, 1, &[(1 << 40, 0)], 1 << 39, 3);
    let (region, _) = request.region(&payload, 24).unwrap();
    assert_eq!(segments(&region), [(5, 1); 3]);
    let many = rows(0, 1, &[(1 << 40, 0)], 0, MAX_BYTES as u64 + 1);
    assert_eq!(refusal(&many, 24), Some(Malformed));
    assert_eq!(refusal(&rows(0, 1, &[(1, 0); MAX_ROWS + 1], 0, 1), 24), Some(Malformed));
    assert_eq!(refusal(&rows(0, 1, &[(1, 0); MAX_ROWS], 0, 1), 24), None);

    assert_eq!(refusal(&list(&[(-1, 2)], 2), 24), Some(Outside));
    assert_eq!(refusal(&list(&[(23, 2)], 2), 24), Some(Outside));
    assert_eq!(refusal(&list(&[(i64::MAX, 2)], 2), 24), Some(Outside));
    assert_eq!(refusal(&list(&[(0, u64::MAX), (0, 3)], 2), 24), Some(Outside));
    assert_eq!(refusal(&list(&[(0, 2)], 3), 24), Some(Malformed));
    assert_eq!(refusal(&list(&[(0, 2)], 1), 24), Some(Malformed));
    assert_eq!(refusal(&list(&vec![(0, 0); MAX_BLOCKS + 1], 0), 24), Some(Malformed));

    // More or fewer bytes than the request says, and unknown kinds.
    let (request, payload) = good;
    for len in 0..payload.len() {
        assert_eq!(request.region(&payload[..len], 24).err(), Some(Malformed));
    }
    for kind in (0..=u8::MAX).filter(|kind| ![PUT, GET].contains(&(kind & !OF_BLOCKS))) {
        assert_eq!(Request { kind, ..request }.region(&payload, 24).err(), Some(Malformed));
    }
    let put = Request { kind: PUT, ..request };
    for extra in 0..10 {
        let payload = [&payload[..], &vec![7; extra]].concat();
        let expected = (extra != 6).then_some(Malformed);
        assert_eq!(put.region(&payload, 24).err(), expected);
        assert_eq!(request.region(&payload, 24).err().is_some(), extra > 0);
    }
    for parts in [2, 3, u32::MAX] {
        assert_eq!(Request { parts, ..request }.region(&payload, 24).err(), Some(Malformed));
    }
}

/// A generator of numbers: xorshift64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn number(&mut self) -> u64 {
        let bits = [4, 4, 5, 6, 8, 31, 32, 62, 63, 64][usize::try_from(self.next() % 10).unwrap()];
        let number = self.next() >> (64 - bits);
        if self.next().is_multiple_of(8) { number.wrapping_neg() } else { number }
    }
}

#[test]
fn random_requests_stay_in_the_memory() {
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    // Miri has no clock.
    let start = if cfg!(miri) { 77 } else { now().subsec_nanos() };
    let mut random = Random(u64::from(start) << 8 | 1);
    let seed = random.0;
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..if cfg!(miri) { 200 } else { 60_000 } {
        let count = usize::try_from(random.next() % 4).unwrap();
        let of_blocks = random.next().is_multiple_of(2);
        let mut payload = Vec::new();
        let mut total = 0_u64;
        for _ in 0..count {
            let (first, second) = (random.number(), random.number());
            total = total.wrapping_add(second);
            payload.extend(first.to_ne_bytes());
            payload.extend(second.to_ne_bytes());
        }
        let length =
            if of_blocks && !random.next().is_multiple_of(8) { total } else { random.number() };
        let put = random.next().is_multiple_of(2);
        let request = Request {
            token: random.next(),
            memory: random.next(),
            base: random.number().cast_signed(),
            run: random.number(),
            position: random.number() % 64,
            length,
            parts: if random.next().is_multiple_of(16) { 7 } else { u32::try_from(count).unwrap() },
            kind: if put { PUT } else { GET } + if of_blocks { OF_BLOCKS } else { 0 },
        };
        if put && length < 1 << 16 {
            payload.resize(payload.len() + usize::try_from(length).unwrap(), 7);
        }
        let len = usize::try_from(random.next() % 300).unwrap();
        match request.region(&payload, len) {
            Err(_) => refused += 1,
            Ok((region, packed)) => {
                accepted += 1;
                let mut sum = 0;
                region
                    .for_each(|displacement, length| {
                        let end = displacement.checked_add(length);
                        assert!(end.is_some_and(|end| end <= len), "seed {seed}, round {round}");
                        sum += length;
                    })
                    .unwrap();
                assert_eq!(sum, region.length(), "seed {seed}, round {round}");
                assert_eq!(sum as u64, length, "seed {seed}, round {round}");
                assert_eq!(packed.len(), if put { sum } else { 0 }, "seed {seed}, round {round}");
            }
        }
    }
    assert!(cfg!(miri) || accepted > 20 && refused > 20, "{accepted} accepted, {refused} refused");
}

#[test]
fn refusals_have_codes() {
    let all = [Refusal::Unregistered, Refusal::Outside, Refusal::Malformed, Refusal::NoMemory];
    for refusal in all {
        assert!(refusal.code() != 0);
        assert_eq!(Refusal::from_code(refusal.code()), refusal);
    }
    assert_eq!([0, 5, 255].map(Refusal::from_code), [Refusal::Malformed; 3]);
}
