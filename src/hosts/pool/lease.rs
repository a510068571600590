//! A slot in the hands of one call.

use super::{Command, Handle, Pool};
use crate::start::Start;

/// Idle again when it is dropped unused.
#[derive(Debug)]
pub(crate) struct Lease {
    pool: Pool,
    handle: Option<Handle>,
}

impl Lease {
    pub(super) fn new(pool: Pool, handle: Handle) -> Self {
        Self { pool, handle: Some(handle) }
    }

    /// Starts the call. From here on the stream itself says when the slot is idle. Gives the call back if the slot was
    /// lost meanwhile.
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

    /// The slot is handed on otherwise.
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
