//! Connectors: one per source of data, each in its own module.
//!
//! Not here: what the tools make of the data.

pub mod brokerage;
pub mod http;
pub mod limiter;
pub mod news;
pub mod now;
pub mod reddit;
pub mod text;
pub mod universe;
pub mod valuepickr;
pub mod watchlist;
