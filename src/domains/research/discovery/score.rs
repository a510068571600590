//! What is to be done about a candidate, by rule: never a purchase in the wait zone, against a rule, with a rule that
//! could not be judged, or where as much speaks against it as for it. A model may be more careful, never less.

use super::signals::Signal;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub(super) enum Conviction {
    Low,
    Medium,
    High,
}

/// The most that may be done.
pub(super) fn most(
    wait_zone: Option<&WaitZone>,
    forbidden: Option<&Forbidden>,
    signals: &[Signal],
) -> Action {
    let (pro, contra) = count(signals);
    match (wait_zone, forbidden) {
        (_, Some(forbidden)) if forbidden.is_forbidden || !forbidden.violations.is_empty() => Action::Avoid,
        (Some(wait_zone), Some(forbidden)) if !wait_zone.is_wait_zone && forbidden.unknown.is_empty() => {
            if pro > contra {
                Action::Buy
            } else {
                Action::Watch
            }
        }
        // What was not found out has not passed.
        _ => Action::Watch,
    }
}

/// The conviction of an action, by what speaks for and against the candidate, and by the rules that it breaks.
pub(super) fn conviction(action: Action, signals: &[Signal], forbidden: Option<&Forbidden>) -> Conviction {
    let (pro, contra) = count(signals);
    let violations = forbidden.map_or(0, |forbidden| forbidden.violations.len());
    match action {
        Action::Avoid => match violations + contra {
            ..2 => Conviction::Low,
            2 => Conviction::Medium,
            _ => Conviction::High,
        },
        Action::Buy if pro >= 4 && contra == 0 => Conviction::High,
        // Something speaks against a purchase now, so that no more than this is sure.
        Action::Buy | Action::Watch if pro >= contra + 2 => Conviction::Medium,
        Action::Buy | Action::Watch => Conviction::Low,
    }
}

/// How many signals speak for a candidate, and how many against it.
fn count(signals: &[Signal]) -> (usize, usize) {
    let pro = signals.iter().filter(|signal| matches!(signal, Signal::For(_))).count();
    (pro, signals.len() - pro)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signals(pro: usize, contra: usize) -> Vec<Signal> {
        let (pro, contra) =
            (vec![Signal::For(String::new()); pro], vec![Signal::Against(String::new()); contra]);
        pro.into_iter().chain(contra).collect()
    }

    fn rules(violations: usize, unknown: usize) -> Forbidden {
        Forbidden {
            is_forbidden: violations > 0,
            violations: vec!["a rule".to_owned(); violations],
            unknown: vec!["a rule".to_owned(); unknown],
        }
    }

    #[test]
    fn nothing_is_bought_that_a_rule_speaks_against_or_that_was_not_judged() {
        let zone = |is_wait_zone| WaitZone { is_wait_zone, reasons: Vec::new() };
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
            let most = most(wait_zone.as_ref(), forbidden.as_ref(), &signals(3, 1));
            assert_eq!(most, wanted, "{wait_zone:?} {forbidden:?}");
        }
        assert_eq!(most(Some(&zone(false)), Some(&rules(0, 0)), &signals(2, 2)), Action::Watch);
    }

    #[test]
    fn conviction_follows_what_speaks_for_and_against() {
        for (action, pro, contra, violations, wanted) in [
            (Action::Buy, 4, 0, 0, Conviction::High),
            (Action::Buy, 4, 1, 0, Conviction::Medium),
            (Action::Buy, 3, 0, 0, Conviction::Medium),
            (Action::Buy, 3, 2, 0, Conviction::Low),
            (Action::Watch, 5, 0, 0, Conviction::Medium),
            (Action::Watch, 1, 0, 0, Conviction::Low),
            (Action::Avoid, 5, 0, 1, Conviction::Low),
            (Action::Avoid, 0, 1, 1, Conviction::Medium),
            (Action::Avoid, 0, 1, 2, Conviction::High),
        ] {
            let found = conviction(action, &signals(pro, contra), Some(&rules(violations, 0)));
            assert_eq!(found, wanted, "{action:?} {pro} {contra} {violations}");
        }
    }
}
