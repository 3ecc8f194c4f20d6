//! Whether what is chosen is the fastest on this machine:
//!
//! ```text
//! cargo test --release -p dtype-runtime --lib as_fast_as -- --ignored --nocapture --test-threads 1
//! ```
//!
//! `DTYPE_KERNELS` selects the instructions, and `DTYPE_SEED` other records. The machine should have nothing else to do. Typed
//! copies are measured in `typed::layout::measured`.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::string::String;
use std::time::Instant;
use std::vec::Vec;
use std::{format, print, println, vec};

use super::*;
use crate::basic::Basic;
use crate::plan::{ByteMap, Permutation};
use crate::types::Type;

/// How much longer than the best way the chosen one may take.
const MOST: f64 = 1.15;

/// Nanoseconds that are within what the clock and the call by a pointer change.
const NOISE: f64 = 1.0;

/// A way to copy records, and its name.
pub(crate) type CopyBy<'a> = (&'static str, &'a dyn Fn());

/// Ways to copy the same records, the chosen one first, in nanoseconds.
pub(crate) struct Measured {
    /// What rows are counted by.
    pub(crate) class: String,
    pub(crate) records: String,
    /// The name of the chosen way. Its own time counts if it is among the ways: the time to choose it is the same for all.
    pub(crate) name: &'static str,
    times: Vec<(&'static str, f64)>,
}

impl Measured {
    /// The least of many times for each, taken in turns. What seems too slow is measured again.
    pub(crate) fn new(
        class: String,
        records: String,
        name: &'static str,
        ways: &[CopyBy<'_>],
    ) -> Self {
        /// Nanoseconds for one sample.
        const SAMPLE: f64 = 10_000.0;
        let sample = |copy: &dyn Fn(), calls: u32| {
            let start = Instant::now();
            for _ in 0..calls {
                copy();
            }
            start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
        };
        let mut all = Self { class, records, name, times: Vec::new() };
        for (name, copy) in ways {
            all.times.push((name, sample(copy, 10)));
        }
        for _ in 0..5 {
            for _ in 0..60 {
                for ((_, copy), (_, least)) in ways.iter().zip(&mut all.times) {
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "a few"
                    )]
                    let calls = (SAMPLE / *least).clamp(1.0, 2000.0) as u32;
                    *least = least.min(sample(copy, calls));
                }
            }
            if !all.is_slow() {
                break;
            }
        }
        all
    }

    fn best(&self) -> (&'static str, f64) {
        self.times.iter().copied().fold(
            ("", f64::MAX),
            |best, way| {
                if way.1 < best.1 { way } else { best }
            },
        )
    }

    /// The time of the chosen way.
    fn chosen(&self) -> f64 {
        let own = self.times.iter().find(|(name, _)| *name == self.name);
        own.map_or(self.times[0].1, |(_, time)| *time)
    }

    fn is_slow(&self) -> bool {
        let (_, best) = self.best();
        self.chosen() > (best * MOST).max(best + NOISE)
    }
}

/// Prints the rows in which the chosen way is too slow, by class.
///
/// # Panics
///
/// If there are any.
pub(crate) fn report(rows: &[Measured]) {
    let mut classes = BTreeMap::<&str, (usize, Vec<&Measured>)>::new();
    for row in rows {
        let (all, slow) = classes.entry(&row.class).or_default();
        *all += 1;
        if row.is_slow() {
            slow.push(row);
        }
    }
    println!("kernels: {}", selected());
    for (class, (all, slow)) in &mut classes {
        println!(
            "{class}: {} of {all} take more than {MOST} times as long as the best",
            slow.len()
        );
        let ratio = |row: &Measured| row.chosen() / row.best().1;
        slow.sort_by(|one, other| ratio(other).total_cmp(&ratio(one)));
        for row in slow.iter().take(12) {
            print!("    {:.2} {}:", ratio(row), row.records);
            for (name, time) in &row.times {
                print!(" {name} {time:.1}");
            }
            println!();
        }
    }
    let slow: usize = classes.values().map(|(_, slow)| slow.len()).sum();
    assert!(slow == 0, "{slow} of {} are slower", rows.len());
}

/// The seed of the records.
pub(crate) fn seed() -> u64 {
    std::env::var("DTYPE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1)
}

/// Random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31) % end
    }

    /// Runs of a record, and the distance from one record to the next.
    fn record(&mut self) -> (Vec<u64>, Vec<i64>, i64) {
        const LENGTHS: [u64; 12] = [1, 2, 3, 4, 4, 8, 8, 8, 12, 13, 16, 40];
        let (mut lens, mut disps, mut end) = (Vec::new(), Vec::new(), 0);
        for _ in 0..=self.below(6) {
            let len = LENGTHS[usize::try_from(self.below(12)).unwrap()];
            disps.push(end);
            lens.push(len);
            end += len.cast_signed() + 1 + self.below(8).cast_signed();
        }
        (lens, disps, end + self.below(9).cast_signed() - 1)
    }
}

