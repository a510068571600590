//! A domain of a team's own: two toy tools that the crate does not know, with messages, a setting and a typed service
//! of their own, offered by every face as a bundled one is. Nothing bundled is present.
//!
//! Not here: what the faces promise of any tool (`grpc`, `cli`).

mod command_line;
mod conflicts;
mod generic;
mod proto;
mod server;
mod toy_service_server;
mod toys;
mod typed;
