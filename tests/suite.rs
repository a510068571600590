//! Everything that is tested from outside the library: over gRPC, HTTP and the command line, in the real program, and
//! in process. One program, so that the library is linked once and what one test waits for is another one's time.
//! `cargo test --test suite program::kills` runs a part.
//!
//! Not here: what looks at all that a process does (`cache`, `deadlines`, `fuzz`), or has a clock of its own
//! (`simulation`), or reads the sources only (`tidy`), or is tried at each edit of one crate (`planner`).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "figures to read, which no assertion may depend on")]

mod support;

mod agent;
mod confirmations;
mod domains;
mod faces;
mod foreign_domain;
mod hosts;
mod http;
mod mcp;
mod models;
mod pipeline;
mod program;
mod quotas;
mod registry;
mod store;
mod tasks;
mod toolsets;
mod wire;
mod workspace;
