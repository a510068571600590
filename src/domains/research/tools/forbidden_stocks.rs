//! Forbidden stocks: which rules against buying at all a stock violates.
//!
//! What cannot be judged without data is unknown, never passed. Not here: where the profiles come from.

mod facts;
mod rule;

use std::collections::BTreeSet;

pub use facts::Facts;
pub use rule::{Bound, Rule};

use crate::{settings, sources::universe::normal};

/// The rules of a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Forbidden {
    bounds: Vec<Bound>,
    deny: BTreeSet<String>,
}

/// What became of a rule that did not pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Finding {
    /// The stock is on the list of those never to buy.
    Denied,
    Violated {
        bound: Bound,
        observed: f64,
    },
    /// A rule cannot be judged.
    Unknown(Rule),
}

impl Forbidden {
    /// The rules that a stock does not pass, in the order of the profile.
    pub fn findings<'a>(&'a self, symbol: &str, facts: &'a Facts) -> impl Iterator<Item = Finding> + use<'a> {
        let denied = self.deny.contains(symbol).then_some(Finding::Denied);
        denied.into_iter().chain(self.bounds.iter().filter_map(|bound| finding(*bound, facts)))
    }

    /// The names of the rules about fundamentals, of which there is no dated history.
    pub fn fundamental_rules(&self) -> impl Iterator<Item = &'static str> {
        self.bounds.iter().filter(|bound| bound.rule.is_fundamental()).map(|bound| bound.rule.into_str())
    }

    /// Whether a rule looks at the turnover.
    pub fn asks_for_turnover(&self) -> bool {
        self.bounds.iter().any(|bound| bound.rule == Rule::MinTurnoverCr)
    }
}

fn finding(bound: Bound, facts: &Facts) -> Option<Finding> {
    let Some(observed) = bound.rule.observe(facts) else { return Some(Finding::Unknown(bound.rule)) };
    bound.is_violated_by(observed).then_some(Finding::Violated { bound, observed })
}

impl From<&settings::Forbidden> for Forbidden {
    fn from(table: &settings::Forbidden) -> Self {
        let rules = [
            (Rule::MinMarketCapCr, table.min_market_cap_cr),
            (Rule::MinPe, table.min_pe),
            (Rule::MaxPe, table.max_pe),
            (Rule::MinRoePct, table.min_roe_pct),
            (Rule::MaxDebtToEquity, table.max_debt_to_equity),
            (Rule::MinPrice, table.min_price),
            (Rule::MinTurnoverCr, table.min_turnover_cr),
            (Rule::MaxRsi, table.max_rsi),
        ];
        let bound = |(rule, threshold): (Rule, Option<f64>)| Some(Bound { rule, threshold: threshold? });
        let deny = table.deny.iter().map(|symbol| normal(symbol)).collect();
        Self { bounds: rules.into_iter().filter_map(bound).collect(), deny }
    }
}

#[cfg(test)]
mod tests;
