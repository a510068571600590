//! The HTTP listener on the wire: a real server on port 0, raw sockets and real clients.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "figures to read, which no assertion may depend on")]

#[path = "../support/mod.rs"]
mod support;

mod agui;
mod bounds;
mod drain;
mod edge;
mod every_route;
mod history;
mod house;
mod identity;
mod leaving;
mod page;
mod pressure;
mod raw;
mod rest;
mod smuggling;
mod specified;
mod talk;
mod tls;
mod toys;
