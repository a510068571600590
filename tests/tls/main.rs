//! TLS on the wire: what the server speaks, what the command line says of it, and how a certificate is replaced.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../support/mod.rs"]
mod support;

mod authority;
mod collector;
mod command_line;
mod server;
