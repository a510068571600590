//! Trades by hand, and that no trade knows the future.

use proptest::prelude::*;

use super::*;
use crate::settings;

fn first_day() -> NaiveDate {
    "2024-01-01".parse().unwrap()
}

/// One bar a day of the calendar.
fn stock(closes: &[f64]) -> Stock {
    let bars = first_day().iter_days().zip(closes).map(|(date, close)| Bar {
        date,
        close: *close,
        adjusted_close: None,
        volume: Some(1e6),
    });
    Stock { symbol: "X".to_owned(), bars: bars.collect() }
}

fn plan(holding_days: i64) -> Plan {
    Plan { from: first_day(), to: "2030-01-01".parse().unwrap(), holding: TimeDelta::days(holding_days) }
}

fn zone(table: settings::WaitZone) -> WaitZone {
    WaitZone::from(&table)
}

/// Lets buy whenever the relative strength is at most 60.
fn calm() -> WaitZone {
    zone(settings::WaitZone { max_rsi: Some(60.0), ..settings::WaitZone::default() })
}

fn days(trades: &[Trade]) -> Vec<(i64, i64)> {
    let day = |date: NaiveDate| (date - first_day()).num_days();
    trades.iter().map(|trade| (day(trade.entered), day(trade.exited))).collect()
}

#[test]
fn a_stock_is_bought_on_the_first_day_out_of_the_zone_and_never_twice_at_a_time() {
    // Flat: the strength is 50 from the 15th bar on.
    let outcome = run(&Filter::WaitZone(calm()), &[stock(&[100.0; 40])], &plan(10));
    assert_eq!(days(&outcome.trades), [(14, 24), (25, 35), (36, 39)], "the last one ends with the prices");
    let cut_off: Vec<_> = outcome.trades.iter().map(|trade| trade.is_cut_off).collect();
    assert_eq!(cut_off, [false, false, true]);
}

#[test]
fn nothing_is_bought_in_the_zone() {
    let rising: Vec<_> = (100..160).map(f64::from).collect();
    let outcome = run(&Filter::WaitZone(calm()), &[stock(&rising)], &plan(10));
    assert_eq!(outcome.trades, []);
    // The strength is known from the 15th bar on, and nothing before it is compared with.
    let (first, last) = (first_day() + TimeDelta::days(14), first_day() + TimeDelta::days(59));
    let total_pct = 100.0 * (159.0 - 114.0) / 114.0;
    assert_eq!(outcome.held, Some(Holding { from: first, to: last, total_pct }));
    assert_eq!(outcome.begun, [Some(first)]);
    // From 100 + n to 110 + n, for the days with a sale.
    let expected: f64 = (14..50).map(|day| 1000.0 / f64::from(100 + day)).sum::<f64>() / 36.0;
    assert!((outcome.any_day_pct.unwrap() - expected).abs() < 1e-9, "{:?}", outcome.any_day_pct);
}

#[test]
fn a_sale_waits_for_the_first_trading_day_after_the_holding_period() {
    let mut stock = stock(&[100.0; 40]);
    stock.bars[26].close = 120.0;
    // Days 22 to 25 are a holiday.
    stock.bars.drain(22..26);
    let plan = Plan { to: first_day() + TimeDelta::days(30), ..plan(10) };
    let outcome = run(&Filter::WaitZone(calm()), &[stock], &plan);
    let first = &outcome.trades[0];
    assert_eq!(days(&outcome.trades[..1]), [(14, 26)]);
    assert_eq!((first.entry, first.exit), (100.0, 120.0));
    assert!((first.return_pct() - 20.0).abs() < 1e-12);
}

#[test]
fn only_the_days_of_the_plan_are_played_through() {
    let plan = Plan {
        from: first_day() + TimeDelta::days(20),
        to: first_day() + TimeDelta::days(33),
        holding: TimeDelta::days(5),
    };
    let outcome = run(&Filter::WaitZone(calm()), &[stock(&[100.0; 60])], &plan);
    assert_eq!(days(&outcome.trades), [(20, 25), (26, 31), (32, 33)]);
}

#[test]
fn without_enough_history_nothing_is_bought() {
    let value = zone(settings::Profiles::default().wait_zone["value"]);
    let outcome = run(&Filter::WaitZone(value), &[stock(&[100.0; 199])], &plan(10));
    let nothing = Outcome { begun: vec![None], ..Outcome::default() };
    assert_eq!(outcome, nothing, "nor is anything compared");
    let none = run(&Filter::WaitZone(value), &[stock(&[])], &plan(10));
    assert_eq!(none, nothing);
}

#[test]
fn rules_against_buying_can_be_replayed_if_they_are_about_prices() {
    let table = settings::Forbidden {
        min_turnover_cr: Some(9.0),
        min_price: Some(50.0),
        max_rsi: Some(80.0),
        ..settings::Forbidden::default()
    };
    let rules = Forbidden::from(&table);
    let outcome = run(&Filter::Forbidden(rules.clone()), &[stock(&[100.0; 30])], &plan(5));
    assert_eq!(days(&outcome.trades), [(14, 19), (20, 25), (26, 29)], "10 crore a day");
    let cheap = run(&Filter::Forbidden(rules.clone()), &[stock(&[49.0; 30])], &plan(5));
    assert_eq!(cheap.trades, []);
}

#[test]
fn the_turnover_is_that_of_the_last_days() {
    let bars = stock(&[100.0; 12]).bars;
    assert_eq!(turnover_cr(&bars), Some(10.0));
    assert_eq!(turnover_cr(&bars[..9]), None);
    let mut bars = bars;
    bars[11].volume = None;
    assert_eq!(turnover_cr(&bars), None);
}

/// Closing prices that wander by up to 4 % a day.
fn wandering() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-0.04..0.04_f64, 30..500).prop_map(|steps| {
        let mut price = 100.0;
        steps
            .iter()
            .map(|step| {
                price *= 1.0 + step;
                price
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn no_trade_knows_the_future(closes in wandering(), cut in 20_usize..500, holding in 1_i64..60) {
        let known = stock(&closes[..cut.min(closes.len())]);
        let plan = plan(holding);
        for (name, table) in settings::Profiles::default().wait_zone {
            let zone = zone(table);
            let before = run(&Filter::WaitZone(zone), std::slice::from_ref(&known), &plan).trades;
            let after = run(&Filter::WaitZone(zone), &[stock(&closes)], &plan).trades;
            prop_assert!(after.len() >= before.len(), "{}", name);
            for (before, after) in before.iter().zip(&after) {
                prop_assert_eq!((before.entered, before.entry), (after.entered, after.entry));
                // One that was sold only because the prices ended may be held longer.
                if before.exited - before.entered >= plan.holding {
                    prop_assert_eq!(before, after);
                }
            }
        }
    }
}
