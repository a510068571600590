//! State machine of a confirmation, as one table: state × event → transition, and what its call does when it is made
//! again. Pure; the store applies it.

use strum::{EnumString, IntoStaticStr, VariantArray};

/// The state of a confirmation. All but the first two are final.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum State {
    Pending,
    /// Approved, but not used yet.
    Approved,
    /// Approved, and the call has begun.
    Used,
    Denied,
    /// Not decided, or not used, in time.
    Expired,
    /// The tool's definition changed before it was used.
    Voided,
    /// The call was cancelled.
    Withdrawn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, VariantArray)]
pub enum Event {
    /// An authorised person approves it.
    Approve,
    /// An authorised person denies it.
    Deny,
    TimePasses,
    /// The tool's definition has changed.
    DefinitionChanges,
    Cancel,
}

/// The transition of a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Becomes(State),
    /// It is in that state already.
    Same,
    /// Not allowed: another decision was made, or it is too late.
    Refused,
}

/// What a call does by its newest confirmation, where its own record does not answer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnCall {
    /// It waits for the decision.
    Waits,
    /// It begins, and the confirmation becomes this.
    Begins(State),
    /// It goes on under the confirmation if it waits for that of a nested call, and otherwise requests another one.
    Resumes,
    /// It requests another one, which says that the definition has changed.
    AsksRedefined,
    /// It requests another one: its record had the outcome, and has expired.
    Asks,
}

impl State {
    #[allow(clippy::match_same_arms, reason = "a row a line")]
    pub const fn on(self, event: Event) -> Next {
        use Next::{Becomes, Refused, Same};
        match (self, event) {
            (Self::Pending, Event::Approve) => Becomes(Self::Approved),
            (Self::Pending, Event::Deny) => Becomes(Self::Denied),
            (Self::Pending | Self::Approved, Event::TimePasses) => Becomes(Self::Expired),
            (Self::Pending | Self::Approved, Event::DefinitionChanges) => Becomes(Self::Voided),
            (Self::Pending | Self::Approved, Event::Cancel) => Becomes(Self::Withdrawn),
            (Self::Approved | Self::Used, Event::Approve) | (Self::Denied, Event::Deny) => Same,
            (_, Event::Approve | Event::Deny) => Refused,
            (_, Event::TimePasses | Event::DefinitionChanges | Event::Cancel) => Same,
        }
    }

    pub const fn on_call(self) -> OnCall {
        match self {
            Self::Pending => OnCall::Waits,
            Self::Approved => OnCall::Begins(Self::Used),
            Self::Used => OnCall::Resumes,
            Self::Voided => OnCall::AsksRedefined,
            Self::Denied | Self::Expired | Self::Withdrawn => OnCall::Asks,
        }
    }

    /// Whether it is not final.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Approved)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::select};
    use strum::VariantArray as _;

    use super::*;

    /// After an event; without one, after the call.
    fn after(state: State, event: Option<Event>) -> State {
        match event {
            None => match state.on_call() {
                OnCall::Begins(next) => next,
                _ => state,
            },
            Some(event) => match state.on(event) {
                Next::Becomes(next) => next,
                Next::Same | Next::Refused => state,
            },
        }
    }

    /// The table of docs/CONFIRMATIONS.md, row by row: approve, deny, time passes, definition changes, cancel, the call
    /// again where its record has expired.
    #[test]
    fn every_cell_is_as_the_page_has_it() {
        let rows = [
            (State::Pending, ["approved", "denied", "expired", "voided", "withdrawn"], OnCall::Waits),
            (
                State::Approved,
                ["same", "refused", "expired", "voided", "withdrawn"],
                OnCall::Begins(State::Used),
            ),
            (State::Used, ["same", "refused", "same", "same", "same"], OnCall::Resumes),
            (State::Denied, ["refused", "same", "same", "same", "same"], OnCall::Asks),
            (State::Expired, ["refused", "refused", "same", "same", "same"], OnCall::Asks),
            (State::Voided, ["refused", "refused", "same", "same", "same"], OnCall::AsksRedefined),
            (State::Withdrawn, ["refused", "refused", "same", "same", "same"], OnCall::Asks),
        ];
        for (state, cells, on_call) in rows {
            let found = Event::VARIANTS.iter().map(|event| match state.on(*event) {
                Next::Becomes(next) => next.into_str(),
                Next::Same => "same",
                Next::Refused => "refused",
            });
            assert_eq!((found.collect(), state.on_call()), (cells.to_vec(), on_call), "{state:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_final_stays_and_only_a_decision_approves(events in prop::collection::vec(prop::option::of(select(Event::VARIANTS)), 0..24)) {
            let (mut state, mut approved, mut used) = (State::Pending, 0, 0);
            for event in events {
                let next = after(state, event);
                prop_assert!(state.is_open() || next == state);
                if next != state {
                    prop_assert!(next != State::Approved || event == Some(Event::Approve));
                    prop_assert!(next != State::Used || (state == State::Approved && event.is_none()));
                    approved += usize::from(next == State::Approved);
                    used += usize::from(next == State::Used);
                }
                state = next;
            }
            prop_assert!(approved <= 1 && used <= approved);
        }
    }
}
