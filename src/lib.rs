//! Toolwire: the typed tool plane for agent backends.
//!
//! One Rust service through which agents written in any language discover, invoke, approve and audit tools over gRPC.
//! A call flows one way: a face turns what it received into a [`pipeline::Call`], the one pipeline carries it through
//! its layers to a tool, and the tool reads from a source. Events flow back the same way. `docs/ARCHITECTURE.md` follows
//! one call through these modules.
//!
//! In reading order: the words of a call ([`contract`], [`context`]); what carries it out ([`pipeline`]) and what it
//! meets there ([`registry`], [`tools`], [`sources`], [`store`]); the doors ([`faces`], [`cli`]); and [`app`], which
//! wires them all. A module imports only from those below it, which `tests/tidy.rs` checks.

// The words of a call.
pub mod context;
pub mod contract;

// What carries it out.
pub mod pipeline;
pub mod registry;
pub mod sources;
pub mod store;
pub mod tools;

// The doors, and what wires them.
pub mod app;
pub mod cli;
pub mod faces;

// What everything stands on.
pub mod clock;
pub mod config;
pub mod files;
pub mod telemetry;
