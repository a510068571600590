//! The external services of the tools: a search of the web, and models.

pub mod advisers;
pub mod embedded;
pub mod search;
