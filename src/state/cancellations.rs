//! Cancellation of work that another process of the same state owns. A request is a row that every process reads; the
//! owner of the subject cancels it and writes an answer. Not here: cancellation of work of this process.

pub(crate) mod rows;

use std::time::Duration;

use toolwire_tool::context::{CallId, RequestId, SessionId, UserId};

/// How long a requester waits for an answer. An owner that follows the state answers within about 100 ms; the rest is
/// for an owner that is busy.
pub const ANSWER_WITHIN: Duration = Duration::from_millis(500);

/// How long an unanswered request is retained for an owner that cannot read it now, such as a stopped process. It is as
/// long as the default maximum duration of a call.
pub const RETENTION: Duration = Duration::from_mins(2);

/// What to cancel.
#[derive(Clone, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Subject {
    Call(CallId),
    /// The calls of this `request_id`.
    Request(RequestId),
    Turn(RequestId),
    /// The running turn of a session.
    Session(SessionId),
    Job(RequestId),
    /// A request of a client that gives requests up by a notification, by the name that its face has for it.
    ClientRequest(String),
}

/// A request to cancel work of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelRequest {
    /// Identifies the request when it is answered.
    pub id: String,
    pub user: UserId,
    /// What to cancel.
    pub subject: Subject,
}

impl Subject {
    pub fn name(&self) -> String {
        match self {
            Self::Call(id) => id.to_string(),
            Self::Request(id) | Self::Turn(id) | Self::Job(id) => id.to_string(),
            Self::Session(id) => id.to_string(),
            Self::ClientRequest(name) => name.clone(),
        }
    }

    /// Parses a stored subject; `None` if the kind or the name is unknown to this version.
    pub fn parse(word: &str, name: &str) -> Option<Self> {
        match word {
            "call" => name.parse().ok().map(Self::Call),
            "request" => name.parse().ok().map(Self::Request),
            "turn" => name.parse().ok().map(Self::Turn),
            "session" => name.parse().ok().map(Self::Session),
            "job" => name.parse().ok().map(Self::Job),
            "client_request" => Some(Self::ClientRequest(name.to_owned())),
            _ => None,
        }
    }
}
