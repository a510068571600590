//! Which splits the prices around their day show, and what of a chart does not follow from the rest.

use super::{
    consistency::{Findings, Market},
    splits::Split,
    *,
};

fn day(number: u64) -> NaiveDate {
    "2026-01-01".parse::<NaiveDate>().unwrap() + chrono::Days::new(number)
}

/// A bar a day, with its adjusted close.
fn bars(closes: &[(f64, Option<f64>)]) -> Vec<Bar> {
    let bar = |(number, (close, adjusted_close)): (u64, &(f64, Option<f64>))| Bar {
        date: day(number),
        close: *close,
        adjusted_close: *adjusted_close,
        volume: Some(100.0),
    };
    (0..).zip(closes).map(bar).collect()
}

/// The closes after the splits were applied.
fn applied(closes: &[(f64, Option<f64>)], splits: &[Split], market: Option<Market>) -> Vec<i64> {
    let mut bars = bars(closes);
    splits::apply(&mut bars, splits, market);
    #[allow(clippy::cast_possible_truncation, reason = "small prices")]
    bars.iter().map(|bar| bar.close.round() as i64).collect()
}

fn split(number: u64, ratio: f64) -> Split {
    Split { date: day(number), ratio }
}

#[test]
fn a_split_is_applied_where_the_prices_show_it() {
    let alone = |closes: &[f64]| closes.iter().map(|close| (*close, None)).collect::<Vec<_>>();
    let raw = alone(&[1000.0, 1010.0, 102.0, 103.0]);
    assert_eq!(applied(&raw, &[split(2, 10.0)], None), [100, 101, 102, 103]);
    for day in [1, 3] {
        assert_eq!(applied(&raw, &[split(day, 10.0)], None), [100, 101, 102, 103], "a day off");
    }
    let done = alone(&[100.0, 101.0, 102.0, 103.0]);
    for number in 0..6 {
        assert_eq!(applied(&done, &[split(number, 10.0)], None), [100, 101, 102, 103], "applied, or to come");
    }
    let merged = alone(&[10.0, 11.0, 102.0, 103.0]);
    assert_eq!(applied(&merged, &[split(2, 0.1)], None), [100, 110, 102, 103]);
    let twice = alone(&[4000.0, 2010.0, 201.0, 202.0]);
    assert_eq!(applied(&twice, &[split(1, 2.0), split(2, 10.0)], None), [200, 201, 201, 202]);
    let crash = alone(&[100.0, 101.0, 80.0, 81.0]);
    assert_eq!(applied(&crash, &[split(2, 1.25)], None), [100, 101, 80, 81], "as likely a bad day");
}

#[test]
fn adjusted_closes_tell_a_small_split_from_a_bad_day() {
    let raw = [(110.0, Some(100.0)), (111.1, Some(101.0)), (102.0, Some(102.0)), (103.0, Some(103.0))];
    assert_eq!(applied(&raw, &[split(2, 1.1)], None), [100, 101, 102, 103]);
    let done = [(100.0, Some(100.0)), (101.0, Some(101.0)), (92.0, Some(92.0)), (93.0, Some(93.0))];
    assert_eq!(applied(&done, &[split(2, 1.1)], None), [100, 101, 92, 93]);
}

#[test]
fn a_split_of_today_shows_in_the_market_price() {
    let raw = [(1000.0, None), (1010.0, None)];
    let market = |number, price| Some(Market { date: Some(day(number)), price });
    assert_eq!(applied(&raw, &[split(2, 10.0)], market(2, 102.0)), [100, 101]);
    assert_eq!(applied(&raw, &[split(2, 10.0)], market(2, 1020.0)), [1000, 1010]);
    assert_eq!(applied(&raw, &[split(2, 10.0)], market(1, 102.0)), [1000, 1010], "before it");
}

/// How many bars are left, and what is said of the others.
fn checked(closes: &[(f64, Option<f64>)], stated: &Stated) -> (usize, Findings) {
    let mut bars = bars(closes);
    let findings = consistency::check(&mut bars, stated);
    (bars.len(), findings)
}

#[test]
fn a_market_price_of_another_size_is_a_contradiction() {
    let closes = [(100.0, None), (101.0, None)];
    for (date, price, is_warned_of, is_contradiction) in [
        (Some(day(1)), 102.0, false, false),
        (Some(day(1)), 115.0, true, false),
        (Some(day(1)), 50.0, false, true),
        (None, 1010.0, false, true),
        (Some(day(3)), 130.0, false, false),
        (Some(day(3)), 1010.0, false, true),
    ] {
        let stated = Stated { market: Some(Market { date, price }), ..Stated::default() };
        let (left, findings) = checked(&closes, &stated);
        let found = (left, !findings.warnings.is_empty(), !findings.contradictions.is_empty());
        assert_eq!(found, (2, is_warned_of, is_contradiction), "{date:?} {price}");
    }
}
