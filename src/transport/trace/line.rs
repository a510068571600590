//! The log line of an RPC that was refused before it became a call; calls are logged by the pipeline.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use http::Request;
use tonic::Code;

use crate::peer::Peer;
use toolwire_contract::status;
use toolwire_telemetry::attribute;

/// A flag in the extensions of every request: whether the pipeline logs the call.
#[derive(Debug, Clone, Default)]
pub struct LoggedByPipeline(Arc<AtomicBool>);

#[derive(Debug)]
pub(super) struct Line {
    /// The full name of the method; `None` if it is unknown.
    method: Option<Arc<str>>,
    peer: Option<SocketAddr>,
    logged_by_pipeline: LoggedByPipeline,
}

impl LoggedByPipeline {
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Records that the pipeline will log the call, however it ends.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Line {
    /// Inserts a [`LoggedByPipeline`] into the request.
    pub(super) fn of<B>(method: Option<Arc<str>>, request: &mut Request<B>) -> Self {
        let logged_by_pipeline = LoggedByPipeline::default();
        request.extensions_mut().insert(logged_by_pipeline.clone());
        Self { method, peer: request.extensions().get::<Peer>().map(|peer| peer.address), logged_by_pipeline }
    }

    /// Logs the end of the RPC, unless it succeeded or the pipeline logs it.
    pub(super) fn log(&self, code: Code) {
        if code == Code::Ok || self.logged_by_pipeline.is_set() {
            return;
        }
        let peer = self.peer.map(tracing::field::display);
        let method = self.method.as_deref().unwrap_or(attribute::OTHER);
        tracing::info!(target: "toolwire::rpc", method, status = status::name(code), peer, "refused");
    }
}
