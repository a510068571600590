//! Connectors: one per source of data, each in its own module.
//!
//! Not here: what the tools make of the data.

mod address;
pub mod brokerage;
pub mod embedded;
pub mod http;
pub mod india;
mod kept;
pub mod limiter;
pub mod now;
pub mod nse;
pub mod quarter;
#[cfg(test)]
mod testing;
pub mod universe;
pub mod yahoo;
