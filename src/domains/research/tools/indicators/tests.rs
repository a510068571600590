//! Indicators against a published series, against the formulas written out, and against themselves with a future.

use proptest::prelude::*;

use super::*;

/// QQQQ, 14 December 2009 to 1 February 2010, and its RSI(14): the spreadsheet `cs-rsi.xls` of `StockCharts`
/// `ChartSchool` (Relative Strength Index), which states four decimals.
const PUBLISHED_CLOSES: [f64; 33] = [
    44.3389, 44.0902, 44.1497, 43.6124, 44.3278, 44.8264, 45.0955, 45.4245, 45.8433, 46.0826, 45.8931,
    46.0328, 45.6140, 46.2820, 46.2820, 46.0028, 46.0328, 46.4116, 46.2222, 45.6439, 46.2122, 46.2521,
    45.7137, 46.4515, 45.7835, 45.3548, 44.0288, 44.1783, 44.2181, 44.5672, 43.4205, 42.6628, 43.1314,
];
const PUBLISHED_RSI: [f64; 19] = [
    70.5328, 66.3186, 66.5498, 69.4063, 66.3552, 57.9749, 62.9296, 63.2571, 56.0593, 62.3771, 54.7076,
    50.4228, 39.9898, 41.4605, 41.8689, 45.4632, 37.3040, 33.0795, 37.7730,
];

/// As Wilder wrote it: the mean of the first 14 gains and losses, from then on (13 · before + new) / 14.
fn rsi_written_out(closes: &[f64], day: usize) -> Option<f64> {
    if day < 14 {
        return None;
    }
    let gain = |day: usize| (closes[day] - closes[day - 1]).max(0.0);
    let loss = |day: usize| (closes[day - 1] - closes[day]).max(0.0);
    let mut gains = (1..=14).map(gain).sum::<f64>() / 14.0;
    let mut losses = (1..=14).map(loss).sum::<f64>() / 14.0;
    for day in 15..=day {
        gains = (13.0 * gains + gain(day)) / 14.0;
        losses = (13.0 * losses + loss(day)) / 14.0;
    }
    let both = gains + losses;
    Some(if both == 0.0 { 50.0 } else { 100.0 * gains / both })
}

fn mean_written_out(closes: &[f64], days: usize, day: usize) -> Option<f64> {
    let first = (day + 1).checked_sub(days)?;
    let count = f64::from(u32::try_from(days).unwrap());
    Some(closes[first..=day].iter().sum::<f64>() / count)
}

#[track_caller]
fn assert_near(found: Option<f64>, expected: Option<f64>, tolerance: f64) {
    match (found, expected) {
        (Some(found), Some(expected)) => assert!((found - expected).abs() <= tolerance, "{found} {expected}"),
        (found, expected) => assert_eq!(found, expected),
    }
}

fn prices() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(1.0..5_000.0_f64, 0..400)
}

#[test]
fn the_relative_strength_is_the_published_one() {
    let rsi = rsi_14(&PUBLISHED_CLOSES);
    assert_eq!(&rsi[..14], [None; 14]);
    for (found, published) in rsi[14..].iter().zip(PUBLISHED_RSI) {
        assert_near(*found, Some(published), 0.000_051);
    }
}

#[test]
fn extremes_are_extreme() {
    let rising: Vec<_> = (1..=20).map(f64::from).collect();
    let falling: Vec<_> = rising.iter().rev().copied().collect();
    assert_eq!(rsi_14(&rising)[19], Some(100.0));
    assert_eq!(rsi_14(&falling)[19], Some(0.0));
    assert_eq!(rsi_14(&[7.5; 20])[19], Some(50.0), "neither gains nor losses");
}

#[test]
fn what_needs_more_days_than_there_are_is_not_known() {
    let first_known = |days: usize| {
        let technicals = Series::of(vec![100.0; days]).last().unwrap();
        (technicals.rsi_14.is_some(), technicals.sma_50.is_some(), technicals.sma_200.is_some())
    };
    assert_eq!(first_known(14), (false, false, false));
    assert_eq!(first_known(15), (true, false, false));
    assert_eq!(first_known(49), (true, false, false));
    assert_eq!(first_known(50), (true, true, false));
    assert_eq!(first_known(199), (true, true, false));
    assert_eq!(first_known(200), (true, true, true));
    assert_eq!(Series::of(Vec::new()).last(), None);
}

#[test]
fn distances_are_percent_of_the_mean() {
    let technicals =
        Technicals { price: 115.0, sma_50: Some(100.0), sma_200: Some(230.0), ..Technicals::default() };
    assert_eq!(technicals.price_vs_sma50_pct(), Some(15.0));
    assert_eq!(technicals.price_vs_sma200_pct(), Some(-50.0));
}

proptest! {
    #[test]
    fn every_value_is_that_of_the_formula(closes in prices()) {
        let series = Series::of(closes.clone());
        for day in 0..closes.len() {
            let technicals = series.at(day).unwrap();
            assert_near(technicals.rsi_14, rsi_written_out(&closes, day), 1e-9);
            assert_near(technicals.sma_50, mean_written_out(&closes, 50, day), 1e-9);
            assert_near(technicals.sma_200, mean_written_out(&closes, 200, day), 1e-9);
        }
    }

    #[test]
    fn no_value_depends_on_a_later_day(closes in prices(), cut in 0_usize..400) {
        let cut = cut.min(closes.len());
        let (whole, known) = (Series::of(closes.clone()), Series::of(closes[..cut].to_vec()));
        for day in 0..cut {
            prop_assert_eq!(whole.at(day), known.at(day));
        }
    }
}
