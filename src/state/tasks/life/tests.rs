//! The table, cell by cell, and any sequence of events.

use proptest::{prelude::*, sample::select};

use super::*;

const WAITS: [Wait; 5] = [
    Wait::Confirmation,
    Wait::For(Reason::Child),
    Wait::For(Reason::Question),
    Wait::For(Reason::Authorization),
    Wait::For(Reason::UnknownOutcome),
];

fn events() -> Vec<Event> {
    let plain = [
        Event::Leased,
        Event::Call { same_step: true },
        Event::Call { same_step: false },
        Event::HandedOff,
        Event::Answered,
        Event::Failed,
        Event::Cancelled,
        Event::DeadlinePasses,
    ];
    plain.into_iter().chain(WAITS.map(Event::WaitBegins)).collect()
}

/// The table of the design, row by row: leased; a call of another step; of the same step; a wait for a child begins;
/// its last wait is answered; handed off; answered; failed; cancelled; the deadline passes.
#[test]
fn every_cell_is_as_the_table_has_it() {
    let blocked = State::Blocked(Reason::Child);
    let waits =
        ["same", "refused", "same", "", "running", "refused", "completed", "failed", "cancelled", "failed"];
    let over =
        ["refused", "refused", "refused", "refused", "same", "refused", "refused", "refused", "same", "same"];
    let rows = [
        (
            State::Pending,
            [
                "running",
                "running",
                "running",
                "refused",
                "refused",
                "refused",
                "completed",
                "failed",
                "cancelled",
                "failed",
            ],
        ),
        (
            State::Running,
            [
                "same",
                "same",
                "same",
                "blocked",
                "same",
                "completed",
                "completed",
                "failed",
                "cancelled",
                "failed",
            ],
        ),
        (State::AwaitingConfirmation, {
            let mut row = waits;
            row[3] = "blocked";
            row
        }),
        (blocked, {
            let mut row = waits;
            row[3] = "same";
            row
        }),
        (State::Completed, over),
        (State::Failed, over),
        (State::Cancelled, over),
    ];
    let events = [
        Event::Leased,
        Event::Call { same_step: false },
        Event::Call { same_step: true },
        Event::WaitBegins(Wait::For(Reason::Child)),
        Event::WaitAnswered(None),
        Event::HandedOff,
        Event::Answered,
        Event::Failed,
        Event::Cancelled,
        Event::DeadlinePasses,
    ];
    for (state, cells) in rows {
        let found = events.map(|event| match state.on(event) {
            Next::Becomes(next) => next.into_str(),
            Next::Same => "same",
            Next::Refused => "refused",
        });
        assert_eq!(found, cells, "{state:?}");
    }
}

#[test]
fn a_state_is_read_as_it_is_written() {
    for state in State::ALL {
        assert_eq!(State::of_words(state.into_str(), state.reason().map(Into::into)), Some(state));
    }
    assert_eq!(State::of_words("blocked", None), None);
}

proptest! {
    /// Waits begin and are answered in any order: the state is always the highest of those that are left.
    #[test]
    fn the_highest_reason_counts_and_what_is_over_stays(
        events in prop::collection::vec((select(events()), any::<bool>()), 0..40)
    ) {
        let (mut state, mut waits) = (State::Running, Vec::new());
        for (event, answers) in events {
            let event = match waits.pop() {
                Some(_) if answers => Event::WaitAnswered(waits.iter().max().copied()),
                Some(wait) => { waits.push(wait); event }
                None => event,
            };
            let next = match state.on(event) {
                Next::Becomes(next) => next,
                Next::Same | Next::Refused => state,
            };
            if let (Event::WaitBegins(wait), false) = (event, state.is_final()) {
                waits.push(wait);
            }
            prop_assert!(!state.is_final() || next == state);
            if next.is_final() {
                waits.clear();
            } else {
                prop_assert_eq!(next, waits.iter().max().map_or(State::Running, |wait| wait.state()));
            }
            state = next;
        }
    }
}
