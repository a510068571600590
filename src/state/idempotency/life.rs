//! State machine of a call with a `request_id`, as one table: state × event → state. Pure; the store applies it.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    New,
    /// A person must approve it, or a call nested in it, first. Nothing was executed.
    Asked,
    Started,
    /// It began, and its owner is gone.
    Unknown,
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::VariantArray)]
pub enum Event {
    Ask,
    /// It begins: it requires no confirmation, or has just used one.
    Start,
    /// Its confirmation was denied, expired or was withdrawn.
    TurnDown,
    /// A call nested in it must be approved first.
    NestedAsks,
    End,
    /// It ends without effect, and a retry may succeed.
    NothingDone,
    /// The process that executed it has ended.
    OwnerLost,
}

impl State {
    /// The transition table; any other event leaves the state unchanged.
    #[must_use]
    pub const fn on(self, event: Event) -> Self {
        match (self, event) {
            (Self::New, Event::Ask) | (Self::Started, Event::NestedAsks) => Self::Asked,
            (Self::New | Self::Asked, Event::Start) => Self::Started,
            (Self::Asked, Event::TurnDown) | (Self::Started | Self::Unknown, Event::End) => Self::Ended,
            (Self::Started, Event::NothingDone) => Self::New,
            (Self::Started, Event::OwnerLost) => Self::Unknown,
            (state, _) => state,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::select};
    use strum::VariantArray as _;

    use super::*;

    proptest! {
        #[test]
        fn what_ended_stays_and_what_may_have_been_done_is_never_begun_again(
            events in prop::collection::vec(select(Event::VARIANTS), 0..32)
        ) {
            let mut state = State::New;
            for event in events {
                let next = state.on(event);
                prop_assert!(state != State::Ended || next == State::Ended);
                prop_assert!(state != State::Unknown || matches!(next, State::Unknown | State::Ended));
                if next == State::Started && state != State::Started {
                    prop_assert!(event == Event::Start && matches!(state, State::New | State::Asked));
                }
                prop_assert!(next != State::Ended || state != State::New, "nothing ends that was not recorded");
                state = next;
            }
        }
    }
}
