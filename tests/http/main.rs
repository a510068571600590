//! The HTTP listener on the wire: a real server on port 0, raw sockets and real clients.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "figures to read, which no assertion may depend on")]

#[path = "../support/mod.rs"]
mod support;

mod bounds;
mod drain;
mod edge;
mod identity;
mod leaving;
mod raw;
mod rest;
mod smuggling;
mod tls;
mod toys;
