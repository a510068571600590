//! The bundled domains: their sources and tools against the specifications, over embedded data or a stub.

#![allow(clippy::print_stdout, reason = "shows what it measures")]

#[path = "../support/mod.rs"]
mod support;

mod answers;
mod brokerage;
mod columns;
mod orchestration;
mod research;
