//! The faces of the agent: services over gRPC, AG-UI, and the routes of the origins.

pub mod agui;
pub mod grpc;
mod job_message;
pub mod spec_routes;
