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
pub mod limits;
pub mod news;
pub mod now;
pub mod nse;
pub mod quarter;
pub mod reddit;
pub mod screener;
pub mod symbols;
pub mod text;
pub mod universe;
pub mod valuepickr;
pub mod watchlist;
pub mod yahoo;
