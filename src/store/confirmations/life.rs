//! The life of a confirmation, as one table: state × event → what becomes of it. Pure; the stores apply it.

use strum::{EnumString, IntoStaticStr, VariantArray};

/// The states. All but the first two are final.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum State {
    Pending,
    /// Approved, and not used yet.
    Approved,
    /// Approved, and the call has begun.
    Used,
    Denied,
    /// Not decided, or not used, in time.
    Expired,
    /// The definition changed before it was used.
    Voided,
    /// The call was cancelled.
    Withdrawn,
}

/// What happens to a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, VariantArray)]
pub enum Event {
    /// A person with the right to decide approves it.
    Approve,
    /// A person with the right to decide denies it.
    Deny,
    TimePasses,
    /// The tool's definition is found to be another.
    DefinitionChanges,
    /// The call is cancelled.
    Cancel,
    /// The same call comes again.
    CallAgain,
}

/// What becomes of a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Becomes(State),
    /// It was so already.
    Same,
    /// It cannot be: another decision was made, or it is too late.
    Refused,
}

/// What a call meets that comes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The same confirmation, which is to be decided yet.
    Required,
    /// The call runs, and the confirmation is used.
    Runs,
    /// Its own record answers: it has begun.
    OwnRecord,
    /// The outcome is that it was denied.
    Denied,
    /// The outcome is that its time passed.
    Expired,
    AskedAgain,
    /// The outcome is that it was cancelled.
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

    /// What the same call meets.
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

    /// Whether something can still become of it.
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
