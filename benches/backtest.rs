//! The computing of a backtest: 40 stocks of 500 days by one profile, without HTTP. Budget: 50 ms.

use std::hint::black_box;

use chrono::{NaiveDate, TimeDelta};
use criterion::{Criterion, criterion_group, criterion_main};
use toolwire::domains::research::{
    sources::yahoo::Bar,
    tools::{
        Profiles,
        backtest::{Plan, Stock, run},
    },
};

const STOCKS: u64 = 40;
const DAYS: usize = 500;

/// A price that wanders, the same in every run.
fn stock(seed: u64) -> Stock {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut close = 100.0 + 900.0 * random.f64();
    let first = NaiveDate::from_ymd_opt(2024, 1, 1).expect("a day");
    let bars = first.iter_days().take(DAYS).map(|date| {
        close *= 0.98 + 0.0402 * random.f64();
        Bar { date, close, adjusted_close: None, volume: Some(1e6) }
    });
    Stock { symbol: format!("STOCK{seed}"), bars: bars.collect() }
}

fn backtest(criterion: &mut Criterion) {
    let stocks: Vec<_> = (0..STOCKS).map(stock).collect();
    let plan = Plan {
        from: stocks[0].bars[0].date,
        to: stocks[0].bars[DAYS - 1].date,
        holding: TimeDelta::days(90),
    };
    let profiles = Profiles::default();
    for profile in ["value", "core", "momentum"] {
        let filter = profiles.filter(profile).expect("a built-in profile");
        criterion.bench_function(&format!("backtest 40 x 500 {profile}"), |bencher| {
            bencher.iter(|| run(&filter, black_box(&stocks), black_box(&plan)));
        });
    }
}

criterion_group!(benches, backtest);
criterion_main!(benches);
