//! The list of all tools.

pub mod tool;
