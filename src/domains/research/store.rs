//! What research keeps beyond the process: copies of screens, and watch-lists. Traits, and their tables in the state
//! file.

pub mod screens;
pub mod tables;
pub mod watchlist;
