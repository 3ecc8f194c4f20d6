//! Figures, and how they are printed.

/// The median.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The first decile: a tenth of the values are below it.
pub fn lower_decile(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 10).copied().unwrap_or(f64::NAN)
}

/// The geometric mean of ratios; `None` if there are no ratios.
pub fn geometric_mean(ratios: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut logarithms, mut number) = (0.0, 0_u32);
    for ratio in ratios {
        logarithms += ratio.ln();
        number += 1;
    }
    (number > 0).then(|| (logarithms / f64::from(number)).exp())
}

/// The median of the ratios of two times of one round, over all rounds.
pub fn ratio(one: &[f64], other: &[f64]) -> f64 {
    median(one.iter().zip(other).map(|(one, other)| one / other).collect())
}

/// Nanoseconds, in a readable unit.
pub fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        time if time < 100.0 => format!("{time:.1} ns"),
        time if time < 1e4 => format!("{time:.0} ns"),
        time if time < 1e7 => format!("{:.1} µs", time / 1e3),
        time => format!("{:.1} ms", time / 1e6),
    }
}

/// Rounds to four digits. The figures are not accurate to more.
pub fn round(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(duration(1.25), "1.2 ns");
        assert_eq!(duration(2345.0), "2345 ns");
        assert_eq!(duration(23_450.0), "23.4 µs");
        assert_eq!(duration(5e7), "50.0 ms");
    }

    #[test]
    fn deciles_are_low() {
        let values: Vec<f64> = (0..20).rev().map(f64::from).collect();
        assert_eq!(lower_decile(values.clone()).to_string(), "2");
        assert_eq!(median(values).to_string(), "10");
        assert!(lower_decile(Vec::new()).is_nan());
    }

    #[test]
    fn means_of_ratios_are_geometric() {
        let mean = geometric_mean([0.5, 2.0, 8.0]).unwrap();
        assert!((mean - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean([]), None);
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        // All were slow in the second round.
        let found = ratio(&[1.0, 10.0, 3.0], &[2.0, 20.0, 3.0]);
        assert!((found - 0.5).abs() < 1e-12);
        assert_eq!(round(1.234_56).to_string(), "1.235");
    }
}
