//! The end of a service: its writes that outlived their callers. Not here: the drains of listeners and of domains.

use super::App;

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

    /// Ends the calls that are under way.
    pub(super) fn cut_calls(&self) {
        let in_flight = self.tools.in_flight();
        tracing::warn!(calls = in_flight.len(), "the forced end cuts calls whose outcome is now unknown");
        in_flight.shut_down();
    }
}
