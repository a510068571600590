//! Outbox of messages to webhooks about confirmations. A message is inserted in the transaction that makes the change,
//! and retained until it is delivered or expires.

pub(crate) mod rows;

use std::time::SystemTime;

use super::confirmations::{Change, life::State};

/// The events that a webhook receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The address; it identifies the webhook.
    pub url: String,
    /// Whether it receives new confirmations.
    pub requested: bool,
    /// Whether it receives decisions.
    pub decided: bool,
    /// Whether it receives confirmations that expired undecided or unused.
    pub expired: bool,
}

/// The kind of event that a message reports. Each name is also a column of the table of webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Event {
    Requested,
    Decided,
    Expired,
}

#[derive(Clone, Debug)]
pub struct Message {
    /// Its identifier, the same in each attempt.
    pub id: String,
    pub event: Event,
    /// The change that it reports; `None` if that is no longer retained.
    pub change: Option<Change>,
    /// Number of attempts, including this one.
    pub attempts: u32,
    pub expires_at: SystemTime,
}

impl Event {
    /// The event of a transition into a state, if webhooks receive it.
    pub const fn of(state: State) -> Option<Self> {
        match state {
            State::Pending => Some(Self::Requested),
            State::Approved | State::Denied => Some(Self::Decided),
            State::Expired => Some(Self::Expired),
            State::Used | State::Voided | State::Withdrawn => None,
        }
    }
}
