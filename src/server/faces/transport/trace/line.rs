//! The log line of an RPC that was refused before it became a call; a call has a line of its own, from the pipeline.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use http::Request;
use tonic::Code;

use crate::faces::transport::peer::Peer;
use toolwire_contract::status;
use toolwire_telemetry::attribute;

/// In the extensions of every request: whether the pipeline took the call over, and with it the log line.
#[derive(Debug, Clone, Default)]
pub struct TakenOver(Arc<AtomicBool>);

/// What the line says of a request.
#[derive(Debug)]
pub(super) struct Line {
    /// The full name of the method, if it is known.
    method: Option<Arc<str>>,
    peer: Option<SocketAddr>,
    taken_over: TakenOver,
}

impl TakenOver {
    /// Whether the pipeline took it.
    pub(in crate::faces) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The pipeline will log the call, however it ends.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Line {
    /// The line of a request, which learns of it.
    pub(super) fn of<B>(method: Option<Arc<str>>, request: &mut Request<B>) -> Self {
        let taken_over = TakenOver::default();
        request.extensions_mut().insert(taken_over.clone());
        Self { method, peer: request.extensions().get::<Peer>().map(|peer| peer.address), taken_over }
    }

    /// Logs how the RPC ended, unless it went well or somebody else does.
    pub(super) fn log(&self, code: Code) {
        if code == Code::Ok || self.taken_over.is_set() {
            return;
        }
        let peer = self.peer.map(tracing::field::display);
        let method = self.method.as_deref().unwrap_or(attribute::OTHER);
        tracing::info!(target: "toolwire::rpc", method, status = status::name(code), peer, "refused");
    }
}
