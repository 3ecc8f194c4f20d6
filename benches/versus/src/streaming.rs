//! Packing in segments, beside packing as a whole; listing the pieces of memory in windows, beside all in one call; setting a
//! position.
//!
//! MPI has no calls for these; MPICH's engine, Yaksa, lists the pieces.

use std::hint::black_box;

use anyhow::{Context, Result, ensure};
use dtype_benches::forms::{Wide, Widest};
use dtype_benches::noise::{Random, fill, fingerprint};
use dtype_benches::peer::{BACKGROUND, DATA, WINDOW, Work};
use dtype_benches::placed::{MEMORY, PACKED, Placed};
use dtype_runtime::convertor::Segment;
use dtype_runtime::{Basic, Committed, Error, Type};

use crate::bench::{Bench, Contestant, done, who};
use crate::report::row::{Group, Row};
use crate::structs::{Mixed, Nested, Scattered, Tail};

/// In one call.
pub(crate) const WHOLE: &str = "whole";

/// In segments of 64 KiB.
pub(crate) const KIB_64: &str = "64 KiB";
pub(crate) const KIB_8: &str = "8 KiB";
pub(crate) const KIB_1: &str = "1 KiB";

/// Jumps before the measured ones. They bring all of the memory and of the lists into the caches. The few jumps of a round
/// reach only a part of both, and would measure the misses.
const JUMPS_BEFORE: u32 = 200_000;

/// All pieces, in windows of 64.
pub(crate) const WINDOWS: &str = "windows of 64";

pub(crate) type Layout = (&'static str, &'static str, usize, Result<Type, Error>);

/// The layouts: name, parameters, count and type.
pub(crate) fn layouts() -> Vec<Layout> {
    let [i32, f32, f64] = [Basic::I32, Basic::F32, Basic::F64].map(Type::basic);
    let mut random = Random::new(1);
    let mut at = 0;
    let places: Vec<i64> = (0..64_000)
        .map(|_| {
            at += 4 + i64::from(random.below(3));
            at
        })
        .collect();
    let lengths: Vec<u64> = (0..64_000).map(|_| 1 + u64::from(random.below(3))).collect();
    let face =
        Type::vector(16, 1, 34, &f64).and_then(|row| Type::hvector(16, 1, 8 * 34 * 18, &row));
    let milc = Type::vector(16, 6 * 32, 6 * 256, &f32);
    let few = Type::indexed(&lengths[..14], &places[..14], &f64);
    let lists = few.and_then(|few| Type::contiguous(12, &few));
    let structs = Type::vector(25, 2, 4, &Type::of::<Nested>());
    vec![
        ("{f64,u32,u8}", "× 4096", 4096, Ok(Type::of::<Tail>())),
        ("{3f32,f64,2i16}", "× 4096", 4096, Ok(Type::of::<Mixed>())),
        ("{u8,i16,i32,f64,u8}", "× 4096", 4096, Ok(Type::of::<Scattered>())),
        ("nested", "× 4096", 4096, Ok(Type::of::<Nested>())),
        ("{8f64,u32,u8}", "× 4096", 4096, Ok(Type::of::<Wide>())),
        ("{u16,24f64,u32}", "× 1024", 1024, Ok(Type::of::<Widest>())),
        ("vector", "18, 2, 5, f64, × 500", 500, Type::vector(18, 2, 5, &f64)),
        ("vector", "17160, 1, 7, i32", 1, Type::vector(17_160, 1, 7, &i32)),
        ("indexed_block", "4000, 1, f64", 1, Type::indexed_block(1, &places[..4000], &f64)),
        ("indexed_block", "64000, 1, f64", 1, Type::indexed_block(1, &places, &f64)),
        ("indexed", "1000, 1 to 3, f64", 1, Type::indexed(&lengths[..1000], &places[..1000], &f64)),
        ("indexed", "64000, 1 to 3, f64", 1, Type::indexed(&lengths, &places, &f64)),
        ("contiguous", "12, indexed 14, × 44", 44, lists),
        ("vector", "25, 2, 4, nested, × 24", 24, structs),
        ("MILC_su3_zd", "8×8×8×8", 1, milc),
        ("NAS_MG_x", "34×18×18", 1, face),
    ]
}

