//! What a client meets on the wire: calls, statuses, connections, TLS. A real server on port 0, real clients.

mod errors;
mod grpc;
mod interop;
mod limits;
mod sidecar;
mod tls;
mod transport;
