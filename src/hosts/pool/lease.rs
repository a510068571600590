//! A slot that one call holds until it starts.

use super::{Command, Handle, Pool};
use crate::start::Start;

/// Releases its slot when it is dropped before the call has started.
#[derive(Debug)]
pub(crate) struct Lease {
    pool: Pool,
    handle: Option<Handle>,
}

impl Lease {
    pub(super) fn new(pool: Pool, handle: Handle) -> Self {
        Self { pool, handle: Some(handle) }
    }

    /// Starts the call; from here on the stream itself releases the slot. Returns the call if the slot was lost
    /// meanwhile.
    pub(crate) fn start(mut self, start: Box<Start>) -> Result<Handle, Box<Start>> {
        let Some(handle) = self.handle.take() else { return Err(start) };
        match handle.commands.send(Command::Start(start)) {
            Ok(()) => Ok(handle),
            Err(refused) => match refused.0 {
                Command::Start(start) => Err(start),
                _ => unreachable!("it was this call"),
            },
        }
    }

    #[cfg(test)]
    pub(super) fn instance(&self) -> Option<&str> {
        self.handle.as_ref().map(|it| it.instance.as_str())
    }

    /// Gives the slot up without releasing it: the pool itself hands it to another waiter.
    pub(super) fn forget(mut self) {
        self.handle = None;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            self.pool.release(&handle);
        }
    }
}
