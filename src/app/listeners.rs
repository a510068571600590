//! The sockets that were opened before the service is wired. Not here: serving.

use std::{convert::Infallible, future::pending, time::Duration};

use tokio::net::TcpListener;

use crate::faces::{
    admin::Admin,
    transport::{Listener, Tls},
};

/// The sockets on which the service listens.
#[derive(Debug)]
pub struct Listeners {
    /// For callers.
    pub grpc: Listener,
    /// For operators, if configured.
    pub admin: Option<Admin>,
}

impl From<Listener> for Listeners {
    fn from(grpc: Listener) -> Self {
        Self { grpc, admin: None }
    }
}

impl From<TcpListener> for Listeners {
    fn from(grpc: TcpListener) -> Self {
        Listener::from(grpc).into()
    }
}

/// Takes new certificates over, if any is served.
pub(super) async fn keep_certificate(tls: Option<Tls>, interval: Duration) -> Infallible {
    match tls {
        Some(tls) => tls.keep_fresh(interval).await,
        None => pending().await,
    }
}
