//! What is to be done about a candidate, by rule: never a purchase in the wait zone, against a rule, or with a rule
//! that could not be judged. A model may be more careful, never less.

use super::evaluate::Evaluated;
use crate::proto::v1::{Forbidden, WaitZone};

/// What to do, the most careful first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub(super) enum Action {
    Avoid,
    Watch,
    Buy,
}

/// How sure one can be of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub(super) enum Conviction {
    Low,
    Medium,
    High,
}

/// The most that may be done.
pub(super) fn most(wait_zone: Option<&WaitZone>, forbidden: Option<&Forbidden>) -> Action {
    match (wait_zone, forbidden) {
        (_, Some(forbidden)) if forbidden.is_forbidden || !forbidden.violations.is_empty() => Action::Avoid,
        (Some(wait_zone), Some(forbidden)) if !wait_zone.is_wait_zone && forbidden.unknown.is_empty() => {
            Action::Buy
        }
        // What was not found out has not passed.
        _ => Action::Watch,
    }
}

/// The conviction of an action, by the number of points for it: the sources that name the stock, its thesis, and rules
/// that could all be judged.
pub(super) fn conviction(evaluated: &Evaluated, action: Action, forbidden: Option<&Forbidden>) -> Conviction {
    let has_thesis = evaluated.thesis.as_ref().and_then(|it| it.data()).is_some_and(|it| it["found"] == true);
    let points = match (action, forbidden) {
        (Action::Avoid, Some(forbidden)) => forbidden.violations.len(),
        _ => {
            usize::from(evaluated.candidate.found_in.len() >= 2)
                + usize::from(evaluated.candidate.found_in.len() >= 3)
                + usize::from(has_thesis)
                + usize::from(evaluated.technicals.is_some() && evaluated.fundamentals.is_some())
        }
    };
    match points {
        0 | 1 => Conviction::Low,
        2 => Conviction::Medium,
        _ => Conviction::High,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_bought_that_a_rule_speaks_against_or_that_nobody_judged() {
        let zone = |is_wait_zone| WaitZone { is_wait_zone, reasons: Vec::new() };
        let rules = |violations: usize, unknown: usize| Forbidden {
            is_forbidden: violations > 0,
            violations: vec!["a rule".to_owned(); violations],
            unknown: vec!["a rule".to_owned(); unknown],
        };
        for (wait_zone, forbidden, wanted) in [
            (Some(zone(false)), Some(rules(0, 0)), Action::Buy),
            (Some(zone(true)), Some(rules(0, 0)), Action::Watch),
            (Some(zone(false)), Some(rules(0, 1)), Action::Watch),
            (Some(zone(false)), Some(rules(1, 0)), Action::Avoid),
            (None, Some(rules(1, 1)), Action::Avoid),
            (Some(zone(false)), None, Action::Watch),
            (None, Some(rules(0, 0)), Action::Watch),
            (None, None, Action::Watch),
        ] {
            assert_eq!(most(wait_zone.as_ref(), forbidden.as_ref()), wanted, "{wait_zone:?} {forbidden:?}");
        }
    }
}
