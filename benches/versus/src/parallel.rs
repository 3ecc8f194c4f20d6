//! Large arrays of structs on all cores, against one core, and against a copy of the packed bytes on all cores.

use std::hint::black_box;

use anyhow::{Result, ensure};
use dtype_benches::Shape;
use dtype_runtime::{Packer, Unpacker, pack, unpack_into};
use rayon::prelude::*;

use crate::bench::{Bench, Contestant, done, who};
use crate::report::row::{Column, Group, Row};
use crate::structs::Tail;

/// The engine on one core.
pub(crate) const ONE_CORE: &str = "one core";

/// A copy of the packed bytes on all cores, by rayon.
pub(crate) const COPY: &str = "rayon, copy";

/// Packed sizes of the arrays, in MiB.
const SIZES: [usize; 3] = [1, 64, 1024];

/// Bytes in each of the pieces that rayon copies.
const AT_ONCE: usize = 256 << 10;

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    let group = Group::Parallel;
    for &size in if bench.quick { &SIZES[..1] } else { &SIZES } {
        let (family, parameters) = (format!("{{{}}}", Tail::NAME), format!("{size} MiB"));
        if !bench.wants(group.key(), &format!("{family} {parameters}")) {
            continue;
        }
        let mut arrays = Arrays::new((size << 20) / dtype_runtime::packed_size::<Tail>(1));
        arrays.compare()?;
        for (work, columns) in [("pack", arrays.pack(bench)?), ("unpack", arrays.unpack(bench)?)] {
            let bytes = arrays.packed.len() as u64;
            let (family, parameters) = (family.clone(), parameters.clone());
            bench.rows.push(Row { group, family, parameters, work: work.into(), bytes, columns });
        }
    }
    Ok(())
}

/// Records, their packed bytes, and a buffer of that length.
struct Arrays {
    items: Vec<Tail>,
    packed: Vec<u8>,
    out: Vec<u8>,
}

impl Arrays {
    fn new(count: usize) -> Self {
        let items: Vec<Tail> = (0..count).map(Tail::sample).collect();
        let packed = pack(&items);
        Self { items, out: packed.clone(), packed }
    }

    fn compare(&mut self) -> Result<()> {
        self.out.fill(0);
        Packer::new(&self.items).par_pack(&mut self.out);
        ensure!(self.out == self.packed, "packed to other bytes on all cores");
        self.items.fill(Tail::default());
        Unpacker::new(&mut self.items).par_unpack(&self.packed)?;
        ensure!(pack(&self.items) == self.packed, "unpacked to other records on all cores");
        Ok(())
    }

    fn copy(&mut self) {
        let from = black_box(&self.packed).par_chunks(AT_ONCE);
        let to = black_box(&mut self.out).par_chunks_mut(AT_ONCE);
        from.zip(to).for_each(|(from, to)| to.copy_from_slice(from));
    }

    fn pack(&mut self, bench: &mut Bench) -> Result<Vec<Column>> {
        let contestants = vec![
            Contestant::here(who::DTYPE, |this: &mut Self| {
                black_box(Packer::new(black_box(&this.items)).par_pack(black_box(&mut this.out)));
            }),
            Contestant::here(ONE_CORE, |this: &mut Self| {
                black_box(Packer::new(black_box(&this.items)).pack(black_box(&mut this.out)));
            }),
            Contestant::here(COPY, Self::copy),
        ];
        bench.turns(self, contestants)
    }

    fn unpack(&mut self, bench: &mut Bench) -> Result<Vec<Column>> {
        let contestants = vec![
            Contestant::here(who::DTYPE, |this: &mut Self| {
                let mut unpacker = Unpacker::new(black_box(&mut this.items));
                done(unpacker.par_unpack(black_box(&this.packed)));
            }),
            Contestant::here(ONE_CORE, |this: &mut Self| {
                let items = black_box(&mut this.items);
                done(unpack_into(black_box(&this.packed), items));
            }),
            Contestant::here(COPY, Self::copy),
        ];
        bench.turns(self, contestants)
    }
}
