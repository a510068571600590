//! stub
pub mod clock;
pub mod context;
pub mod contract;
pub mod files;
pub mod pipeline;
pub mod registry;
pub mod sources;
pub mod store;
pub mod telemetry;
pub mod tools;
