//! Geometric means over rows of a kind.

use dtype_benches::figures::geometric_mean;

use crate::bench::who;
use crate::messages::SERIALIZERS;

use super::row::{Group, Row};

/// The mean of one column's ratios, over rows of a kind.
#[derive(Clone, Debug)]
pub(crate) struct Mean {
    /// The kind of the rows.
    pub(crate) rows: String,
    /// The contestant in the numerator of the ratios.
    pub(crate) who: &'static str,
    /// The contestants in the denominator. If there are several, the fastest one counts.
    pub(crate) with: &'static str,
    pub(crate) ratio: f64,
}

/// The contestants that this engine is compared with.
const OTHERS: [&str; 7] = [
    who::LOOP,
    who::OPEN_MPI,
    who::MPICH,
    who::SYSTEM_OPEN_MPI,
    who::SYSTEM_MPICH,
    who::MEMCPY,
    who::SPAN,
];

/// All MPI libraries; the fastest one counts.
pub(crate) const LIBRARIES: [&str; 4] =
    [who::OPEN_MPI, who::MPICH, who::SYSTEM_OPEN_MPI, who::SYSTEM_MPICH];

/// The means in the chapter Figures of the book.
pub(crate) fn all(rows: &[Row]) -> Vec<Mean> {
    let mut means = Vec::new();
    let mut add = |name: String, who, kind: &dyn Fn(&Row) -> bool| {
        for with in OTHERS {
            let ratios = rows.iter().filter(|row| kind(row)).filter_map(|row| row.ratio(who, with));
            if let Some(ratio) = geometric_mean(ratios) {
                means.push(Mean { rows: name.clone(), who, with, ratio });
            }
        }
    };
    let structs = |row: &Row| row.group == Group::Structs;
    for count in crate::structs::COUNTS {
        let parameters = format!("× {count}");
        for work in ["pack", "unpack"] {
            for who in [who::DTYPE, who::DYNAMIC] {
                let kind =
                    |row: &Row| structs(row) && row.parameters == parameters && row.work == work;
                add(format!("structs {parameters}, {work}"), who, &kind);
            }
        }
    }
    for work in ["pack", "unpack"] {
        let kind = |row: &Row| row.group == Group::Ddtbench && row.work == work;
        add(format!("DDTBench, {work}"), who::DTYPE, &kind);
    }
    add("create and commit".into(), who::DTYPE, &|row| row.group == Group::Creation);
    for work in ["to bytes", "back"] {
        let kind = |row: &&Row| row.group == Group::Messages && row.work == work;
        for with in std::iter::once(who::LOOP).chain(SERIALIZERS) {
            let ratios = rows.iter().filter(kind).filter_map(|row| row.ratio(who::DTYPE, with));
            if let Some(ratio) = geometric_mean(ratios) {
                let rows = format!("structs, new vectors, {work}");
                means.push(Mean { rows, who: who::DTYPE, with, ratio });
            }
        }
    }
    means
}
