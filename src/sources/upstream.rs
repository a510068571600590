//! The stack under every source: requests to the outside, limits, and the sanitiser of outside text.
//!
//! Not here: any source. Connectors belong to the domain whose tools ask them.

pub mod address;
pub mod http;
pub mod json;
pub mod limiter;
pub mod now;
pub mod orders;
pub mod settings;
pub mod source;
pub mod source_status;
pub mod sources;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod text;
pub mod token;
pub mod webhook;
