//! A layout written out byte by byte: the reference for every call.

use std::cell::OnceCell;
use std::mem;
use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use dtype_runtime::convertor::Segment;
use dtype_runtime::{Buffer, BufferMut, Committed, Error, Type};
use dtype_test_support::model::{Map, Tree};

use super::shape;

/// The maximum number of values of all instances.
const MAX_VALUES: u64 = 5 << 9;

/// The maximum number of bytes of memory. Each call compares all of them.
const MAX_SPAN: i64 = 1 << 13;

/// The bytes of the source's memory and of a target's. They are the same in each run.
static MEMORY: LazyLock<Vec<u8>> =
    LazyLock::new(|| (0..MAX_SPAN).map(|i| (i * 31 + 7 + (i >> 8)) as u8).collect());
static UNTOUCHED: LazyLock<Vec<u8>> =
    LazyLock::new(|| (0..MAX_SPAN).map(|i| !(i * 13 + 5) as u8).collect());

/// Instances of a type in a memory.
///
/// This file alone decides what the native packed stream is: byte `i` is the unchanged byte of memory at
/// `places[i]`. A stream in another representation has other bytes and another length:
/// [`Represented`](super::represented::Represented) makes it from the same map.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) committed: Committed,
    pub(super) map: Map,
    pub(super) count: usize,
    /// The displacement of each byte of the packed stream.
    pub(super) places: Vec<i64>,
    pub(super) memory: Vec<u8>,
    pub(super) origin: usize,
    /// The packed stream of that memory.
    pub(super) packed: Vec<u8>,
    /// Whether a byte is named twice, so that unpacking is refused.
    pub(super) overlaps: bool,
    dense: OnceCell<Committed>,
}

impl Layout {
    /// `None` if the memory would be too large.
    pub(super) fn new(tree: &Tree, input: &mut Unstructured<'_>) -> Result<Option<Self>> {
        let map = tree.map();
        // The maximum is five instances of the largest types.
        let most = MAX_VALUES / map.data.len().max(1) as u64;
        let (count, before, behind) = (
            shape::count(input, most)? as usize,
            // Without a spare byte, an access beyond the memory is an access beyond the allocation.
            input.int_in_range(0..=3)?,
            input.int_in_range(0..=3)?,
        );
        let places = map.bytes(count);
        // The origin is an offset into the memory, so the memory starts at the origin or before.
        let start = places.iter().min().map_or(0, |first| *first.min(&0)) - before;
        let end = places.iter().max().map_or(0, |last| last + 1).max(0) + behind;
        if end - start > MAX_SPAN {
            return Ok(None);
        }
        // The arguments are small and in ascending order.
        let committed = tree.build().unwrap().commit();
        let memory = MEMORY[..(end - start) as usize].to_vec();
        let packed = places.iter().map(|at| memory[(at - start) as usize]).collect();
        // Marks bytes instead of sorting them, which would take longer than most of the calls.
        let mut seen = vec![false; memory.len()];
        let overlaps = places.iter().any(|at| mem::replace(&mut seen[(at - start) as usize], true));
        let (origin, dense) = (-start as usize, OnceCell::new());
        Ok(Some(Self { committed, map, count, places, memory, origin, packed, overlaps, dense }))
    }

    /// The offset in memory of a byte of the packed stream.
    pub(super) fn place(&self, position: usize) -> usize {
        (self.origin as i64 + self.places[position]) as usize
    }

    /// Whether a position is inside a value.
    pub(super) fn is_inside(&self, position: usize) -> bool {
        let mut rest = position.checked_rem(self.map.size()).unwrap_or(0);
        for (basic, _) in &self.map.data {
            if rest < basic.size() {
                return rest > 0;
            }
            rest -= basic.size();
        }
        false
    }

    /// Memory of the same size with other bytes.
    pub(super) fn untouched(&self) -> Vec<u8> {
        UNTOUCHED[..self.memory.len()].to_vec()
    }

    /// The type of the same basic datatypes without gaps.
    pub(super) fn dense(&self) -> &Committed {
        self.dense.get_or_init(|| {
            let data = &self.map.data;
            let types: Vec<Type> = data.iter().map(|(basic, _)| Type::basic(*basic)).collect();
            let mut end = 0;
            let mut places = Vec::new();
            for (basic, _) in data {
                places.push(end);
                end += basic.size() as i64;
            }
            let ty = Type::structure(&vec![1; types.len()], &places, &types).unwrap();
            Type::resized(&ty, 0, end).unwrap().commit()
        })
    }

    /// The maximal runs of a part of the stream.
    pub(super) fn runs(&self, from: usize, to: usize) -> Vec<Segment> {
        let mut runs: Vec<Segment> = Vec::new();
        for &byte in &self.places[from..to] {
            match runs.last_mut() {
                Some(last) if last.disp + last.len as i64 == byte => last.len += 1,
                _ => runs.push(Segment { disp: byte, len: 1 }),
            }
        }
        runs
    }

    /// Checks the properties of the type, and the calls that move the whole message.
    pub(super) fn check(&self) {
        let Self { committed, map, count, memory, origin, packed, .. } = self;
        let ty = committed.as_type();
        assert_eq!((ty.size(), ty.elements()), (map.size() as u64, map.data.len() as u64));
        assert_eq!((ty.lb(), ty.ub()), (map.lb(), map.ub()));
        assert_eq!((ty.true_lb(), ty.true_ub()), (map.true_lb(), map.true_ub()));
        assert_eq!(Type::unmarshal(&ty.marshal()).as_ref(), Ok(ty));

        // The buffer has more room than is needed, or less.
        let mut out = vec![0xA5; packed.len() + 2];
        let number =
            committed.pack(Buffer::new(memory).origin(*origin as i64), *count, &mut out[1..]);
        assert_eq!(number, Ok(packed.len()));
        assert_eq!(
            (out[0], &out[1..=packed.len()], out[packed.len() + 1]),
            (0xA5, &packed[..], 0xA5)
        );
        if !packed.is_empty() {
            out.fill(0xA5);
            let short = committed.pack(
                Buffer::new(memory).origin(*origin as i64),
                *count,
                &mut out[..packed.len() - 1],
            );
            assert!(matches!(short, Err(Error::DestinationTooSmall { .. })));
            assert!(out.iter().all(|byte| *byte == 0xA5));
        }

        let mut target = self.untouched();
        let mut wanted = self.untouched();
        let number =
            committed.unpack(packed, BufferMut::new(&mut target).origin(*origin as i64), *count);
        if self.overlaps {
            assert_eq!(number, Err(Error::Overlap { count: *count as u64 }));
        } else {
            assert_eq!(number, Ok(packed.len()));
            (0..packed.len()).for_each(|i| wanted[self.place(i)] = packed[i]);
        }
        assert_eq!(target, wanted);
    }

    /// Takes a number modulo the valid positions of the stream and two invalid ones.
    pub(super) fn position(&self, number: u16) -> usize {
        usize::from(number) % (self.packed.len() + 3)
    }
}
