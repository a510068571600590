//! Connectors: one per source, each in its own module.
//!
//! Not here: what the tools make of the data.

mod attributes;
pub mod embedded;
#[cfg(test)]
mod hostile_tests;
pub mod india;
pub mod news;
pub mod nse;
pub mod quarter;
pub mod reddit;
pub mod screener;
pub mod specs;
pub mod symbols;
pub mod universe;
pub mod valuepickr;
pub mod watchlist;
mod xml_text;
pub mod yahoo;
