//! The engine's targets, and whether it meets them.

use dtype_benches::figures::geometric_mean;

use crate::bench::who;
use crate::checked::{NEW, OVER};
use crate::classes::Class;
use crate::external::{EXTERNAL32, NATIVE};
use crate::messages::SERIALIZERS;
use crate::parallel::{COPY, ONE_CORE};
use crate::streaming::{KIB_1, KIB_8, WHOLE, WINDOWS, pieces_of};

use super::means::LIBRARIES;
use super::row::{Group, Row};

/// A limit for ratios.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) what: String,
    pub(crate) limit: f64,
    pub(crate) found: Option<Found>,
}

/// The ratios to which a limit applies.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The mean of the ratios, or the worst ratio if the limit applies to each row.
    pub(crate) ratio: f64,
    pub(crate) mean: f64,
    pub(crate) worst: f64,
    pub(crate) worst_row: String,
    pub(crate) rows: usize,
    /// Rows above the limit.
    pub(crate) above: usize,
}

/// The statistic that a limit applies to.
#[derive(Clone, Copy, Debug)]
enum Of {
    Mean,
    EachRow,
}

impl Target {
    /// Whether the target is met; `None` if no row was measured.
    pub(crate) fn is_met(&self) -> Option<bool> {
        self.found.as_ref().map(|found| found.ratio <= self.limit)
    }
}

/// All targets.
pub(crate) fn all(rows: &[Row]) -> Vec<Target> {
    let mut targets = Vec::new();
    structs(rows, &mut targets);
    layouts(rows, &mut targets);
    classes(rows, &mut targets);
    rest(rows, &mut targets);
    targets
}

/// A target, from the rows that have a ratio.
fn target<'a>(
    what: impl Into<String>,
    limit: f64,
    of: Of,
    rows: impl IntoIterator<Item = &'a Row>,
    ratio: impl Fn(&Row) -> Option<f64>,
) -> Target {
    let ratios: Vec<(f64, &Row)> =
        rows.into_iter().filter_map(|row| Some((ratio(row)?, row))).collect();
    let worst = ratios.iter().copied().max_by(|(a, _), (b, _)| a.total_cmp(b));
    let mean = geometric_mean(ratios.iter().map(|(ratio, _)| *ratio));
    let found = mean.zip(worst).map(|(mean, (worst, row))| Found {
        ratio: match of {
            Of::Mean => mean,
            Of::EachRow => worst,
        },
        mean,
        worst,
        worst_row: row.name(),
        rows: ratios.len(),
        above: ratios.iter().filter(|(ratio, _)| *ratio > limit).count(),
    });
    let of = match of {
        Of::Mean => "mean",
        Of::EachRow => "each row",
    };
    Target { what: format!("{}, {of}", what.into()), limit, found }
}

