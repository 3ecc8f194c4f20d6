//! The records, with the derives of all contestants, and arrays of them, packed and unpacked in place.

use std::hint::black_box;

use anyhow::{Context, Result, ensure};
use dtype_benches::Shape;
use dtype_benches::forms::{Dense, Partial, Small12, Wide, Widest};
use dtype_benches::noise::{fill, fingerprint};
use dtype_benches::peer::{BACKGROUND, DATA, Work};
use dtype_benches::placed::{MEMORY, PACKED, Placed, VECTOR};
use dtype_runtime::{Committed, Type, pack_into, unpack_into};

use crate::bench::{Bench, Contestant, done, who};
use crate::report::row::{Column, Group, Row};

dtype_benches::shapes! {
    #[derive(
        serde::Serialize, serde::Deserialize,
        bincode::Encode, bincode::Decode,
        bitcode::Encode, bitcode::Decode,
        borsh::BorshSerialize, borsh::BorshDeserialize,
        rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
        speedy::Readable, speedy::Writable,
    )]
}

/// Records of each array.
pub(crate) const COUNTS: [usize; 6] = [1, 7, 16, 1000, 65_536, 1_000_000];

/// Records of each array in a quick run.
pub(crate) const FEW_COUNTS: [usize; 2] = [1, 1000];

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    for &count in if bench.quick { &FEW_COUNTS[..] } else { &COUNTS } {
        arrays::<Tail>(bench, Group::Structs, count)?;
        arrays::<Hole>(bench, Group::Structs, count)?;
        if !bench.quick {
            arrays::<Small>(bench, Group::Structs, count)?;
            arrays::<Body>(bench, Group::Structs, count)?;
            arrays::<Mixed>(bench, Group::Structs, count)?;
            arrays::<Scattered>(bench, Group::Structs, count)?;
            arrays::<Wide>(bench, Group::Forms, count)?;
            arrays::<Small12>(bench, Group::Forms, count)?;
            arrays::<Dense>(bench, Group::Forms, count)?;
            arrays::<Partial>(bench, Group::Forms, count)?;
        }
        arrays::<Nested>(bench, Group::Structs, count)?;
        arrays::<Widest>(bench, Group::Forms, count)?;
    }
    Ok(())
}

fn arrays<S: Shape>(bench: &mut Bench, group: Group, count: usize) -> Result<()> {
    let (family, parameters) = (format!("{{{}}}", S::NAME), format!("× {count}"));
    if !bench.wants(group.key(), &format!("{family} {parameters}")) {
        return Ok(());
    }
    let committed = Type::of::<S>().commit();
    let (span, packed) = (size_of::<S>() * count, committed.packed_size(count)?);
    let memory = || Placed::new(0, span, MEMORY + VECTOR);
    let bytes = || Placed::new(0, packed, PACKED + VECTOR);
    let mut arrays = Arrays {
        items: &mut Placed::new(S::default(), count, MEMORY + VECTOR)[..],
        memory: &mut memory()[..],
        span: &mut memory()[..],
        committed,
        packed: &mut bytes()[..],
        out: &mut bytes()[..],
    };
    arrays.fill()?;
    arrays.compare(bench).with_context(|| format!("{family} {parameters}"))?;
    for (work, columns) in [("pack", arrays.pack(bench)?), ("unpack", arrays.unpack(bench)?)] {
        let bytes = arrays.packed.len() as u64;
        let (family, parameters) = (family.clone(), parameters.clone());
        bench.rows.push(Row { group, family, parameters, work: work.into(), bytes, columns });
    }
    Ok(())
}

/// The same records as values and as memory.
struct Arrays<'a, S> {
    items: &'a mut [S],
    memory: &'a mut [u8],
    span: &'a mut [u8],
    committed: Committed,
    packed: &'a mut [u8],
    out: &'a mut [u8],
}

