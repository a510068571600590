//! What asks a server to end: SIGTERM, SIGINT, and SIGHUP of a terminal that was closed.

use std::io;

use tokio::{
    select,
    signal::unix::{Signal, SignalKind, signal},
};

/// What asks a server to end.
#[derive(Debug)]
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    /// Listens from now on; the signals no longer kill the process by themselves.
    pub(super) fn install() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for any.
    pub(super) async fn any(&mut self) {
        select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }

    /// Waits for somebody who does not want to wait. SIGHUP says nothing of the kind: service managers send it right
    /// after SIGTERM.
    pub(super) async fn impatient(&mut self) {
        select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
