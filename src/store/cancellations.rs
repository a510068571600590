//! Cancelling what another process of the same state carries out. A request is a row that every process reads; the one
//! that carries the subject out cancels it and answers. Not here: cancelling what runs in this process.

use std::time::Duration;

use toolwire_tool::context::{CallId, RequestId, SessionId, UserId};

/// How long a requester waits for an answer. An owner that follows the state answers in about a tenth of a second; this
/// leaves room for one that is busy.
pub const ANSWER_WITHIN: Duration = Duration::from_millis(500);

/// How long a request without an answer is kept for an owner that cannot read now, such as a stopped process. No call
/// lasts longer by default.
pub const KEPT: Duration = Duration::from_mins(2);

/// What is to be cancelled.
#[derive(Clone, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Subject {
    Call(CallId),
    /// The calls of this `request_id`.
    Request(RequestId),
    Turn(RequestId),
    /// The turn that runs in a session.
    Session(SessionId),
    Job(RequestId),
}

/// A request to cancel something of a user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelRequest {
    /// Its name, for the answer.
    pub id: String,
    pub user: UserId,
    /// What is to be cancelled.
    pub subject: Subject,
}

impl Subject {
    pub fn name(&self) -> String {
        match self {
            Self::Call(id) => id.to_string(),
            Self::Request(id) | Self::Turn(id) | Self::Job(id) => id.to_string(),
            Self::Session(id) => id.to_string(),
        }
    }

    /// Reads it back; `None` of a word or a name that only a later program knows.
    pub fn parse(word: &str, name: &str) -> Option<Self> {
        match word {
            "call" => name.parse().ok().map(Self::Call),
            "request" => name.parse().ok().map(Self::Request),
            "turn" => name.parse().ok().map(Self::Turn),
            "session" => name.parse().ok().map(Self::Session),
            "job" => name.parse().ok().map(Self::Job),
            _ => None,
        }
    }
}