/// Measures every way to copy `count` instances.
fn measured<D: Way>(plan: &Plan, count: u64, use_: &str, rows: &mut Vec<Measured>) {
    let size = usize::try_from(plan.size() * count).unwrap();
    let span = usize::try_from(plan.extent().cast_unsigned() * count).unwrap() + 128;
    let (mut memory, mut packed) = (vec![1_u8; span], vec![1_u8; size + 64]);
    let (memory, packed) = (memory.as_mut_ptr(), packed.as_mut_ptr());
    let (program, extent) = (plan.program(), plan.extent());
    let room = &mut None;
    let kernel = choose::instances(plan, count, selected(), D::USE, room);
    let name = match kernel {
        Kernel::Blocks(_) => "in rows",
        Kernel::Permutation(_) => "permutation",
        Kernel::Records(_) | Kernel::Runs(_) => "run by run",
        Kernel::Copy => "few",
        Kernel::Grid(_) => "grid",
        _ => "one by one",
    };
    let all = plan.program().records();
    let shift = if let [Op::Blocks(all)] = plan.ops() { all.disp } else { 0 };
    let permutation = ByteMap::from_ops(plan.ops())
        .filter(|_| selected().permutes() && shift == 0)
        .and_then(|map| Permutation::new(&map, extent));
    // SAFETY: here and below, the memory has the bytes of the instances, and so do the packed bytes; nothing else uses them.
    let chosen = || unsafe { execute::<D>(black_box(plan), black_box(count), memory, packed) };
    let walks = || unsafe {
        // SAFETY: as above.
        walked::<D>(
            program.instance(),
            black_box(program),
            black_box(count),
            extent,
            memory,
            packed,
        );
    };
    // SAFETY: as above; all operations are short runs.
    let few = || unsafe { few::<D>(black_box(program), black_box(count), memory, packed) };
    let permutes = || {
        if let Some(all) = &permutation {
            // SAFETY: as above; the permutation is that of the instances.
            unsafe { permute::<D>(black_box(all), 0..black_box(size), memory, packed) };
        }
    };
    let by_runs = || {
        if let Some(all) = all {
            let (disp, from) = all.find(0);
            let first = memory.wrapping_offset(disp);
            // SAFETY: as above; the records are the instances.
            unsafe { part_of_records::<D>(black_box(all), from, black_box(size), first, packed) };
        }
    };
    let joined = choose::joined(plan, count);
    let in_rows = || {
        if let Some(all) = &joined {
            let (disp, len, number, stride) = strided::in_memory(all);
            let steps = Steps { memory: stride, packed: len };
            let first = memory.wrapping_offset(disp);
            // SAFETY: as above; these blocks are the instances.
            unsafe {
                strided::<D>(black_box(len), black_box(number), steps, first, packed);
            }
        }
    };
    let mut ways: Vec<CopyBy<'_>> = vec![("chosen", &chosen), ("one by one", &walks)];
    let all_short = |op: &Op| matches!(op, Op::Blocks(Blocks { count: 1, len: ..=SHORT, .. }));
    if plan.ops().iter().all(all_short) {
        ways.push(("few", &few));
    }
    if permutation.is_some() {
        ways.push(("permutation", &permutes));
    }
    if all.is_some() {
        ways.push(("run by run", &by_runs));
    }
    if joined.is_some() {
        ways.push(("in rows", &in_rows));
    }
    let range = match count {
        ..4 => "2 to 3",
        4..16 => "4 to 15",
        16..100 => "16 to 99",
        _ => "100 and more",
    };
    let class = format!("{use_}, {range} instances, {name}");
    let records = format!("{count} × {} every {extent}", Runs(plan.ops()));
    rows.push(Measured::new(class, records, name, &ways));
}

/// Shows operations as their runs.
pub(crate) struct Runs<'a>(pub(crate) &'a [Op]);

impl std::fmt::Display for Runs<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for op in self.0 {
            match op {
                Op::Blocks(Blocks { disp, len, count: 1, .. }) => write!(f, "[{disp}; {len}]")?,
                Op::Blocks(Blocks { disp, len, count, stride }) => {
                    write!(f, "{count}·[{disp}; {len}] every {stride}")?;
                }
                other => write!(f, "{other:?}")?,
            }
        }
        Ok(())
    }
}

#[test]
#[ignore = "measures, for those who change the costs"]
fn chosen_kernels_are_as_fast_as_others() {
    let (mut random, mut rows) = (Random(seed()), Vec::new());
    for _ in 0..150 {
        let (lens, disps, extent) = random.record();
        let record = Type::hindexed(&lens, &disps, &Type::basic(Basic::U8)).unwrap();
        let committed = Type::resized(&record, 0, extent).unwrap().commit();
        committed.prepare();
        let least = [2, 4, 16, 100][usize::try_from(random.below(4)).unwrap()];
        let count = least + random.below(least * least / 2);
        measured::<Pack>(committed.plan(), count, "pack", &mut rows);
        measured::<Unpack>(committed.plan(), count, "unpack", &mut rows);
    }
    report(&rows);
}
