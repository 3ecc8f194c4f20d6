//! Packing in the portable representation against packing in the machine's own.

use std::hint::black_box;

use anyhow::{Context, Result, ensure};
use dtype_benches::noise::{fill, fingerprint};
use dtype_benches::peer::{BACKGROUND, DATA};
use dtype_runtime::convertor::Conversion;
use dtype_runtime::{Committed, Representation, Type};

use crate::bench::{Bench, Contestant, done};
use crate::report::row::{Column, Group, Row};
use crate::streaming::layouts;

/// In the machine's own representation.
pub(crate) const NATIVE: &str = "native";

/// In the representation `external32` of MPI.
pub(crate) const EXTERNAL32: &str = "external32";

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    let (group, number) = (Group::External, if bench.quick { 2 } else { usize::MAX });
    for (family, parameters, count, ty) in layouts().into_iter().take(number) {
        let name = format!("{family} {parameters}");
        if !bench.wants(group.key(), &name) {
            continue;
        }
        let mut message = Message::new(&ty?, count).with_context(|| name.clone())?;
        message.compare().with_context(|| name)?;
        for (work, columns) in [("pack", message.pack(bench)?), ("unpack", message.unpack(bench)?)]
        {
            let (family, parameters) = (family.to_owned(), parameters.to_owned());
            let bytes = message.native.len() as u64;
            bench.rows.push(Row { group, family, parameters, work: work.into(), bytes, columns });
        }
    }
    Ok(())
}

/// Instances in a memory, and their bytes in both representations.
struct Message {
    committed: Committed,
    conversion: Conversion,
    count: usize,
    memory: Vec<u8>,
    native: Vec<u8>,
    external: Vec<u8>,
    out: Vec<u8>,
}

impl Message {
    fn new(ty: &Type, count: usize) -> Result<Self> {
        let committed = ty.commit();
        let conversion = committed.conversion(Representation::External32)?;
        let length = ty.extent() * (i64::try_from(count)? - 1) + ty.true_ub();
        let mut memory = vec![0; usize::try_from(length)?];
        fill(&mut memory, DATA);
        let mut native = vec![0; committed.packed_size(count)?];
        committed.pack(&memory, count, &mut native)?;
        let mut external = vec![0; conversion.packed_size(count)?];
        conversion.pack(&memory, count, &mut external)?;
        let out = native.clone();
        Ok(Self { committed, conversion, count, memory, native, external, out })
    }

    /// Checks that `external32` reverses the bytes of each number, and that unpacking either form gives the same memory.
    fn compare(&mut self) -> Result<()> {
        let Self { committed, conversion, count, memory, native, external, out } = self;
        out.copy_from_slice(native);
        let mut rest = out.as_mut_slice();
        for _ in 0..*count {
            for entry in committed.type_map() {
                let (number, other) = rest.split_at_mut(entry.basic.size());
                if cfg!(target_endian = "little") {
                    number.reverse();
                }
                rest = other;
            }
        }
        ensure!(out == external, "{EXTERNAL32} does not have the bytes of each number reversed");
        let mut fingerprints = [0; 2];
        for (turn, fingerprint_of) in fingerprints.iter_mut().enumerate() {
            fill(memory, BACKGROUND);
            if turn == 0 {
                committed.unpack(native, &mut *memory, *count)?;
            } else {
                conversion.unpack(external, &mut *memory, *count)?;
            }
            *fingerprint_of = fingerprint(memory);
        }
        ensure!(fingerprints[0] == fingerprints[1], "{EXTERNAL32} is unpacked to another memory");
        Ok(())
    }

    fn pack(&mut self, bench: &mut Bench) -> Result<Vec<Column>> {
        let contestants = vec![
            Contestant::here(NATIVE, |Self { committed, count, memory, out, .. }: &mut Self| {
                done(committed.pack(black_box(&*memory), *count, black_box(out)));
            }),
            Contestant::here(EXTERNAL32, |Self { conversion, count, memory, out, .. }| {
                done(conversion.pack(black_box(&*memory), *count, black_box(out)));
            }),
        ];
        bench.turns(self, contestants)
    }

    fn unpack(&mut self, bench: &mut Bench) -> Result<Vec<Column>> {
        let contestants = vec![
            Contestant::here(NATIVE, |Self { committed, count, memory, native, .. }: &mut Self| {
                done(committed.unpack(black_box(native), black_box(memory), *count));
            }),
            Contestant::here(EXTERNAL32, |Self { conversion, count, memory, external, .. }| {
                let (external, memory) = (black_box(external), black_box(memory));
                done(conversion.unpack(external, &mut *memory, *count));
            }),
        ];
        bench.turns(self, contestants)
    }
}
