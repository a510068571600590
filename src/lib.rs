//! Toolwire: the typed tool plane for agent backends.
//!
//! One Rust service through which agents written in any language discover and invoke tools over gRPC. A call flows one
//! way: a face turns what it received into a [`Call`](engine::pipeline::Call), the one pipeline carries it through its
//! layers to a tool, and the tool reads from a source. Events flow back the same way. `docs/ARCHITECTURE.md` follows
//! one call through these crates, which stand here from top to bottom; each depends only on those below it.
//!
//! This crate is what a team depends on: a program with a domain of its own calls [`cli::run`] with it. The platform
//! knows no tool and no source by name; a [`Domain`](server::domain::Domain) offers them, and [`domains`] are those
//! that come with Toolwire.

#![warn(missing_docs)]

pub mod domains;

pub use toolwire_agent as agent;
pub use toolwire_cli as cli;
pub use toolwire_planner as planner;

pub use toolwire_agent_api as agent_api;
pub use toolwire_server as server;

pub use toolwire_transport as transport;

pub use toolwire_engine as engine;
pub use toolwire_sources as sources;

pub use toolwire_config as config;
pub use toolwire_db as db;
pub use toolwire_state as state;
pub use toolwire_tokens as tokens;

pub use toolwire_hosts as hosts;
pub use toolwire_identity as identity;
pub use toolwire_mcp as mcp;
pub use toolwire_providers as providers;
pub use toolwire_tool as tool;

pub use toolwire_contract as contract;

pub use toolwire_base as base;
pub use toolwire_outgoing as outgoing;
pub use toolwire_telemetry as telemetry;
