//! Hosts: processes that dial in and execute tools elsewhere (`toolwire.host.v1`).
//!
//! From the wire up: `slot` is the protocol of one stream as a state machine without input or output; `work` drives it
//! over a real stream; `pool` knows every slot of every provider and hands idle ones to calls; `call` carries one call
//! out on them; `late` keeps what became of writes whose slot was lost; `catalogue`
//! decides which set of offers of a provider is in service, and `holder` which program may have its name where there
//! are no credentials.
//!
//! Not here: what hosts have in common with other providers, such as the check of offers (`toolwire_providers`), and
//! credentials and the gRPC service (the server).

pub mod bounds;
mod call;
mod catalogue;
mod end;
mod holder;
mod hub;
mod outcome;
mod pool;
mod presence;
mod slot;
mod start;
mod started_writes;
mod work;

pub use call::HostTool;
pub use end::End;
pub use hub::{HostInfo, HostState, Hub, Registrar, Settle, WriteRecord};
pub use pool::Pool;
pub use start::Write;
pub use work::{Answers, work};

pub(crate) use toolwire_contract::proto::host::v1 as wire;
