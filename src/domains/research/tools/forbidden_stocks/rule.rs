//! The rules against buying that are about a number: their names, their words, and which number they look at.

use super::{super::figure::beyond_in_short, facts::Facts};

/// A rule and its threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    pub rule: Rule,
    pub threshold: f64,
}

/// A rule about a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Rule {
    /// The market capitalisation is under the threshold.
    MinMarketCapCr,
    /// The price to earnings does not exceed the threshold: 0 forbids losses.
    MinPe,
    /// The price to earnings is over the threshold.
    MaxPe,
    /// The return on equity is under the threshold.
    MinRoePct,
    /// Debt over equity is over the threshold.
    MaxDebtToEquity,
    /// The price is under the threshold.
    MinPrice,
    /// The turnover of a day is under the threshold.
    MinTurnoverCr,
    /// The relative strength index is over the threshold.
    MaxRsi,
}

impl Bound {
    pub(super) fn is_violated_by(self, observed: f64) -> bool {
        match self.rule {
            Rule::MinMarketCapCr | Rule::MinRoePct | Rule::MinPrice | Rule::MinTurnoverCr => {
                observed < self.threshold
            }
            Rule::MinPe => observed <= self.threshold,
            Rule::MaxPe | Rule::MaxDebtToEquity | Rule::MaxRsi => observed > self.threshold,
        }
    }

    /// The violation in words, such as `P/E 92 > 80`.
    pub fn reason(self, observed: f64) -> String {
        let Self { rule, threshold } = self;
        let comparison = match rule {
            Rule::MinPe => "≤",
            Rule::MaxPe | Rule::MaxDebtToEquity | Rule::MaxRsi => ">",
            _ => "<",
        };
        format!(
            "{} {} {comparison} {threshold}{}",
            rule.subject(),
            beyond_in_short(observed, threshold),
            rule.unit()
        )
    }
}

impl Rule {
    /// What it is about, in words.
    pub const fn subject(self) -> &'static str {
        match self {
            Self::MinMarketCapCr => "market capitalisation",
            Self::MinPe | Self::MaxPe => "P/E",
            Self::MinRoePct => "return on equity",
            Self::MaxDebtToEquity => "debt to equity",
            Self::MinPrice => "price",
            Self::MinTurnoverCr => "daily turnover",
            Self::MaxRsi => "RSI",
        }
    }

    const fn unit(self) -> &'static str {
        match self {
            Self::MinMarketCapCr | Self::MinTurnoverCr => " crore rupees",
            Self::MinRoePct => "%",
            Self::MinPrice => " rupees",
            Self::MinPe | Self::MaxPe | Self::MaxDebtToEquity | Self::MaxRsi => "",
        }
    }

    pub(super) const fn is_fundamental(self) -> bool {
        match self {
            Self::MinMarketCapCr | Self::MinPe | Self::MaxPe | Self::MinRoePct | Self::MaxDebtToEquity => {
                true
            }
            Self::MinPrice | Self::MinTurnoverCr | Self::MaxRsi => false,
        }
    }

    pub(super) const fn observe(self, facts: &Facts) -> Option<f64> {
        match self {
            Self::MinMarketCapCr => facts.market_cap_cr,
            Self::MinPe | Self::MaxPe => facts.pe,
            Self::MinRoePct => facts.roe_pct,
            Self::MaxDebtToEquity => facts.debt_to_equity,
            Self::MinPrice => facts.price,
            Self::MinTurnoverCr => facts.turnover_cr,
            Self::MaxRsi => facts.rsi_14,
        }
    }
}
