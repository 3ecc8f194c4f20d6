//! The layouts of `DDTBench` (Schneider, Gerstenberger, Hoefler: "Micro-applications for communication data access
//! patterns and MPI datatypes"), with the loops that the applications used before they had datatypes.
//!
//! The layouts are those of `dtype_benches::ddtbench`.

use std::hint::black_box;

use anyhow::{Context, Result, ensure};
use dtype_benches::ddtbench::{ByHand, Element, Pattern, Visitor, families};
use dtype_benches::noise::{fill, fingerprint};
use dtype_benches::peer::{BACKGROUND, DATA, Work};
use dtype_benches::placed::{MEMORY, PACKED, Placed};
use dtype_runtime::{Buffer, BufferMut, Committed};
use zerocopy::IntoBytes;

use crate::bench::{Bench, Contestant, done, who};
use crate::report::row::{Column, Group, Row};

/// The largest memory that is copied as a whole, for comparison.
const LARGEST_SPAN: usize = 64 << 20;

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    for family in families()? {
        let patterns = if bench.quick { 1 } else { family.len() };
        for pattern in family.into_iter().take(patterns) {
            pattern.visit(bench)?;
        }
    }
    Ok(())
}

impl Visitor for Bench {
    fn visit<H: ByHand>(&mut self, pattern: Pattern<H>) -> Result<()> {
        let bench = self;
        let (group, family) = (Group::Ddtbench, pattern.family.to_owned());
        let parameters = pattern.parameters.clone();
        let name = format!("{family} {parameters}");
        if !bench.wants(group.key(), &name) {
            return Ok(());
        }
        let mut stage = Stage::new(pattern).with_context(|| name.clone())?;
        stage.compare(bench).with_context(|| name)?;
        let bytes = size_of_val(&*stage.packed) as u64;
        for (work, columns) in [("pack", stage.pack(bench)?), ("unpack", stage.unpack(bench)?)] {
            let (family, parameters) = (family.clone(), parameters.clone());
            bench.rows.push(Row { group, family, parameters, work: work.into(), bytes, columns });
        }
        Ok(())
    }
}

/// A pattern with its memory.
struct Stage<H: ByHand> {
    committed: Committed,
    count: usize,
    /// Bytes from the start of the memory to the first instance.
    origin: usize,
    memory: Placed<H::Element>,
    packed: Placed<H::Element>,
    out: Placed<H::Element>,
    /// A buffer as large as all instances with the gaps between them; empty if it would be too large.
    span: Vec<u8>,
    by_hand: H,
}

impl<H: ByHand> Stage<H> {
    fn new(pattern: Pattern<H>) -> Result<Self> {
        let Pattern { ty, count, base, length, by_hand, .. } = pattern;
        let committed = ty.commit();
        let each = size_of::<H::Element>();
        let mut memory = zeroed(length, MEMORY);
        fill(memory.as_mut_bytes(), DATA);
        let bytes = committed.packed_size(count)?;
        ensure!(bytes.is_multiple_of(each), "packed bytes are whole elements");
        let mut packed: Placed<H::Element> = zeroed(bytes / each, PACKED);
        committed.pack(
            Buffer::new(IntoBytes::as_bytes(&*memory)).origin((base * each) as i64),
            count,
            packed.as_mut_bytes(),
        )?;
        let extent = committed.true_extent() + committed.extent() * (i64::try_from(count)? - 1);
        let span = usize::try_from(extent)?;
        ensure!(base * each + span <= length * each, "the instances lie in the memory");
        let span = vec![0; if span <= LARGEST_SPAN { span } else { 0 }];
        let out = zeroed(bytes / each, PACKED);
        Ok(Self { committed, count, origin: base * each, memory, packed, out, span, by_hand })
    }

    /// Checks that all contestants pack the memory to the same bytes, and unpack these to the same memory.
    fn compare(&mut self, bench: &mut Bench) -> Result<()> {
        let Self { committed, count, origin, memory, packed, out, by_hand, .. } = self;
        out.as_mut_bytes().fill(0);
        by_hand.pack(memory, out);
        ensure!(out.as_bytes() == packed.as_bytes(), "the loop packs other bytes");

        fill(memory.as_mut_bytes(), BACKGROUND);
        committed.unpack(
            packed.as_bytes(),
            BufferMut::new(memory.as_mut_bytes()).origin(*origin as i64),
            *count,
        )?;
        let here = fingerprint(memory.as_bytes());
        fill(memory.as_mut_bytes(), BACKGROUND);
        by_hand.unpack(packed, memory);
        let same = fingerprint(memory.as_bytes()) == here;
        ensure!(same, "the loop unpacks to another memory");
        fill(memory.as_mut_bytes(), DATA);

        let length = size_of_val(&**memory);
        bench.compare(committed, *count, *origin, length, packed.as_bytes(), here)
    }

    fn pack(&mut self, bench: &mut Bench) -> Result<Vec<Column>> {
        let mut contestants = vec![
            Contestant::here(
                who::DTYPE,
                |Self { committed, count, origin, memory, out, .. }| {
                    let (memory, out) =
                        (black_box(memory.as_bytes()), black_box(out.as_mut_bytes()));
                    let from = Buffer::new(memory).origin(*origin as i64);
                    done(committed.pack(from, *count, out));
                },
            ),
            Contestant::here(who::LOOP, |Self { memory, out, by_hand, .. }| {
                black_box(by_hand).pack(black_box(memory), black_box(out));
            }),
        ];
        contestants.extend(bench.libraries(Work::Pack));
        contestants.extend(self.copies());
        bench.turns(self, contestants)
    }

    fn unpack(&mut self, bench: &mut Bench) -> Result<Vec<Column>> {
        let mut contestants = vec![
            Contestant::here(
                who::DTYPE,
                |Self { committed, count, origin, memory, packed, .. }| {
                    let memory = black_box(memory.as_mut_bytes());
                    let packed = black_box(packed.as_bytes());
                    let to = BufferMut::new(memory).origin(*origin as i64);
                    done(committed.unpack(packed, to, *count));
                },
            ),
            Contestant::here(who::LOOP, |Self { memory, packed, by_hand, .. }| {
                black_box(by_hand).unpack(black_box(packed), black_box(memory));
            }),
        ];
        contestants.extend(bench.libraries(Work::Unpack));
        contestants.extend(self.copies());
        bench.turns(self, contestants)
    }

    /// The contestants that copy with `memcpy`.
    fn copies(&self) -> Vec<Contestant<Self>> {
        let mut copies = vec![Contestant::here(who::MEMCPY, |Self { packed, out, .. }| {
            black_box(out).copy_from_slice(black_box(packed));
        })];
        if !self.span.is_empty() {
            copies.push(Contestant::here(who::SPAN, |Self { memory, span, origin, .. }| {
                let from = &memory.as_bytes()[*origin..][..span.len()];
                black_box(span).copy_from_slice(black_box(from));
            }));
        }
        copies
    }
}

fn zeroed<E: Element>(length: usize, place: usize) -> Placed<E> {
    Placed::new(E::new_zeroed(), length, place)
}
