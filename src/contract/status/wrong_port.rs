//! The status for a client that speaks the protocol of another port of this server.

use std::{collections::HashMap, net::SocketAddr};

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

pub const REASON: &str = "WRONG_PORT";
/// Under which `ErrorInfo` has the port on which gRPC is spoken.
const GRPC_PORT: &str = "grpc_port";

/// For gRPC where HTTP is spoken.
pub fn is_http(grpc_at: Option<SocketAddr>) -> Status {
    let port = grpc_at.map(|address| address.port().to_string());
    let message = match &port {
        Some(port) => format!("this port speaks HTTP; gRPC is spoken on port {port}"),
        None => "this port speaks HTTP; gRPC is spoken on another one".to_owned(),
    };
    let metadata: HashMap<_, _> = port.map(|port| (GRPC_PORT.to_owned(), port)).into_iter().collect();
    super::with_error_info(Code::Unimplemented, REASON, &message, ErrorDetails::new(), metadata)
}

/// For anything else where gRPC is spoken.
pub fn is_grpc(http_at: Option<SocketAddr>) -> String {
    let only = "This port speaks gRPC only (content-type: application/grpc).";
    match http_at {
        Some(address) => format!("{only} HTTP is spoken on port {}.\n", address.port()),
        None => format!("{only}\n"),
    }
}

/// Where gRPC is spoken, if the status says that it is on another port, and on which if that is known.
pub fn grpc_port(status: &Status) -> Option<Option<u16>> {
    let info = status.get_details_error_info().filter(|info| info.reason == REASON)?;
    Some(info.metadata.get(GRPC_PORT).and_then(|port| port.parse().ok()))
}
