//! What a client meets on the wire: calls, statuses, connections, TLS. A real server on port 0, real clients.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "figures to read, which no assertion may depend on")]

#[path = "../support/mod.rs"]
mod support;

mod errors;
mod grpc;
mod interop;
mod limits;
mod tls;
mod transport;
