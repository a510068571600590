//! The layers that delay or refuse requests to a source of any kind: its limits, the pauses that it asks for, and
//! cool-downs after a refusal.
//!
//! Not here: requests over HTTP, whose layers stand on this (`http`), and how a provider's tool is executed.

mod cool_down;
mod gate;
mod hold_off;
mod limit;
mod record;
mod subject;
pub(super) mod wait;

pub(super) use self::{cool_down::Scope, hold_off::HoldOff, limit::Limit, subject::Subject};
pub use self::{gate::Gate, subject::CredentialsOf};
