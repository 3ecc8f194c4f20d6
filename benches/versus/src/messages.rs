//! Arrays of records to a new vector of bytes and back to a new vector of records, as in a program that sends
//! messages: this engine and Rust's serializers.
//!
//! The bytes differ; the unpacked records are the same.

use std::hint::black_box;

use anyhow::{Context, Result, ensure};
use borsh::{BorshDeserialize, BorshSerialize};
use dtype_benches::Shape;
use dtype_benches::peer::Work;
use dtype_runtime::{pack, packed_size, unpack};
use rkyv::rancor;
use rkyv::util::AlignedVec;
use serde::Serialize;
use serde::de::DeserializeOwned;
use speedy::{LittleEndian, Readable, Writable};

use crate::bench::{Bench, Contestant, who};
use crate::report::row::{Column, Group, Row};
use crate::structs::{Body, FEW_COUNTS, Hole, Mixed, Nested, Scattered, Small, Tail};
use crate::wire::{self, Wired};

/// The serializers, as columns.
pub(crate) const SERIALIZERS: [&str; 11] = [
    BINCODE,
    POSTCARD,
    RKYV,
    BORSH,
    BITCODE,
    SPEEDY,
    ZEROCOPY,
    who::RSMPI_OPEN_MPI,
    who::RSMPI_MPICH,
    who::RSMPI_SYSTEM_OPEN_MPI,
    who::RSMPI_SYSTEM_MPICH,
];

const BINCODE: &str = "bincode";
const POSTCARD: &str = "postcard";
const RKYV: &str = "rkyv";
const BORSH: &str = "borsh";
const BITCODE: &str = "bitcode";
const SPEEDY: &str = "speedy";
const ZEROCOPY: &str = "zerocopy";

/// Records of each array.
const COUNTS: [usize; 5] = [1, 16, 1000, 65_536, 1_000_000];

/// bincode with numbers at their full width, as this engine packs them.
const FIXED: bincode::config::Configuration<
    bincode::config::LittleEndian,
    bincode::config::Fixint,
> = bincode::config::standard().with_fixed_int_encoding();

/// A record that all contestants can serialize.
trait Message:
    Shape
    + Serialize
    + DeserializeOwned
    + bincode::Encode
    + bincode::Decode<()>
    + bitcode::Encode
    + bitcode::DecodeOwned
    + BorshSerialize
    + BorshDeserialize
    + Writable<LittleEndian>
    + for<'a> Readable<'a, LittleEndian>
    + Wired
{
    /// Archives the records with rkyv, whose traits belong to the archived type.
    #[allow(clippy::ptr_arg, reason = "rkyv has bytes for a vector, not for a slice")]
    fn archive(items: &Vec<Self>) -> Result<AlignedVec, rancor::Error>;

    /// Reads archived records back.
    fn unarchive(bytes: &[u8]) -> Result<Vec<Self>, rancor::Error>;
}

macro_rules! message {
    ($($name:ident),*) => { $(
        impl Message for $name {
            fn archive(items: &Vec<Self>) -> Result<AlignedVec, rancor::Error> {
                rkyv::to_bytes(items)
            }

            fn unarchive(bytes: &[u8]) -> Result<Vec<Self>, rancor::Error> {
                rkyv::from_bytes(bytes)
            }
        }
    )* };
}

message!(Tail, Hole, Small, Body, Mixed, Scattered, Nested);

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    for &count in if bench.quick { &FEW_COUNTS[..] } else { &COUNTS } {
        messages::<Tail>(bench, count)?;
        if !bench.quick {
            messages::<Hole>(bench, count)?;
            messages::<Small>(bench, count)?;
            messages::<Body>(bench, count)?;
            messages::<Mixed>(bench, count)?;
            messages::<Scattered>(bench, count)?;
        }
        messages::<Nested>(bench, count)?;
    }
    Ok(())
}

fn messages<S: Message>(bench: &mut Bench, count: usize) -> Result<()> {
    let group = Group::Messages;
    let (family, parameters) = (format!("{{{}}}", S::NAME), format!("× {count}"));
    let name = format!("{family} {parameters}");
    if !bench.wants(group.key(), &name) {
        return Ok(());
    }
    let mut messages = Messages::<S>::new(count).with_context(|| name.clone())?;
    messages.compare(bench).with_context(|| name)?;
    for (work, columns) in
        [("to bytes", messages.encode(bench)?), ("back", messages.decode(bench)?)]
    {
        let bytes = messages.packed.len() as u64;
        let (family, parameters) = (family.clone(), parameters.clone());
        bench.rows.push(Row { group, family, parameters, work: work.into(), bytes, columns });
    }
    Ok(())
}

/// Records, and the bytes that each contestant makes of them.
struct Messages<S> {
    items: Vec<S>,
    packed: Vec<u8>,
    bincode: Vec<u8>,
    postcard: Vec<u8>,
    rkyv: AlignedVec,
    borsh: Vec<u8>,
    bitcode: Vec<u8>,
    speedy: Vec<u8>,
    zerocopy: Vec<u8>,
}

