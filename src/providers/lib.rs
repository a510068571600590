//! Providers: what programs that execute tools elsewhere have in common, whatever connects to them.
//!
//! `offer` checks what a program offers; `spec` is a tool of one by the definition that is served, `executor` executes
//! it in the pipeline, and `remote` carries a call out, with what a lost connection means for it; `outcome` checks the
//! data that comes back.
//!
//! Not here: how a program is reached (hosts, MCP), and making definitions of offers (the registry).

pub mod bounds;
mod executor;
pub mod ids;
pub mod offer;
pub mod outcome;
mod remote;
mod spec;
mod throttle;
mod traceparent;
mod verdicts;

pub use executor::RemoteExecutor;
pub use outcome::{Effect, add_that_it_was_done, cut, read_data};
pub use remote::{Attempt, Call, RemoteTool};
pub use spec::{Spec, ToolParts};
pub use throttle::Throttle;
pub use traceparent::traceparent;
pub use verdicts::{LastVerdicts, Verdicts};

pub(crate) use toolwire_contract::proto::host::v1 as wire;
