//! Logs when a piece of work really stopped, and why.

use tokio::time::Instant;

use toolwire_base::clock;
use toolwire_telemetry::milliseconds;
use toolwire_tool::context::{CallId, Cancellation, ToolContext};

/// Logs one line when it is dropped: that is when the work stops, however it stops. Where it was done, the line of the
/// call says so too.
pub(super) struct StopRecord {
    tool: &'static str,
    call_id: CallId,
    cancellation: Cancellation,
    deadline: Instant,
    started: Instant,
    completed: bool,
}

impl StopRecord {
    pub(super) fn begin(tool: &'static str, context: &ToolContext) -> Self {
        // A test waits for this line before it cancels the call, or kills the server.
        tracing::debug!(target: "toolwire::diagnostics", tool_name = tool, call_id = %context.call_id, "work began");
        Self {
            tool,
            call_id: context.call_id,
            cancellation: context.cancellation.clone(),
            deadline: context.deadline.at(),
            started: clock::now(),
            completed: false,
        }
    }

    /// Performs the irreversible effect: a line of the log, which a test outside counts.
    pub(super) fn wrote(&self, context: &ToolContext) {
        let request_id = context.lineage.request_id();
        tracing::debug!(target: "toolwire::diagnostics", tool_name = self.tool, %request_id, "wrote");
    }

    /// The work came to its natural end.
    pub(super) fn complete(mut self) {
        self.completed = true;
    }

    fn cause(&self) -> &'static str {
        match self.cancellation.cause() {
            _ if self.completed => "completed",
            _ if std::thread::panicking() => "panic",
            cause => cause.map_or("dropped", Into::into),
        }
    }
}

impl Drop for StopRecord {
    fn drop(&mut self) {
        /// The level is part of the metadata that `tracing` needs at compile time.
        macro_rules! stopped {
            ($level:ident, $record:expr) => {{
                let now = clock::now();
                let past_deadline = now.saturating_duration_since($record.deadline);
                tracing::$level!(
                    target: "toolwire::diagnostics",
                    tool_name = $record.tool,
                    call_id = %$record.call_id,
                    cause = $record.cause(),
                    ran_ms = milliseconds(now - $record.started),
                    past_deadline_ms = milliseconds(past_deadline),
                    "work stopped"
                );
            }};
        }
        if self.completed { stopped!(debug, self) } else { stopped!(info, self) }
    }
}
