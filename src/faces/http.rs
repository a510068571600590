//! The HTTP listener: the table of its routes, and the layers that each request passes.

pub mod problem;
pub mod route;
pub mod sse;