fn structs(rows: &[Row], targets: &mut Vec<Target>) {
    let of = |counts: &'static [usize], work: &'static str| {
        rows.iter().filter(move |row| {
            row.group == Group::Structs
                && counts.iter().any(|count| row.parameters == format!("× {count}"))
                && (work.is_empty() || row.work == work)
        })
    };
    let to = |other: &'static str| move |row: &Row| row.ratio(who::DTYPE, other);
    let every = &crate::structs::COUNTS;
    for (work, limit) in [("pack", 0.75), ("unpack", 0.9)] {
        let what = format!("structs × 1000, {work}: loop");
        targets.push(target(what, limit, Of::Mean, of(&[1000], work), to(who::LOOP)));
    }
    let what = "structs, all sizes: loop";
    targets.push(target(what, 1.05, Of::EachRow, of(every, ""), to(who::LOOP)));
    for (other, limit) in [(who::OPEN_MPI, 0.2), (who::MPICH, 0.03)] {
        let what = format!("structs × 1000 and 65536: {other}");
        targets.push(target(what, limit, Of::Mean, of(&[1000, 65_536], ""), to(other)));
    }
    let what = "structs × 1000: memcpy of the span";
    targets.push(target(what, 2.5, Of::Mean, of(&[1000], ""), to(who::SPAN)));
    let what = "structs × 65536 and more: memcpy of the span";
    targets.push(target(what, 1.05, Of::Mean, of(&[65_536, 1_000_000], ""), to(who::SPAN)));
    let few = rows.iter().filter(|row| {
        matches!(row.group, Group::Structs | Group::Forms)
            && ["× 1", "× 7"].contains(&row.parameters.as_str())
    });
    targets.push(target(
        "structs of all forms × 1 and 7: loop",
        1.1,
        Of::EachRow,
        few,
        to(who::LOOP),
    ));
    for (work, how) in [(NEW, "new vector"), (OVER, "in place")] {
        let of = || rows.iter().filter(|row| row.group == Group::Checked && row.work == work);
        let what = format!("values to check, {how}: loop");
        targets.push(target(what.clone(), 1.0, Of::Mean, of(), to(who::LOOP)));
        targets.push(target(what, 1.3, Of::EachRow, of(), to(who::LOOP)));
    }
    for work in ["to bytes", "back"] {
        let kind = rows.iter().filter(|row| row.group == Group::Messages && row.work == work);
        let what = format!("structs, new vectors, {work}: the fastest serializer");
        let ratio = |row: &Row| row.ratio_to_best(who::DTYPE, &SERIALIZERS);
        targets.push(target(what, 0.7, Of::Mean, kind, ratio));
    }
    let what = "one record: Open MPI";
    targets.push(target(what, 0.5, Of::Mean, of(&[1], ""), to(who::OPEN_MPI)));
    for (whose, limit) in [(who::OPEN_MPI, 0.5), (who::LOOP, 2.5)] {
        let dynamic = move |row: &Row| row.ratio(who::DYNAMIC, whose);
        let what = format!("one record, type made at run time: {whose}");
        targets.push(target(what, limit, Of::Mean, of(&[1], ""), dynamic));
    }
}

fn layouts(rows: &[Row], targets: &mut Vec<Target>) {
    let all = || rows.iter().filter(|row| row.group == Group::Ddtbench);
    let fastest = |row: &Row| row.ratio_to_best(who::DTYPE, &LIBRARIES);
    let by_hand = |row: &Row| row.ratio(who::DTYPE, who::LOOP);
    targets.push(target("DDTBench: the fastest library", 1.05, Of::EachRow, all(), fastest));
    targets.push(target("DDTBench: the fastest library", 0.65, Of::Mean, all(), fastest));
    targets.push(target("DDTBench: loop", 1.1, Of::EachRow, all(), by_hand));
    let transposes = all().filter(|row| row.family == "FFT2_scatter" && row.work == "unpack");
    let what = "transposes (FFT2_scatter), unpack: the fastest library";
    targets.push(target(what, 0.35, Of::Mean, transposes, fastest));
}

fn classes(rows: &[Row], targets: &mut Vec<Target>) {
    let all = || rows.iter().filter(|row| row.group == Group::Classes);
    let fastest = |row: &Row| row.ratio_to_best(who::DTYPE, &LIBRARIES);
    for class in Class::ALL {
        for (work, _) in class.works() {
            let kind = all().filter(|row| row.family == class.name() && row.work == *work);
            let what = format!("{}, {work}: the fastest library", class.name());
            targets.push(target(what, class.limit(), Of::Mean, kind, fastest));
        }
    }
    targets.push(target("all classes: the fastest library", 1.3, Of::EachRow, all(), fastest));
}

