//! The stack under every source: requests to the outside, limits, and the sanitiser of outside text.
//!
//! Not here: any source. Connectors belong to the domain whose tools ask them.

pub mod address;
mod failure;
pub mod http;
pub mod json;
pub mod limiter;
pub mod now;
pub mod orders;
mod origin_client;
mod provider;
pub mod settings;
pub mod source;
pub mod source_status;
pub mod sources;
mod stack;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod text;
pub mod token;
pub mod webhook;

pub use origin_client::origin_client;
pub use provider::ProviderSpec;
pub use stack::Gate;
