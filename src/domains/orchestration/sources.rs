//! What the tools ask outside: a search of the web, and models.

pub mod advisers;
pub mod embedded;
pub mod search;
