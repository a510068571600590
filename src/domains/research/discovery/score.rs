//! Rates a candidate by rule. A purchase is excluded in the wait zone, against a rule, and with a rule that could not
//! be judged. It is excluded as well if the signals against it are as many as those for it, or if its own thread is
//! negative. A model may be more careful than the rule, never less.

use super::signals::{Moods, Signal};
use crate::proto::v1::{Forbidden, WaitZone};

/// The number of signals against a candidate from which an avoidance has a high, and a medium conviction.
const AVOID: (usize, usize) = (3, 2);
/// The number of signals for it from which a purchase has a high conviction, if no signal is against it.
const SURE: usize = 4;
/// The number of signals for it beyond those against it from which a conviction is medium.
const MARGIN: usize = 2;

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
    moods: Option<Moods>,
) -> Action {
    let (pro, contra) = count(signals);
    match (wait_zone, forbidden) {
        (_, Some(forbidden)) if forbidden.is_forbidden || !forbidden.violations.is_empty() => Action::Avoid,
        (Some(wait_zone), Some(forbidden)) if !wait_zone.is_wait_zone && forbidden.unknown.is_empty() => {
            if pro > contra && !moods.is_some_and(Moods::are_against) {
                Action::Buy
            } else {
                Action::Watch
            }
        }
        // What was not found out has not passed.
        _ => Action::Watch,
    }
}

/// The conviction of an action, by the signals for and against the candidate and the rules that it breaks.
pub(super) fn conviction(action: Action, signals: &[Signal], forbidden: Option<&Forbidden>) -> Conviction {
    let (pro, contra) = count(signals);
    let violations = forbidden.map_or(0, |forbidden| forbidden.violations.len());
    match action {
        Action::Avoid => match violations + contra {
            it if it >= AVOID.0 => Conviction::High,
            it if it >= AVOID.1 => Conviction::Medium,
            _ => Conviction::Low,
        },
        Action::Buy if pro >= SURE && contra == 0 => Conviction::High,
        // A purchase with a signal against it has at most a medium conviction.
        Action::Buy | Action::Watch if pro >= contra + MARGIN => Conviction::Medium,
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
            let most = most(wait_zone.as_ref(), forbidden.as_ref(), &signals(3, 1), None);
            assert_eq!(most, wanted, "{wait_zone:?} {forbidden:?}");
        }
        let most = |signals: &[Signal], moods| most(Some(&zone(false)), Some(&rules(0, 0)), signals, moods);
        assert_eq!(most(&signals(2, 2), None), Action::Watch);
        // A negative thread excludes a purchase, no matter how many signals are for it.
        for (positive, negative, wanted) in
            [(0, 3, Action::Watch), (1, 3, Action::Watch), (2, 2, Action::Buy)]
        {
            assert_eq!(most(&signals(5, 1), Some(Moods { positive, negative })), wanted);
        }
    }

    #[test]
    fn the_page_has_the_rules() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/JOBS.md");
        let page = std::fs::read_to_string(page).expect("the page");
        for row in [
            format!(
                "| `avoid` | a rule is broken | {} rules and signals against it | {} | `low` |",
                AVOID.0, AVOID.1
            ),
            format!(
                "| `buy` | not in the wait zone, every rule judged and kept, more signals for it than against, and its thread \
                 not against it | {SURE} signals for, none against | {MARGIN} more for than against | `low` |"
            ),
            format!("| `watch` | everything else | never | {MARGIN} more for than against | `low` |"),
        ] {
            assert!(page.contains(&row), "docs/JOBS.md has no row: {row}");
        }
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
