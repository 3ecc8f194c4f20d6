//! Arrays of structs with values for which some bit patterns are invalid: unpacked in place and to a new vector, beside loops
//! that check as much. The bench `checked` has more such structs.

use std::hint::black_box;

use anyhow::{Context, Result, anyhow, ensure};
use dtype_benches::checked::{Book, CheckedShape, Event, Glyph, Record, Span};
use dtype_benches::placed::{MEMORY, PACKED, Placed, VECTOR};
use dtype_runtime::{pack_into, packed_size, unpack, unpack_into};

use crate::bench::{Bench, Contestant, done, who};
use crate::report::row::{Column, Group, Row};

/// The numbers of records. The last arrays do not fit the second-level cache.
pub(crate) const COUNTS: [usize; 4] = [1, 10, 1000, 65_536];

/// Unpacking in place.
pub(crate) const OVER: &str = "unpack";

/// Unpacking to a new vector.
pub(crate) const NEW: &str = "back";

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    for &count in if bench.quick { &COUNTS[1..2] } else { &COUNTS } {
        arrays::<Glyph>(bench, count)?;
        arrays::<Event>(bench, count)?;
        arrays::<Span>(bench, count)?;
        arrays::<Book>(bench, count)?;
        arrays::<Record>(bench, count)?;
    }
    Ok(())
}

fn arrays<S: CheckedShape>(bench: &mut Bench, count: usize) -> Result<()> {
    let group = Group::Checked;
    let (family, parameters) = (format!("{{{}}}", S::NAME), format!("× {count}"));
    let name = format!("{family} {parameters}");
    if !bench.wants(group.key(), &name) {
        return Ok(());
    }
    let mut items = Placed::new(S::sample(0), count, MEMORY + VECTOR);
    let mut packed = Placed::new(0, packed_size::<S>(count), PACKED + VECTOR);
    let mut plain = Placed::new(S::UNUSED, count, MEMORY + VECTOR);
    let mut arrays =
        Arrays { items: &mut items[..], plain: &mut plain[..], packed: &mut packed[..] };
    for (item, index) in arrays.items.iter_mut().zip(0..) {
        *item = S::sample(index);
    }
    pack_into(arrays.items, arrays.packed)?;
    arrays.compare().with_context(|| name)?;
    for (work, columns) in [(OVER, arrays.over(bench)?), (NEW, arrays.back(bench)?)] {
        let bytes = arrays.packed.len() as u64;
        let (family, parameters) = (family.clone(), parameters.clone());
        bench.rows.push(Row { group, family, parameters, work: work.into(), bytes, columns });
    }
    Ok(())
}

/// Records, what the loop makes of them, and their packed bytes.
struct Arrays<'a, S: CheckedShape> {
    items: &'a mut [S],
    plain: &'a mut [S::Plain],
    packed: &'a mut [u8],
}

impl<S: CheckedShape> Arrays<'_, S> {
    /// Checks that the loop and the engine unpack the bytes to the same records, and that both refuse invalid bytes.
    fn compare(&mut self) -> Result<()> {
        let Self { items, plain, packed } = self;
        let by_hand = |_| anyhow!("the loop refuses valid bytes");
        let mut over = vec![S::sample(1); items.len()];
        unpack_into(packed, &mut over)?;
        ensure!(over == *items, "unpacked to other records");
        ensure!(unpack::<S>(packed)? == *items, "unpacked to other new records");
        let expected: Vec<S::Plain> = items.iter().map(S::plain).collect();
        S::unpack_by_hand(packed, plain).map_err(by_hand)?;
        ensure!(**plain == expected, "the loop unpacks other records");
        let collected = S::collect_by_hand(packed).map_err(by_hand)?;
        ensure!(collected == expected, "the loop makes other new records");

        let (last, record) = (items.len() - 1, packed.len() / items.len());
        let mut refused = packed.to_vec();
        refused[last * record..].fill(0xFF);
        ensure!(unpack_into(&refused, &mut over).is_err(), "invalid values are accepted");
        ensure!(over == *items, "something was written in spite of an error");
        ensure!(unpack::<S>(&refused).is_err(), "invalid values are accepted in a new vector");
        ensure!(S::collect_by_hand(&refused).is_err(), "the loop accepts invalid values");
        Ok(())
    }

    fn over(&mut self, bench: &mut Bench) -> Result<Vec<Column>> {
        let contestants = vec![
            Contestant::here(who::DTYPE, |Self { items, packed, .. }: &mut Self| {
                let items = black_box::<&mut [S]>(items);
                done(unpack_into(black_box::<&[u8]>(packed), items));
            }),
            Contestant::here(who::LOOP, |Self { plain, packed, .. }| {
                let items = black_box::<&mut [S::Plain]>(plain);
                black_box(S::unpack_by_hand(black_box::<&[u8]>(packed), items).is_ok());
            }),
        ];
        bench.turns(self, contestants)
    }

    fn back(&mut self, bench: &mut Bench) -> Result<Vec<Column>> {
        let contestants = vec![
            Contestant::here(who::DTYPE, |this: &mut Self| {
                drop(black_box(unpack::<S>(black_box::<&[u8]>(this.packed))));
            }),
            Contestant::here(who::LOOP, |this: &mut Self| {
                drop(black_box(S::collect_by_hand(black_box::<&[u8]>(this.packed))));
            }),
        ];
        bench.turns(self, contestants)
    }
}
