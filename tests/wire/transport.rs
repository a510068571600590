//! The transport on the wire: a real server on port 0, and an HTTP/2 client without a timer of its own.
//!
//! Nothing here asserts on the wall clock: a test that would hang is a test that fails. Short bounds in the
//! configuration stand for the long ones of production.

mod backlog;
mod calls;
mod client;
mod connections;
mod drain;
mod server;
