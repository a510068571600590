//! MCP servers as providers: what they list is offered, and calls of it are carried out by them.
//!
//! From the wire up: `process`, with its `lines`, and `http` reach a server, and give errors in place of answers that
//! are `unreadable`; `tap` stands between rmcp and either, and keeps what a server sends within bounds; `connection`
//! agrees on a revision of the protocol; `listing` reads what a server offers; `link` is what calls and the supervisor
//! share; `supervisor` connects, lists, and connects again; `call` makes one attempt at a call.
//!
//! Not here: which tools are accepted, and making definitions of them (the server).

mod backoff;
pub mod bounds;
mod call;
mod connection;
mod error_words;
mod http;
mod lines;
mod link;
mod listing;
mod outcome;
mod process;
mod running;
mod supervisor;
mod tap;
mod target;
mod unreadable;

pub use call::McpTool;
pub use connection::ConnectError;
pub use link::Link;
pub use listing::{ListedTool, list_once};
pub use supervisor::{Registrar, Supervisor};
pub use target::Target;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
