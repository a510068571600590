//! The progress of a scrape, for all the calls that wait for it. Only the newest message counts, and a later subscriber
//! gets it at once.

use tokio::sync::watch;

use toolwire_tool::context::EventSink;

/// The newest message of a scrape. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress(watch::Sender<String>);

impl Progress {
    pub(super) fn set(&self, message: String) {
        self.0.send_replace(message);
    }

    /// Passes messages on to a caller until `work` ends.
    pub(super) async fn while_waiting<T>(&self, work: impl Future<Output = T>, events: &EventSink) -> T {
        let mut messages = self.0.subscribe();
        if !messages.borrow().is_empty() {
            // A new receiver has seen the present value: without this, a caller that joins would wait for the next one.
            messages.mark_changed();
        }
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                outcome = &mut work => return outcome,
                Ok(()) = messages.changed() => {
                    let message = messages.borrow_and_update().clone();
                    events.progress(None, message);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::poll;
    use tokio::sync::oneshot;

    use super::*;
    use toolwire_contract::Event;

    #[tokio::test]
    async fn a_caller_that_joins_later_gets_the_newest_message() {
        let progress = Progress::default();
        progress.set("a quarter".to_owned());
        progress.set("half".to_owned());
        let (finish, finished) = oneshot::channel();
        let (sink, mut events) = EventSink::speaking();
        let mut waiting = std::pin::pin!(progress.while_waiting(finished, &sink));
        assert!(poll!(&mut waiting).is_pending());
        finish.send(7).unwrap();
        assert_eq!(waiting.await, Ok(7));
        assert!(matches!(events.recv().await, Some(Event::Progress { message, .. }) if message == "half"));
    }
}
