//! The server: the definition of a domain, every face of the service, and the wiring of both.
//!
//! Internal to Toolwire: no promise is made to other crates. A team's own domain depends on `toolwire`, the facade.

pub mod app;
pub mod client;
pub mod console;
pub mod domain;
pub mod faces;
pub mod service;
