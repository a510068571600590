//! The sockets that were opened before the service is wired. Not here: serving.

use std::{convert::Infallible, future::pending, time::Duration};

use tokio::net::TcpListener;

use crate::faces::admin::Admin;
use toolwire_transport::{Listener, Tls};

/// The sockets on which the service listens.
#[derive(Debug)]
pub struct Listeners {
    /// For callers over gRPC.
    pub grpc: Listener,
    /// For those over HTTP, if configured.
    pub http: Option<Listener>,
    /// For operators, if configured.
    pub admin: Option<Admin>,
}

impl From<Listener> for Listeners {
    fn from(grpc: Listener) -> Self {
        Self { grpc, http: None, admin: None }
    }
}

impl From<TcpListener> for Listeners {
    fn from(grpc: TcpListener) -> Self {
        Listener::from(grpc).into()
    }
}

/// Takes new certificates over, wherever one is served.
pub(super) async fn keep_certificates(served: [Option<Tls>; 2], interval: Duration) -> Infallible {
    let [grpc, http] = served.map(|tls| keep_certificate(tls, interval));
    tokio::select! {
        never = grpc => never,
        never = http => never,
    }
}

async fn keep_certificate(tls: Option<Tls>, interval: Duration) -> Infallible {
    match tls {
        Some(tls) => tls.keep_fresh(interval).await,
        None => pending().await,
    }
}
