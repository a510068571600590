//! The agent as a domain: its services over gRPC, and its routes.

use crate::{
    domain::{Domain, Opened},
    faces::{
        agui,
        grpc::{agent, job},
        spec_routes,
    },
};

pub fn domain() -> Domain {
    Domain {
        routes: || spec_routes::routes().into_iter().chain(agui::routes()).collect(),
        rpc_routes: job::RPC_ROUTES,
        open: Box::new(|_| Ok(Opened { grpc: vec![agent::service(), job::service()], ..Opened::default() })),
        ..Domain::new("agent")
    }
}
