//! MCP servers as providers: what they list is offered, and calls of it are carried out by them.
//!
//! From the wire up: `process`, with its `lines`, and `http`, with its `sse`, reach a server; of what it says `reading`
//! reads what can be read, and errors take the place of answers that are `unreadable`; `tap` stands between rmcp and
//! either, and keeps what a server sends within bounds, as `meter` does with what serves no call; `in_flight` finds the
//! request of an answer; `connection` agrees on a revision of the protocol, by a `greeting`; `listing` reads what a
//! server offers; `link` is what calls and the supervisor share; `supervisor` connects, lists, and connects again;
//! `call` makes one attempt at a call. `guard` ends what processes are left of a Toolwire process that was killed.
//!
//! Not here: the names of tools and which are accepted, and making definitions of them (the configuration, the server).

mod backoff;
pub mod bounds;
mod call;
mod connect_error;
mod connection;
mod error_words;
mod greeting;
pub mod guard;
mod http;
mod in_flight;
mod lines;
mod link;
mod listing;
mod meter;
mod outcome;
mod process;
mod reading;
mod running_request;
mod sse;
mod supervisor;
mod tap;
mod target;
mod unreadable;

pub use call::McpTool;
pub use connect_error::ConnectError;
pub use link::Link;
pub use listing::{ListedTool, list_once};
pub use supervisor::{Registrar, Supervisor};
pub use target::Target;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
