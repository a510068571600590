//! Messages to webhooks about confirmations. A message is made in the change that it reports, and kept until it is
//! delivered, or of no use any more.

use std::time::SystemTime;

use super::confirmations::{Change, life::State};

/// What a webhook receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The address, by which its messages are found.
    pub url: String,
    /// Whether it receives requests for a confirmation.
    pub requested: bool,
    /// Whether it receives decisions.
    pub decided: bool,
    /// Whether it receives what expired without a decision, or without being used.
    pub expired: bool,
}

/// What a message reports. Each word is a column of the table of webhooks too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Event {
    Requested,
    Decided,
    Expired,
}

#[derive(Clone, Debug)]
pub struct Message {
    /// Its name, the same in each attempt.
    pub id: String,
    pub event: Event,
    /// The change that it reports; `None` if that is kept no longer.
    pub change: Option<Change>,
    /// How many attempts there were, this one included.
    pub attempts: u32,
    /// Until when it is of use.
    pub expires_at: SystemTime,
}

impl Event {
    /// The event of a confirmation that comes into a state, if webhooks receive it.
    pub const fn of(state: State) -> Option<Self> {
        match state {
            State::Pending => Some(Self::Requested),
            State::Approved | State::Denied => Some(Self::Decided),
            State::Expired => Some(Self::Expired),
            State::Used | State::Voided | State::Withdrawn => None,
        }
    }
}
