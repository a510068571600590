//! State machine of a confirmation, as one table: state × event → transition. Pure; the store applies it.

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
    /// The same call is repeated.
    CallAgain,
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

/// The response to a repeated call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The same confirmation, which is still pending.
    Required,
    /// The call runs and uses the confirmation.
    Runs,
    /// The response of the call's record, since it has begun.
    OwnRecord,
    Denied,
    /// The confirmation expired.
    Expired,
    AskedAgain,
    Cancelled,
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
            (Self::Approved, Event::CallAgain) => Becomes(Self::Used),
            (Self::Approved | Self::Used, Event::Approve) | (Self::Denied, Event::Deny) => Same,
            (_, Event::Approve | Event::Deny) => Refused,
            (_, Event::TimePasses | Event::DefinitionChanges | Event::Cancel | Event::CallAgain) => Same,
        }
    }

    /// The response to a repeat of the call.
    pub const fn answer(self) -> Answer {
        match self {
            Self::Pending => Answer::Required,
            Self::Approved => Answer::Runs,
            Self::Used => Answer::OwnRecord,
            Self::Denied => Answer::Denied,
            Self::Expired => Answer::Expired,
            Self::Voided => Answer::AskedAgain,
            Self::Withdrawn => Answer::Cancelled,
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

    fn after(state: State, event: Event) -> State {
        match state.on(event) {
            Next::Becomes(next) => next,
            Next::Same | Next::Refused => state,
        }
    }

    /// The table of docs/CONFIRMATIONS.md, row by row: approve, deny, time passes, definition changes, cancel, call
    /// again.
    #[test]
    fn every_cell_is_as_the_page_has_it() {
        let rows = [
            (
                State::Pending,
                ["approved", "denied", "expired", "voided", "withdrawn", "same"],
                Answer::Required,
            ),
            (State::Approved, ["same", "refused", "expired", "voided", "withdrawn", "used"], Answer::Runs),
            (State::Used, ["same", "refused", "same", "same", "same", "same"], Answer::OwnRecord),
            (State::Denied, ["refused", "same", "same", "same", "same", "same"], Answer::Denied),
            (State::Expired, ["refused", "refused", "same", "same", "same", "same"], Answer::Expired),
            (State::Voided, ["refused", "refused", "same", "same", "same", "same"], Answer::AskedAgain),
            (State::Withdrawn, ["refused", "refused", "same", "same", "same", "same"], Answer::Cancelled),
        ];
        for (state, cells, answer) in rows {
            let found = Event::VARIANTS.iter().map(|event| match state.on(*event) {
                Next::Becomes(next) => next.into_str(),
                Next::Same => "same",
                Next::Refused => "refused",
            });
            assert_eq!((found.collect(), state.answer()), (cells.to_vec(), answer), "{state:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_final_stays_and_only_a_decision_approves(events in prop::collection::vec(select(Event::VARIANTS), 0..24)) {
            let (mut state, mut approved, mut used) = (State::Pending, 0, 0);
            for event in events {
                let next = after(state, event);
                prop_assert!(state.is_open() || next == state);
                if next != state {
                    prop_assert!(next != State::Approved || event == Event::Approve);
                    prop_assert!(next != State::Used || (state == State::Approved && event == Event::CallAgain));
                    approved += usize::from(next == State::Approved);
                    used += usize::from(next == State::Used);
                }
                state = next;
            }
            prop_assert!(approved <= 1 && used <= approved);
        }
    }
}
