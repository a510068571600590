//! What asks a server to end: SIGTERM and SIGINT.

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
}

impl Signals {
    /// Listens from now on; the signals no longer kill the process by themselves.
    pub(super) fn install() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for either.
    pub(super) async fn either(&mut self) {
        select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    /// Waits for a person at the keyboard.
    pub(super) async fn interrupt(&mut self) {
        self.interrupt.recv().await;
    }
}
