//! Slices of records, packed and unpacked in segments and as a whole.

use std::hint::black_box;

use anyhow::{Context, Result, ensure};
use dtype_benches::Shape;
use dtype_benches::placed::{MEMORY, PACKED, Placed, VECTOR};
use dtype_runtime::{Error, Packer, Unpacker, pack_into, packed_size, unpack_into};

use crate::bench::{Bench, Contestant, done};
use crate::report::row::{Column, Group, Row};
use crate::streaming::{KIB_1, KIB_8, KIB_64, WHOLE};
use crate::structs::{Body, Hole, Mixed, Nested, Scattered, Small, Tail};

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    for count in [1000, 65_536] {
        slice::<Tail>(bench, count)?;
        if !bench.quick {
            slice::<Hole>(bench, count)?;
            slice::<Small>(bench, count)?;
            slice::<Body>(bench, count)?;
            slice::<Mixed>(bench, count)?;
            slice::<Scattered>(bench, count)?;
            slice::<Nested>(bench, count)?;
        }
    }
    Ok(())
}

fn slice<S: Shape>(bench: &mut Bench, count: usize) -> Result<()> {
    let group = Group::Segments;
    let (family, parameters) = (format!("[{{{}}}]", S::NAME), format!("× {count}"));
    let name = format!("{family} {parameters}");
    if !bench.wants(group.key(), &name) {
        return Ok(());
    }
    let items = || Placed::new(S::default(), count, MEMORY + VECTOR);
    let bytes = || Placed::new(0, packed_size::<S>(count), PACKED + VECTOR);
    let mut slice = Slice {
        items: &mut items()[..],
        packed: &mut bytes()[..],
        other: &mut items()[..],
        out: &mut bytes()[..],
    };
    for (index, item) in slice.items.iter_mut().enumerate() {
        *item = S::sample(index);
    }
    pack_into(slice.items, slice.packed)?;
    slice.compare().with_context(|| name)?;
    for (work, columns) in [("pack", slice.pack(bench)?), ("unpack", slice.unpack(bench)?)] {
        let bytes = slice.packed.len() as u64;
        let (family, parameters) = (family.clone(), parameters.clone());
        bench.rows.push(Row { group, family, parameters, work: work.into(), bytes, columns });
    }
    Ok(())
}

/// Records and their packed bytes, and the memory that each is written to.
struct Slice<'a, S> {
    items: &'a mut [S],
    packed: &'a mut [u8],
    other: &'a mut [S],
    out: &'a mut [u8],
}

impl<S: Shape> Slice<'_, S> {
    /// Checks that the segments together have the bytes of the whole.
    fn compare(&mut self) -> Result<()> {
        for segment in [64 << 10, 8 << 10, 1 << 10] {
            self.out.fill(0);
            self.pack_by(segment);
            ensure!(self.out == self.packed, "segments of {segment} bytes are packed otherwise");
            self.other.fill(S::default());
            self.unpack_by(segment)?;
            ensure!(self.other == self.items, "segments of {segment} bytes are unpacked otherwise");
        }
        Ok(())
    }

    fn pack(&mut self, bench: &mut Bench) -> Result<Vec<Column>> {
        let contestants = vec![
            Contestant::here(WHOLE, |Self { items, out, .. }: &mut Self| {
                done(pack_into(black_box::<&[S]>(items), black_box::<&mut [u8]>(out)));
            }),
            Contestant::here(KIB_64, |this: &mut Self| this.pack_by(64 << 10)),
            Contestant::here(KIB_8, |this: &mut Self| this.pack_by(8 << 10)),
            Contestant::here(KIB_1, |this: &mut Self| this.pack_by(1 << 10)),
        ];
        bench.turns(self, contestants)
    }

    fn unpack(&mut self, bench: &mut Bench) -> Result<Vec<Column>> {
        let contestants = vec![
            Contestant::here(WHOLE, |Self { other, packed, .. }: &mut Self| {
                let other = black_box::<&mut [S]>(other);
                done(unpack_into(black_box::<&[u8]>(packed), other));
            }),
            Contestant::here(KIB_64, |this: &mut Self| {
                done(this.unpack_by(64 << 10));
            }),
            Contestant::here(KIB_8, |this: &mut Self| {
                done(this.unpack_by(8 << 10));
            }),
            Contestant::here(KIB_1, |this: &mut Self| {
                done(this.unpack_by(1 << 10));
            }),
        ];
        bench.turns(self, contestants)
    }

    fn pack_by(&mut self, segment: usize) {
        let mut packer = Packer::new(black_box::<&[S]>(self.items));
        for out in black_box::<&mut [u8]>(self.out).chunks_mut(segment) {
            packer.pack(out);
        }
    }

    fn unpack_by(&mut self, segment: usize) -> Result<(), Error> {
        let mut unpacker = Unpacker::new(black_box::<&mut [S]>(self.other));
        for bytes in black_box::<&[u8]>(self.packed).chunks(segment) {
            unpacker.unpack(bytes)?;
        }
        Ok(())
    }
}
