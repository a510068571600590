//! Connectors: one per source of data, each in its own module.
//!
//! Not here: what the tools make of the data.

pub mod brokerage;
pub mod embedded;
pub mod http;
pub mod limiter;
pub mod now;
pub mod screener;
pub mod symbols;
pub mod text;
pub mod universe;
pub mod watchlist;
