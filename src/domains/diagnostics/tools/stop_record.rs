//! Logs when a piece of work really stopped, and why.

use tokio::time::Instant;

use crate::{
    clock,
    context::{StopCause, ToolContext},
};

/// Logs one line when it is dropped: that is when the work stops, however it stops.
pub(super) struct StopRecord {
    tool: &'static str,
    context: ToolContext,
    started: Instant,
    completed: bool,
}

impl StopRecord {
    /// The work begins.
    pub(super) fn begin(tool: &'static str, context: &ToolContext) -> Self {
        Self { tool, context: context.clone(), started: clock::now(), completed: false }
    }

    /// The work came to its natural end.
    pub(super) fn complete(mut self) {
        self.completed = true;
    }

    fn cause(&self) -> &'static str {
        match self.context.cancellation.cause() {
            _ if self.completed => "completed",
            _ if std::thread::panicking() => "panic",
            cause => cause.map_or("dropped", StopCause::name),
        }
    }
}

impl Drop for StopRecord {
    fn drop(&mut self) {
        let now = clock::now();
        tracing::info!(
            target: "toolwire::diagnostics",
            tool_name = self.tool,
            call_id = %self.context.call_id,
            cause = self.cause(),
            ran_ms = (now - self.started).as_secs_f64() * 1000.0,
            past_deadline_ms = now.saturating_duration_since(self.context.deadline.at()).as_secs_f64() * 1000.0,
            "work stopped"
        );
    }
}
