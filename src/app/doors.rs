//! Where the service is reached: what was opened before it is wired. Not here: serving.

use tokio::net::TcpListener;

use crate::faces::{admin::Admin, transport::Listener};

/// The doors that were opened for the service.
#[derive(Debug)]
pub struct Doors {
    /// For callers.
    pub grpc: Listener,
    /// For operators, if there is one.
    pub admin: Option<Admin>,
}

impl From<Listener> for Doors {
    fn from(grpc: Listener) -> Self {
        Self { grpc, admin: None }
    }
}

impl From<TcpListener> for Doors {
    fn from(grpc: TcpListener) -> Self {
        Listener::from(grpc).into()
    }
}
