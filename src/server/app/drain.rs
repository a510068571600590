//! The end of a service: its writes that outlived their callers. Not here: the drains of listeners and of domains.

use std::time::Duration;

use futures_util::future::join;
use tokio::time::timeout;

use super::App;

/// How long the last refusals and recordings of calls may take to be written.
const LAST_WRITES: Duration = Duration::from_millis(500);

impl App {
    /// Waits for the writes that outlived their callers, for as long as the drain has left.
    pub(super) async fn finish_writes(&self, forced_end: impl Future<Output = ()>) {
        let wait_until_empty = async {
            self.wait_drained().await;
            self.tools.in_flight().wait_until_empty().await;
        };
        tokio::select! {
            () = wait_until_empty => {}
            () = forced_end => self.cut_calls(),
        }
    }

    /// Writes the refusals and the recordings of calls that are still in memory.
    pub(super) async fn write_last(&self) {
        let _ =
            join(timeout(LAST_WRITES, self.state.write_refusals(true)), self.write_last_recordings()).await;
    }

    /// Writes the recordings of calls that are still in memory.
    pub(super) async fn write_last_recordings(&self) {
        let _ = timeout(LAST_WRITES, self.tools.recorder().flush()).await;
    }

    /// Ends the calls that are under way.
    pub(super) fn cut_calls(&self) {
        let in_flight = self.tools.in_flight();
        tracing::warn!(calls = in_flight.len(), "the forced end cuts calls whose outcome is now unknown");
        in_flight.shut_down();
    }
}
