//! The faces of the service. Each converts its requests to calls, hands them to the one pipeline, and renders the
//! events; none validates, limits, caches or retries by itself.

pub mod admin;
pub mod console;
pub mod grpc;
pub mod http;
pub mod incoming;
pub mod mcp;
pub mod readiness;
pub mod render;
pub mod rest;
pub mod routes;
pub mod trace_url;
