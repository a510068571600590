//! Progress of a call as notifications, whose numbers rise strictly, as the protocol demands.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};

use super::approval_words;
use toolwire_contract::proto::v1::call_event::Event;

/// The total, which a fraction of 1 stands for.
const WHOLE: f64 = 100.0;
/// The increment for progress without a fraction.
const STEP: f64 = 1.0;

/// Sends progress to the client of a request that has a progress token.
#[derive(Debug)]
pub(super) struct Progress {
    token: Option<ProgressToken>,
    peer: Option<Peer<RoleServer>>,
    flags: Arc<str>,
    is_answered: Arc<AtomicBool>,
    numbers: Numbers,
    chunks: u64,
}

/// The last number that was sent.
#[derive(Debug, Default)]
struct Numbers {
    last: Option<f64>,
}

impl Progress {
    /// `flags` are those by which a command finds the same server.
    pub(super) fn new(context: &RequestContext<RoleServer>, flags: Arc<str>) -> Self {
        let (token, peer) = (context.meta.get_progress_token(), Some(context.peer.clone()));
        Self { token, peer, flags, ..Self::silent() }
    }

    /// For a call without a request.
    pub(super) fn silent() -> Self {
        Self {
            token: None,
            peer: None,
            flags: Arc::default(),
            is_answered: Arc::default(),
            numbers: Numbers::default(),
            chunks: 0,
        }
    }

    /// Whether the client follows the progress.
    pub(super) fn has_reader(&self) -> bool {
        self.token.is_some() && self.peer.is_some()
    }

    /// The client itself, of a request that came through the service of rmcp.
    pub(super) fn client(&self) -> Option<&Peer<RoleServer>> {
        self.peer.as_ref()
    }

    /// Ends the notifications once it is set: a request that was answered has no progress.
    pub(super) fn is_answered(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_answered)
    }

    /// Reports an event that is not the end of the call.
    pub(super) async fn report(&mut self, event: &Event) {
        let (fraction, message) = match event {
            Event::Progress(progress) => (progress.fraction, progress.message.clone()),
            Event::Chunk(_) => {
                self.chunks += 1;
                (None, format!("part {}", self.chunks))
            }
            Event::AwaitingConfirmation(it) => (None, approval_words::progress(it, &self.flags)),
            Event::Accepted(_) | Event::Result(_) | Event::ConfirmationRequired(_) => return,
        };
        self.send(fraction, message).await;
    }

    async fn send(&mut self, fraction: Option<f64>, message: String) {
        let (Some(token), Some(peer)) = (&self.token, &self.peer) else { return };
        if self.is_answered.load(Ordering::Acquire) {
            return;
        }
        let Some((progress, total)) = self.numbers.next(fraction) else { return };
        let mut param = ProgressNotificationParam::new(token.clone(), progress);
        param.total = total;
        param.message = (!message.is_empty()).then_some(message);
        // A client that has gone is noticed by the cancellation of its request.
        let _ = peer.notify_progress(param).await;
    }
}

impl Numbers {
    /// The number and the total to send; `None` if the number would not rise.
    fn next(&mut self, fraction: Option<f64>) -> Option<(f64, Option<f64>)> {
        let (progress, total) = match fraction {
            Some(fraction) => (fraction * WHOLE, Some(WHOLE)),
            None => (self.last.map_or(STEP, |last| last + STEP), None),
        };
        if self.last.is_some_and(|last| progress <= last) {
            return None;
        }
        self.last = Some(progress);
        Some((progress, total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_rise_strictly_whatever_the_tool_says() {
        let mut numbers = Numbers::default();
        let mut told = Vec::new();
        for fraction in [Some(0.0), Some(0.25), Some(0.25), Some(0.1), None, Some(0.5), None, Some(1.0)] {
            told.extend(numbers.next(fraction).map(|(progress, _)| progress));
        }
        assert_eq!(told, [0.0, 25.0, 26.0, 50.0, 51.0, 100.0]);
    }
}
