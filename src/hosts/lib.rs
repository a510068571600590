//! Hosts: processes that dial in and execute tools elsewhere (`toolwire.host.v1`).
//!
//! From the wire up: `slot` is the protocol of one stream as a state machine without input or output; `work` drives it
//! over a real stream; `pool` knows every slot of every provider and hands idle ones to calls; `call` carries one call
//! out on them; `late` keeps what became of writes whose slot was lost; `catalogue`
//! decides which set of offers of a provider is in service; `offer` checks them.
//!
//! Not here: credentials and the gRPC service (the server's faces), and making definitions of offers (the registry).

pub mod bounds;
mod call;
mod catalogue;
mod end;
mod executor;
mod hub;
pub mod ids;
mod late;
pub mod offer;
mod outcome;
mod pool;
mod presence;
mod remote;
mod slot;
mod spec;
mod start;
mod throttle;
mod work;

pub use call::HostTool;
pub use end::End;
pub use executor::RemoteExecutor;
pub use hub::{Elsewhere, Hub, Registrar, Settle, Verdicts};
pub use outcome::{Effect, add_that_it_was_done, cut, read_data};
pub use pool::Pool;
pub use remote::{Attempt, Call, RemoteTool};
pub use spec::{Spec, ToolParts};
pub use start::{Write, traceparent};
pub use throttle::Throttle;
pub use work::{Answers, work};

pub(crate) use toolwire_contract::proto::host::v1 as wire;
