//! Upstream HTTP: the one stack that every request to a source takes, `cool-down → retry → limit → send`.
//!
//! A connector says what to ask ([`Outgoing`]) and reads what came ([`Answer`]); everything between is here, cookie and
//! token requests included. Not here: what an answer means, which each connector knows.

mod answer;
mod block_page;
mod check;
mod client;
mod cool_down;
mod in_process;
mod layer;
mod limit;
mod losses;
mod network_error;
mod outgoing;
mod parse;
mod profile;
mod record;
mod request;
mod resolver;
mod retry;
mod send;
mod sender;
#[cfg(test)]
mod testing;

pub use answer::Answer;
pub use client::Client;
pub use losses::warnings;
pub use outgoing::{ExpectedBody, Outgoing};
pub use profile::{Part, Profile};
pub use request::requests_made;
pub use sender::{Sender, TlsError};

pub use super::{
    failure::{Failure, FailureKind},
    stack::CredentialsOf,
};
