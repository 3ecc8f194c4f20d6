//! The times of both builds.

use anyhow::{Context, Result, ensure};
use dtype_ablation_engine::{Class, Work, name};
use dtype_benches::figures::median;
use dtype_benches::noise::fingerprint;
use dtype_benches::turns::versus;

use crate::loaded::{Instances, Loaded, Type};

/// A timed call of a build copies at least this number of bytes, unless that takes more than [`MAX_CALLS`] calls of the engine.
/// So the cost of calling the build itself does not count.
const AT_ONCE: usize = 16 << 10;

const MAX_CALLS: usize = 256;

/// What one line of the table measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) class: Class,
    /// The number of instances. `None` for the work of making and committing types.
    pub(crate) count: Option<usize>,
}

/// One type in both builds.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) line: Line,
    pub(crate) work: Work,
    /// The type's arguments.
    pub(crate) of: String,
    /// The new build's time over the old one's.
    pub(crate) ratio: f64,
}

impl Line {
    /// All lines.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Class::ALL.into_iter().flat_map(|class| {
            let counts = class.counts().iter().map(|count| Some(*count));
            let created = class.is_dynamic().then_some(None);
            counts.chain(created).map(move |count| Self { class, count })
        })
    }

    /// The name in the table.
    pub(crate) fn name(self) -> String {
        match self.count {
            Some(count) => format!("{} × {count}", self.class.name()),
            None => format!("{}, created", self.class.name()),
        }
    }

    /// Measures the rows.
    ///
    /// `loads` are both builds, new and old, as often as they are loaded.
    pub(crate) fn rows(self, loads: &[[Loaded; 2]], seed: u64, pairs: usize) -> Result<Vec<Row>> {
        let Self { class, count } = self;
        let works = if count.is_some() { class.works() } else { &[Work::Create] };
        let mut rows = Vec::new();
        for index in 0..class.types() {
            let of = name(class, seed, index);
            let types = loads.iter().map(|[new, old]| {
                Ok([new.open(class, seed, index)?, old.open(class, seed, index)?])
            });
            let types = types.collect::<Result<Vec<_>>>()?;
            let instances = compare(&types[0], count.unwrap_or(1), seed);
            let mut instances = instances.with_context(|| format!("{}: {of}", self.name()))?;
            let (size, buffers) = (instances.packed.len(), instances.lend());
            let calls = AT_ONCE.div_ceil(size.max(1)).min(MAX_CALLS) as u32;
            for &work in works {
                // A stream of a single fragment would measure the same as one call.
                if work.fragment().is_some_and(|fragment| size < 2 * fragment) {
                    continue;
                }
                // SAFETY: both types have these instances, and `compare` has packed and unpacked them.
                let run = |ty: &Type<'_>| unsafe { ty.run(work, buffers, calls) };
                let ratios = types.iter().enumerate().map(|(number, [new, old])| {
                    // The two builds take the first turn alternately.
                    if number.is_multiple_of(2) {
                        versus(pairs, || run(old), || run(new)).ratio
                    } else {
                        versus(pairs, || run(new), || run(old)).ratio.recip()
                    }
                });
                let ratio = median(ratios.collect());
                rows.push(Row { line: self, work, of: of.clone(), ratio });
            }
        }
        Ok(rows)
    }
}

/// Makes instances, and checks that both builds pack and unpack them to the same bytes, whole and in fragments.
fn compare(types: &[Type<'_>; 2], count: usize, seed: u64) -> Result<Instances> {
    let sizes = types.each_ref().map(|ty| ty.sizes(count));
    ensure!(sizes[0] == sizes[1], "the sizes are {sizes:?}");
    let mut instances = Instances::new(&types[0], count, seed);
    let mut results = [None; 2];
    for work in Work::IN_PLACE {
        for ty in types {
            let packs = matches!(work, Work::Pack | Work::PackKib | Work::Pack8Kib);
            let written = if packs { &mut instances.packed } else { &mut instances.memory };
            written.fill(0);
            // SAFETY: both types have these instances, and packing runs before unpacking.
            unsafe { ty.run(work, instances.lend(), 1) };
            let written = if packs { &instances.packed } else { &instances.memory };
            let found = fingerprint(written);
            let expected = *results[usize::from(packs)].get_or_insert(found);
            ensure!(found == expected, "{} gives other bytes", work.name());
        }
    }
    Ok(instances)
}
