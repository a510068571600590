//! A call that was handed to a slot: asked to stop once, by its caller, its deadline, or by being dropped.

use crate::{
    pool::{Command, Handle},
    wire::CancelReason,
};
use toolwire_tool::context::{StopCause, ToolContext};

#[derive(Debug)]
pub(super) struct RunningCall<'a> {
    handle: Handle,
    context: &'a ToolContext,
    may_cancel: bool,
}

impl<'a> RunningCall<'a> {
    pub(super) fn new(handle: Handle, context: &'a ToolContext) -> Self {
        Self { handle, context, may_cancel: true }
    }

    pub(super) fn may_cancel(&self) -> bool {
        self.may_cancel
    }

    pub(super) fn cancel(&mut self) {
        if std::mem::take(&mut self.may_cancel) {
            // A slot that is lost meanwhile ends the call by itself.
            let _ = self.handle.commands.send(Command::Cancel(self.context.call_id, self.reason()));
        }
    }

    /// The slot carries it out no more.
    pub(super) fn end(&mut self) {
        self.may_cancel = false;
    }

    fn reason(&self) -> CancelReason {
        match self.context.cancellation.cause() {
            Some(StopCause::Deadline | StopCause::Timeout) => CancelReason::Deadline,
            Some(StopCause::Shutdown) => CancelReason::Shutdown,
            Some(StopCause::Cancelled | StopCause::CallerGone) | None => CancelReason::Requested,
        }
    }
}

impl Drop for RunningCall<'_> {
    /// The pipeline drops a read that nothing waits for, and a write at the server's cap.
    fn drop(&mut self) {
        self.cancel();
    }
}