impl<S: Message> Messages<S> {
    fn new(count: usize) -> Result<Self> {
        let items: Vec<S> = (0..count).map(S::sample).collect();
        Ok(Self {
            packed: pack(&items),
            bincode: bincode::encode_to_vec(&items, FIXED)?,
            postcard: postcard::to_allocvec(&items)?,
            rkyv: S::archive(&items)?,
            borsh: borsh::to_vec(&items)?,
            bitcode: bitcode::encode(&items),
            speedy: items.write_to_vec()?,
            zerocopy: wire::encode(&items),
            items,
        })
    }

    /// Checks that all contestants return the same records.
    fn compare(&self, bench: &mut Bench) -> Result<()> {
        let same = |name: &str, items: Vec<S>| {
            ensure!(items == self.items, "{name} makes other records of its bytes");
            Ok(())
        };
        same(who::DTYPE, unpack(&self.packed)?)?;
        same(BINCODE, bincode::decode_from_slice(&self.bincode, FIXED)?.0)?;
        same(POSTCARD, postcard::from_bytes(&self.postcard)?)?;
        same(RKYV, S::unarchive(&self.rkyv)?)?;
        same(BORSH, borsh::from_slice(&self.borsh)?)?;
        same(BITCODE, bitcode::decode(&self.bitcode)?)?;
        same(SPEEDY, Vec::read_from_buffer(&self.speedy)?)?;
        same(ZEROCOPY, wire::decode(&self.zerocopy))?;
        ensure!(self.zerocopy == self.packed, "{ZEROCOPY} makes other bytes");
        for library in &mut bench.libraries {
            let name = library.by_crate;
            let Ok(process) = library.process() else { continue };
            let packed = process.records(S::NAME, &self.packed).context(name)?;
            ensure!(packed == self.packed, "{name} packs other bytes");
            let back = process.decode().context(name)?;
            ensure!(back == self.packed, "{name} makes other records of its bytes");
        }
        Ok(())
    }

    fn encode(&mut self, bench: &mut Bench) -> Result<Vec<Column>> {
        let mut contestants = vec![
            Contestant::here(who::DTYPE, |this: &mut Self| {
                drop(black_box(pack(black_box(&this.items))));
            }),
            Contestant::here(who::LOOP, |this: &mut Self| {
                let items = black_box(&this.items);
                let mut out = vec![0; packed_size::<S>(items.len())];
                S::pack_by_hand(items, &mut out);
                drop(black_box(out));
            }),
            Contestant::here(BINCODE, |this: &mut Self| {
                drop(black_box(bincode::encode_to_vec(black_box(&this.items), FIXED)));
            }),
            Contestant::here(POSTCARD, |this: &mut Self| {
                drop(black_box(postcard::to_allocvec(black_box(&this.items))));
            }),
            Contestant::here(RKYV, |this: &mut Self| {
                drop(black_box(S::archive(black_box(&this.items))));
            }),
            Contestant::here(BORSH, |this: &mut Self| {
                drop(black_box(borsh::to_vec(black_box(&this.items))));
            }),
            Contestant::here(BITCODE, |this: &mut Self| {
                drop(black_box(bitcode::encode(black_box(&this.items))));
            }),
            Contestant::here(SPEEDY, |this: &mut Self| {
                drop(black_box(black_box(&this.items).write_to_vec()));
            }),
            Contestant::here(ZEROCOPY, |this: &mut Self| {
                drop(black_box(wire::encode(black_box(&this.items))));
            }),
        ];
        contestants.extend(bench.libraries(Work::Encode));
        bench.turns(self, contestants)
    }

    fn decode(&mut self, bench: &mut Bench) -> Result<Vec<Column>> {
        let mut contestants = vec![
            Contestant::here(who::DTYPE, |this: &mut Self| {
                drop(black_box(unpack::<S>(black_box(&this.packed))));
            }),
            Contestant::here(who::LOOP, |this: &mut Self| {
                let mut items = vec![S::default(); this.items.len()];
                S::unpack_by_hand(black_box(&this.packed), &mut items);
                drop(black_box(items));
            }),
            Contestant::here(BINCODE, |this: &mut Self| {
                let bytes = black_box(&this.bincode);
                drop(black_box(bincode::decode_from_slice::<Vec<S>, _>(bytes, FIXED)));
            }),
            Contestant::here(POSTCARD, |this: &mut Self| {
                drop(black_box(postcard::from_bytes::<Vec<S>>(black_box(&this.postcard))));
            }),
            Contestant::here(RKYV, |this: &mut Self| {
                drop(black_box(S::unarchive(black_box(&this.rkyv))));
            }),
            Contestant::here(BORSH, |this: &mut Self| {
                drop(black_box(borsh::from_slice::<Vec<S>>(black_box(&this.borsh))));
            }),
            Contestant::here(BITCODE, |this: &mut Self| {
                drop(black_box(bitcode::decode::<Vec<S>>(black_box(&this.bitcode))));
            }),
            Contestant::here(SPEEDY, |this: &mut Self| {
                drop(black_box(Vec::<S>::read_from_buffer(black_box(&this.speedy))));
            }),
            Contestant::here(ZEROCOPY, |this: &mut Self| {
                drop(black_box(wire::decode::<S>(black_box(&this.zerocopy))));
            }),
        ];
        contestants.extend(bench.libraries(Work::Decode));
        bench.turns(self, contestants)
    }
}
