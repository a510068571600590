//! Technical indicators of closing prices: relative strength after Wilder, and moving averages.
//!
//! Computed by TA-Lib; here only the form of its answers. A value stands at the day from which on it is known, and
//! depends on no later day.

use std::iter::repeat_n;

use ta_lib::{Core, OutRange, RetCode};

const RSI_DAYS: i32 = 14;

/// The indicators of a series of closing prices, one of each a day.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    closes: Vec<f64>,
    rsi_14: Vec<Option<f64>>,
    sma_50: Vec<Option<f64>>,
    sma_200: Vec<Option<f64>>,
}

/// The indicators of one day. What the days before do not suffice for is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Technicals {
    /// Number of prices up to this day.
    pub days: usize,
    pub price: f64,
    /// Relative strength index over 14 days.
    pub rsi_14: Option<f64>,
    /// Mean of 50 closing prices.
    pub sma_50: Option<f64>,
    /// Mean of 200 closing prices.
    pub sma_200: Option<f64>,
}

impl Series {
    /// The indicators of closing prices, which are positive and in order of time. Takes time linear in their number.
    pub fn of(closes: Vec<f64>) -> Self {
        let (rsi_14, sma_50, sma_200) = (rsi_14(&closes), sma(&closes, 50), sma(&closes, 200));
        Self { closes, rsi_14, sma_50, sma_200 }
    }

    /// The indicators of a day. `None` beyond the series.
    pub fn at(&self, day: usize) -> Option<Technicals> {
        Some(Technicals {
            days: day + 1,
            price: *self.closes.get(day)?,
            rsi_14: self.rsi_14[day],
            sma_50: self.sma_50[day],
            sma_200: self.sma_200[day],
        })
    }

    /// The indicators of the last day.
    pub fn last(&self) -> Option<Technicals> {
        self.at(self.closes.len().checked_sub(1)?)
    }
}

impl Technicals {
    /// How far the price is above the mean of 50 days, in percent.
    pub fn price_vs_sma50_pct(&self) -> Option<f64> {
        self.sma_50.map(|mean| above_pct(self.price, mean))
    }

    /// How far the price is above the mean of 200 days, in percent.
    pub fn price_vs_sma200_pct(&self) -> Option<f64> {
        self.sma_200.map(|mean| above_pct(self.price, mean))
    }
}

/// The relative strength index of each day: from the 15th price on.
pub fn rsi_14(closes: &[f64]) -> Vec<Option<f64>> {
    by_ta_lib(closes, |core, last, values| core.rsi(0, last, closes, RSI_DAYS, values))
}

/// The mean of this many prices up to each day.
pub fn sma(closes: &[f64], days: u16) -> Vec<Option<f64>> {
    by_ta_lib(closes, |core, last, values| core.sma(0, last, closes, days.into(), values))
}

fn by_ta_lib(
    closes: &[f64],
    compute: impl FnOnce(&Core, usize, &mut [f64]) -> Result<OutRange, RetCode>,
) -> Vec<Option<f64>> {
    let Some(last) = closes.len().checked_sub(1) else { return Vec::new() };
    let mut values = vec![0.0; closes.len()];
    let known = compute(&Core::new(), last, &mut values).expect("the range is that of the prices").count;
    repeat_n(None, closes.len() - known).chain(values.into_iter().take(known).map(Some)).collect()
}

/// Exact where the price is a round part above the mean, so that a strict limit is one.
fn above_pct(price: f64, mean: f64) -> f64 {
    100.0 * (price - mean) / mean
}

#[cfg(test)]
mod tests;