impl<S: Shape> Arrays<'_, S> {
    fn fill(&mut self) -> Result<()> {
        let Self { items, memory, span, committed, packed, .. } = self;
        fill(memory, DATA);
        committed.pack(&**memory, items.len(), packed)?;
        unpack_into(packed, items)?;
        span.copy_from_slice(memory);
        Ok(())
    }

    /// Checks that all contestants pack the records to the same bytes, and unpack these to the same records.
    fn compare(&mut self, bench: &mut Bench) -> Result<()> {
        let Self { items, packed, out, .. } = self;
        let count = items.len();
        out.fill(0);
        pack_into(items, out)?;
        ensure!(out == packed, "the derived type packs other bytes");
        out.fill(0);
        S::pack_by_hand(items, out);
        ensure!(out == packed, "the loop packs other bytes");

        let mut items = vec![S::default(); count];
        unpack_into(packed, &mut items)?;
        pack_into(&items, out)?;
        ensure!(out == packed, "the derived type unpacks other records");
        items.fill(S::default());
        S::unpack_by_hand(packed, &mut items);
        pack_into(&items, out)?;
        ensure!(out == packed, "the loop unpacks other records");

        fill(self.span, BACKGROUND);
        self.committed.unpack(packed, &mut *self.span, count)?;
        let here = fingerprint(self.span);
        bench.compare(&self.committed, count, 0, self.memory.len(), packed, here)
    }

    // Every contestant hides the slices themselves from the compiler: behind a hidden reference, a slice would be loaded in
    // each call. No result is hidden: loops return nothing, and hiding a result stores it, which takes a sixth of the time of a
    // small record.

    fn pack(&mut self, bench: &mut Bench) -> Result<Vec<Column>> {
        let mut contestants = vec![
            Contestant::here(who::DTYPE, |Self { items, out, .. }: &mut Self| {
                done(pack_into(black_box::<&[S]>(items), black_box::<&mut [u8]>(out)));
            }),
            Contestant::here(who::DYNAMIC, |Self { items, memory, committed, out, .. }| {
                let (count, memory) = (black_box(items.len()), black_box::<&[u8]>(memory));
                done(committed.pack(memory, count, black_box::<&mut [u8]>(out)));
            }),
            Contestant::here(who::LOOP, |Self { items, out, .. }| {
                S::pack_by_hand(black_box::<&[S]>(items), black_box::<&mut [u8]>(out));
            }),
        ];
        contestants.extend(bench.libraries(Work::Pack));
        contestants.extend([
            Contestant::here(who::MEMCPY, |Self { out, packed, .. }: &mut Self| {
                black_box::<&mut [u8]>(out).copy_from_slice(black_box::<&[u8]>(packed));
            }),
            Contestant::here(who::SPAN, |Self { span, memory, .. }| {
                black_box::<&mut [u8]>(span).copy_from_slice(black_box::<&[u8]>(memory));
            }),
        ]);
        bench.turns(self, contestants)
    }

    fn unpack(&mut self, bench: &mut Bench) -> Result<Vec<Column>> {
        let mut contestants = vec![
            Contestant::here(who::DTYPE, |Self { items, packed, .. }: &mut Self| {
                let items = black_box::<&mut [S]>(items);
                done(unpack_into(black_box::<&[u8]>(packed), items));
            }),
            Contestant::here(who::DYNAMIC, |Self { items, memory, committed, packed, .. }| {
                let (count, packed) = (black_box(items.len()), black_box::<&[u8]>(packed));
                done(committed.unpack(packed, black_box::<&mut [u8]>(memory), count));
            }),
            Contestant::here(who::LOOP, |Self { items, packed, .. }| {
                S::unpack_by_hand(black_box::<&[u8]>(packed), black_box::<&mut [S]>(items));
            }),
        ];
        contestants.extend(bench.libraries(Work::Unpack));
        contestants.extend([
            Contestant::here(who::MEMCPY, |Self { out, packed, .. }: &mut Self| {
                black_box::<&mut [u8]>(out).copy_from_slice(black_box::<&[u8]>(packed));
            }),
            Contestant::here(who::SPAN, |Self { span, memory, .. }| {
                black_box::<&mut [u8]>(memory).copy_from_slice(black_box::<&[u8]>(span));
            }),
        ]);
        bench.turns(self, contestants)
    }
}