/// The number of pieces of memory in the layout of a row.
pub(crate) fn pieces_of(row: &Row) -> Option<u64> {
    let (_, _, count, ty) = layouts().into_iter().find(|(family, parameters, ..)| {
        (*family, *parameters) == (&row.family, &row.parameters)
    })?;
    let ty = ty.ok()?.commit();
    let bytes = ty.packed_size(count).ok()? as u64;
    Some(ty.iov(count, 0..bytes).ok()?.segments())
}

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    let number = if bench.quick { 2 } else { usize::MAX };
    for (family, parameters, count, ty) in layouts().into_iter().take(number) {
        let name = format!("{family} {parameters}");
        let groups = [Group::Segments, Group::Pieces, Group::Jumps];
        if !groups.iter().any(|group| bench.wants(group.key(), &name)) {
            continue;
        }
        let ty = ty?;
        let mut stream = Stream::new(&ty, count).with_context(|| name.clone())?;
        stream.compare().with_context(|| name.clone())?;
        if bench.wants(Group::Pieces.key(), &name)
            && let Ok(yaksa) = bench.yaksa.process()
        {
            let pieces = yaksa.pieces(&ty, count).with_context(|| name.clone())?;
            ensure!(joined(pieces) == stream.pieces()?, "{name}: Yaksa lists other pieces");
        }
        for group in groups {
            if !bench.wants(group.key(), &name) {
                continue;
            }
            for (work, mut contestants) in Stream::contestants(group) {
                if group == Group::Pieces {
                    contestants.push(bench.yaksa(who::YAKSA, Work::List));
                    contestants.push(bench.yaksa(who::YAKSA_WINDOWS, Work::ListInWindows));
                }
                if group == Group::Jumps {
                    (0..JUMPS_BEFORE).for_each(|_| stream.jump());
                }
                let columns = bench.turns(&mut stream, contestants)?;
                let (family, parameters) = (family.to_owned(), parameters.to_owned());
                let bytes = stream.bytes();
                bench.rows.push(Row {
                    group,
                    family,
                    parameters,
                    work: work.into(),
                    bytes,
                    columns,
                });
            }
        }
    }
    Ok(())
}

/// Joins pieces that touch.
fn joined(pieces: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (disp, len) in pieces {
        match joined.last_mut() {
            Some((before, bytes)) if *before + *bytes == disp => *bytes += len,
            _ => joined.push((disp, len)),
        }
    }
    joined
}

/// Instances in a memory, and their packed bytes.
pub(crate) struct Stream {
    committed: Committed,
    count: usize,
    memory: Placed<u8>,
    packed: Placed<u8>,
    out: Placed<u8>,
    /// Room for pieces of memory.
    window: [Segment; WINDOW],
    /// The position of the last jump.
    position: u64,
}

impl Stream {
    pub(crate) fn new(ty: &Type, count: usize) -> Result<Self> {
        let committed = ty.commit();
        let length = ty.extent() * (i64::try_from(count)? - 1) + ty.true_ub();
        let mut memory = Placed::new(0, usize::try_from(length)?, MEMORY);
        fill(&mut memory, DATA);
        let size = committed.packed_size(count)?;
        let mut packed = Placed::new(0, size, PACKED);
        committed.pack(&*memory, count, &mut packed)?;
        let out = Placed::new(0, size, PACKED);
        Ok(Self {
            committed,
            count,
            memory,
            packed,
            out,
            window: [Segment::default(); WINDOW],
            position: 0,
        })
    }

