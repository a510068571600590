//! stub
pub mod clock;
pub mod context;
pub mod contract;
pub mod files;
pub mod sources;
pub mod tools;
