//! What the tools ask outside: a search of the web.

pub mod embedded;
pub mod search;