    /// Packed bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.packed.len() as u64
    }

    /// Checks that the MPI libraries pack to the same bytes and unpack to the same memory.
    pub(crate) fn compare_libraries(&mut self, bench: &mut Bench) -> Result<()> {
        fill(&mut self.memory, BACKGROUND);
        self.unpack_whole()?;
        let unpacked = fingerprint(&self.memory);
        fill(&mut self.memory, DATA);
        let (count, length) = (self.count, self.memory.len());
        bench.compare(&self.committed, count, 0, length, &self.packed, unpacked)
    }

    /// Checks that the segments, and the pieces, have the bytes of the whole.
    pub(crate) fn compare(&mut self) -> Result<()> {
        fill(&mut self.memory, BACKGROUND);
        self.unpack_whole()?;
        let whole = self.memory.to_vec();
        for segment in [64 << 10, 8 << 10, 1 << 10] {
            fill(&mut self.memory, BACKGROUND);
            self.unpack_by(segment)?;
            ensure!(*self.memory == whole, "segments of {segment} bytes are unpacked otherwise");
            self.out.fill(0);
            self.pack_by(segment)?;
            ensure!(*self.out == *self.packed, "segments of {segment} bytes are packed otherwise");
        }
        let found = self.pieces()?.iter().map(|(_, len)| len).sum::<u64>();
        ensure!(found == self.packed.len() as u64, "the pieces have {found} bytes");
        Ok(())
    }

    /// The displacements and lengths of all pieces.
    fn pieces(&self) -> Result<Vec<(u64, u64)>> {
        let pieces = self.committed.iov(self.count, 0..self.packed.len() as u64)?;
        pieces.map(|piece| Ok((u64::try_from(piece.disp)?, piece.len))).collect()
    }

    fn contestants(group: Group) -> Vec<(&'static str, Vec<Contestant<Self>>)> {
        match group {
            Group::Segments => {
                vec![("pack", Self::packing()), ("unpack", Self::unpacking())]
            }
            Group::Pieces => vec![("list", Self::listing())],
            _ => vec![("jump", vec![Contestant::here(who::DTYPE, Self::jump)])],
        }
    }

    fn packing() -> Vec<Contestant<Self>> {
        vec![
            Contestant::here(WHOLE, |this: &mut Self| {
                done(this.pack_whole());
            }),
            Contestant::here(KIB_64, |this: &mut Self| {
                done(this.pack_by(64 << 10));
            }),
            Contestant::here(KIB_8, |this: &mut Self| {
                done(this.pack_by(8 << 10));
            }),
            Contestant::here(KIB_1, |this: &mut Self| {
                done(this.pack_by(1 << 10));
            }),
        ]
    }

    fn unpacking() -> Vec<Contestant<Self>> {
        vec![
            Contestant::here(WHOLE, |this: &mut Self| {
                done(this.unpack_whole());
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
        ]
    }

    fn listing() -> Vec<Contestant<Self>> {
        vec![
            Contestant::here(WHOLE, |Self { committed, count, packed, .. }| {
                if let Ok(pieces) = committed.iov(black_box(*count), 0..packed.len() as u64) {
                    pieces.for_each(|piece| _ = black_box(piece));
                }
            }),
            Contestant::here(WINDOWS, |Self { committed, count, packed, window, .. }| {
                let (mut position, end) = (0, packed.len() as u64);
                while position < end {
                    let Ok(mut pieces) = committed.iov(black_box(*count), position..end) else {
                        return;
                    };
                    let found = pieces.fill(black_box(window));
                    black_box(&window[..found]);
                    position = pieces.position();
                }
            }),
        ]
    }

    pub(crate) fn pack_whole(&mut self) -> Result<usize, Error> {
        self.committed.pack(black_box(&*self.memory), self.count, black_box(&mut *self.out))
    }

    pub(crate) fn unpack_whole(&mut self) -> Result<usize, Error> {
        self.committed.unpack(black_box(&*self.packed), black_box(&mut *self.memory), self.count)
    }

    pub(crate) fn pack_by(&mut self, segment: usize) -> Result<(), Error> {
        let mut packer = self.committed.packer(black_box(&*self.memory), self.count)?;
        for out in black_box(&mut *self.out).chunks_mut(segment) {
            packer.pack(out);
        }
        Ok(())
    }

    pub(crate) fn unpack_by(&mut self, segment: usize) -> Result<(), Error> {
        let mut unpacker = self.committed.unpacker(black_box(&mut *self.memory), self.count)?;
        for bytes in black_box(&*self.packed).chunks(segment) {
            unpacker.unpack(bytes)?;
        }
        Ok(())
    }

    /// Sets another position, and packs a byte there.
    fn jump(&mut self) {
        self.position = (self.position + 7919 * 13) % self.packed.len() as u64;
        if let Ok(mut packer) = self.committed.packer(&*self.memory, self.count) {
            let _ = packer.set_position(black_box(self.position));
            black_box(packer.pack(black_box(&mut [0])));
        }
    }
}
