//! The wait zone: technical conditions under which buying is not recommended.
//!
//! Values are compared as they are shown, to two decimals, and rounded further only in texts. Not here: where the
//! profiles come from.

use std::fmt;

use super::{
    figure::{beyond, round},
    indicators::Technicals,
};
use crate::settings;

/// The limits of a profile. The stock is in the zone when a value is over any of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitZone {
    rsi: Option<f64>,
    above_sma50_pct: Option<f64>,
    above_sma200_pct: Option<f64>,
    /// 0 where being below the mean is a reason to wait.
    below_sma200_pct: Option<f64>,
}

/// The values that the rules look at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observation {
    pub rsi_14: Option<f64>,
    /// How far the price is above the mean of 50 days, in percent.
    pub price_vs_sma50_pct: Option<f64>,
    /// How far the price is above the mean of 200 days, in percent.
    pub price_vs_sma200_pct: Option<f64>,
    /// Number of days with a price, on which all of these depend.
    pub days: usize,
}

/// A rule that hits. Its text is for the agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hit {
    /// The relative strength index is above the limit.
    Rsi { rsi: f64, max: f64 },
    /// The price is too far above the mean of 50 days.
    AboveSma50 {
        /// How far, in percent.
        pct: f64,
        max: f64,
    },
    /// The price is too far above the mean of 200 days.
    AboveSma200 {
        /// How far, in percent.
        pct: f64,
        max: f64,
    },
    /// The price is below the mean of 200 days.
    BelowSma200 {
        /// How far, in percent.
        pct: f64,
    },
    /// A rule looks at a value that needs more days than there are, which counts as a hit.
    InsufficientHistory {
        /// How many days there are.
        days: usize,
        of: &'static str,
        /// How many days it needs.
        needed: usize,
    },
}

impl WaitZone {
    /// The rules that hit, in the order of the profile.
    pub fn hits(&self, observed: &Observation) -> impl Iterator<Item = Hit> + use<> {
        let Observation { rsi_14, price_vs_sma50_pct: sma50, price_vs_sma200_pct: sma200, days } = *observed;
        let too_few = |of, needed| Hit::InsufficientHistory { days, of, needed };
        let (no_rsi, no_sma50, no_sma200) =
            (too_few("RSI", 15), too_few("SMA50", 50), too_few("SMA200", 200));
        let hits = [
            over(rsi_14, self.rsi, no_rsi, |rsi, max| Hit::Rsi { rsi, max }),
            over(sma50, self.above_sma50_pct, no_sma50, |pct, max| Hit::AboveSma50 { pct, max }),
            over(sma200, self.above_sma200_pct, no_sma200, |pct, max| Hit::AboveSma200 { pct, max }),
            over(sma200.map(|pct| -pct), self.below_sma200_pct, no_sma200, |pct, _| Hit::BelowSma200 { pct }),
        ];
        hits.into_iter().flatten()
    }

    /// Why to wait, in words; each once. Empty outside the zone.
    pub fn reasons(&self, observed: &Observation) -> Vec<String> {
        let mut reasons = Vec::new();
        for reason in self.hits(observed).map(|hit| hit.to_string()) {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        reasons
    }
}

/// Strictly over: a value that equals the limit passes.
fn over(
    observed: Option<f64>,
    max: Option<f64>,
    unknown: Hit,
    hit: impl FnOnce(f64, f64) -> Hit,
) -> Option<Hit> {
    match (observed, max?) {
        (None, _) => Some(unknown),
        (Some(observed), max) => (observed > max).then(|| hit(observed, max)),
    }
}

impl From<&Technicals> for Observation {
    /// As `get_technicals` shows them, so that a verdict on the past is the one of that day.
    fn from(technicals: &Technicals) -> Self {
        Self {
            rsi_14: technicals.rsi_14.map(round),
            price_vs_sma50_pct: technicals.price_vs_sma50_pct().map(round),
            price_vs_sma200_pct: technicals.price_vs_sma200_pct().map(round),
            days: technicals.days,
        }
    }
}

impl From<&settings::WaitZone> for WaitZone {
    fn from(table: &settings::WaitZone) -> Self {
        Self {
            rsi: table.max_rsi,
            above_sma50_pct: table.max_above_sma50_pct,
            above_sma200_pct: table.max_above_sma200_pct,
            below_sma200_pct: table.wait_below_sma200.then_some(0.0),
        }
    }
}

impl fmt::Display for Hit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Rsi { rsi, max } => {
                let words = if max < 50.0 { "not value" } else { "overbought" };
                write!(f, "RSI {} > {max} ({words})", beyond(rsi, max))
            }
            Self::AboveSma50 { pct, max } => write!(f, "+{}% above SMA50 (extended)", beyond(pct, max)),
            Self::AboveSma200 { pct, max } => {
                write!(f, "+{}% above SMA200 (very extended)", beyond(pct, max))
            }
            Self::BelowSma200 { pct } => write!(f, "{}% below SMA200 (downtrend)", beyond(pct, 0.0)),
            Self::InsufficientHistory { days, of, needed } => {
                write!(f, "insufficient history: {of} needs {needed} days of prices, there are {days}")
            }
        }
    }
}

#[cfg(test)]
mod tests;
