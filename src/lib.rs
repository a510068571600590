//! Toolwire: the typed tool plane for agent backends.
//!
//! One Rust service through which agents written in any language discover and invoke tools over gRPC. A call flows one
//! way: a face turns what it received into a [`pipeline::Call`], the one pipeline carries it through its layers to a
//! tool, and the tool reads from a source. Events flow back the same way. `docs/ARCHITECTURE.md` follows one call
//! through these modules, whose groups stand here from top to bottom.
//!
//! The platform knows no tool and no source by name. A [`domain::Domain`] offers them; [`domains`] are those that come
//! with Toolwire. A module imports only from those below it, which `tests/tidy` checks.

// The domains that come with Toolwire, and what a domain is.
pub mod domain;
pub mod domains;

// What wires everything, and the faces.
pub mod app;
pub mod cli;
pub mod faces;

// What every face offers.
pub mod service;

// What answers questions by calling tools.
pub mod agent;

// Tools as providers of models declare them.
pub mod exports;

// What tools do to tasks.
pub mod tasks;

// The documents that the tasks of a tree share.
pub mod workspace;

// What carries a call out, and what it meets there.
pub mod pipeline;
pub mod registry;
pub mod tool;

// Language models; what every source stands on; what commands speak to servers with; then settings, equal work done
// once, and state.
pub mod models;
pub mod upstream;

pub mod client;
pub mod config;
pub mod single_flight;
pub mod store;

// The words of a call.
pub mod context;
pub mod contract;

// What everything stands on.
pub mod clock;
pub mod console;
pub mod digest;
pub mod duration;
pub mod files;
pub mod offload;
pub mod telemetry;
pub mod tokens;
pub mod turns;
pub mod words;