fn rest(rows: &[Row], targets: &mut Vec<Target>) {
    let segments = || rows.iter().filter(|row| row.group == Group::Segments);
    for (segment, mean, worst) in [(KIB_8, 1.08, 1.4), (KIB_1, 1.4, 2.5)] {
        let ratio = |row: &Row| row.ratio(segment, WHOLE);
        let what = format!("segments of {segment}: the whole");
        targets.push(target(what.clone(), mean, Of::Mean, segments(), ratio));
        targets.push(target(what, worst, Of::EachRow, segments(), ratio));
    }
    let parallel = || rows.iter().filter(|row| row.group == Group::Parallel);
    for (other, limit) in [(ONE_CORE, 1.05), (COPY, 1.3)] {
        let what = format!("all cores: {other}");
        let ratio = |row: &Row| row.ratio(who::DTYPE, other);
        targets.push(target(what, limit, Of::EachRow, parallel(), ratio));
    }
    let external = rows.iter().filter(|row| row.group == Group::External);
    let ratio = |row: &Row| row.ratio(EXTERNAL32, NATIVE);
    targets.push(target("external32: native", 1.2, Of::EachRow, external, ratio));
    let creations = rows.iter().filter(|row| row.group == Group::Creation);
    let fastest = |row: &Row| row.ratio_to_best(who::DTYPE, &LIBRARIES);
    let few = creations.clone().filter(|row| row.parameters == "5 blocks");
    let what = "create and commit: the fastest library";
    targets.push(target(what, 0.7, Of::Mean, creations, fastest));
    let what = "create and commit, lists of 5 blocks: the fastest library";
    targets.push(target(what, 1.0, Of::EachRow, few, fastest));
    // MPI has no calls that list pieces or pack segments.
    let pieces = || rows.iter().filter(|row| row.group == Group::Pieces);
    let each = |row: &Row| Some(row.median(WHOLE)? / pieces_of(row)? as f64);
    targets.push(target("pieces of memory, each one: 1 ns", 2.0, Of::EachRow, pieces(), each));
    for (what, one, other) in [
        ("pieces of memory: Yaksa", WHOLE, who::YAKSA),
        ("pieces of memory in windows: Yaksa", WINDOWS, who::YAKSA_WINDOWS),
    ] {
        let ratio = |row: &Row| row.ratio(one, other);
        targets.push(target(what, 0.2, Of::EachRow, pieces(), ratio));
    }
    let jumps =
        rows.iter().filter(|row| row.group == Group::Jumps && row.parameters.starts_with("64000"));
    let time = |row: &Row| row.median(who::DTYPE);
    let what = "position in 64000 irregular blocks: 1 ns";
    targets.push(target(what, 100.0, Of::EachRow, jumps, time));
}

#[cfg(test)]
mod tests {
    use super::super::row::{Column, Outcome};
    use super::*;

    fn row(work: &'static str, dtype: f64, by_hand: f64) -> Row {
        let column = |name: &'static str, time| Column {
            name: name.into(),
            outcome: Outcome::Times(vec![time]),
        };
        Row {
            group: Group::Structs,
            family: "f".into(),
            parameters: "× 1000".into(),
            work: work.into(),
            bytes: 1,
            columns: vec![column(who::DTYPE, dtype), column(who::LOOP, by_hand)],
        }
    }

    #[test]
    fn a_mean_and_a_worst_row_are_told_apart() {
        let rows = [row("pack", 1.0, 4.0), row("pack", 2.0, 1.0), row("unpack", 1.0, 1.0)];
        let targets = all(&rows);
        let found = |what: &str| {
            let target = targets.iter().find(|target| target.what == what).expect("a target");
            (target.is_met(), target.found.as_ref().map(|found| found.ratio))
        };
        let (met, mean) = found("structs × 1000, pack: loop, mean");
        assert_eq!(met, Some(true));
        assert!((mean.unwrap_or(0.0) - 0.5_f64.sqrt()).abs() < 1e-9);
        assert_eq!(found("structs, all sizes: loop, each row"), (Some(false), Some(2.0)));
        assert_eq!(found("DDTBench: loop, each row"), (None, None));
    }
}
