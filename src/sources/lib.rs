//! What tools read from: HTTP sources with their limits, retries and cool-downs, and language models.
//!
//! Internal to Toolwire: no promise is made to other crates. Not here: any particular source, which its domain brings.

pub mod models;
pub mod upstream;
