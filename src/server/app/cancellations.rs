//! Follows cancellations from other processes of the same state: of calls that this one carries out, of requests that
//! it answers, and of what domains do.

use std::{convert::Infallible, time::Duration};

use tokio::time::sleep;

use super::App;
use toolwire_engine::pipeline::CallSelector;
use toolwire_state::cancellations::{CancelRequest, Subject};

/// Between two attempts to follow a state that cannot be read.
const TRY_AGAIN: Duration = Duration::from_secs(1);

impl App {
    /// Follows for as long as it is polled.
    pub(super) async fn follow_cancellations(&self) -> Infallible {
        loop {
            // The state's own watch says why it cannot be read.
            if let Ok(mut requests) = self.state.cancel_requests().await {
                loop {
                    for request in requests.next().await {
                        self.cancel(&request).await;
                    }
                }
            }
            sleep(TRY_AGAIN).await;
        }
    }

    /// Follows in a program that is not a server. Other processes see its calls from its first record on; before that,
    /// its state need not be opened.
    pub async fn follow_cancellations_once_seen(&self) -> Infallible {
        self.state.wait_until_seen().await;
        self.follow_cancellations().await
    }

    /// Answers after the cancellation, so that a requester who has the answer knows that it was done.
    async fn cancel(&self, request: &CancelRequest) {
        let CancelRequest { user, subject, .. } = request;
        let was_running = match subject {
            Subject::Call(id) => self.tools.in_flight().cancel(user, CallSelector::Call(*id)).is_some(),
            Subject::Request(id) => self.tools.in_flight().cancel(user, CallSelector::Request(*id)).is_some(),
            Subject::ClientRequest(name) => self.client_requests.cancel(user.to_string(), name.clone()),
            Subject::Turn(_) | Subject::Session(_) | Subject::Job(_) => {
                let cancel = self.attached.cancel.get(subject.into_str());
                cancel.is_some_and(|cancel| cancel(user, subject))
            }
        };
        if let Err(error) = self.state.answer_cancel(request, was_running).await {
            tracing::warn!(%error, subject = subject.into_str(), "a request to cancel cannot be answered");
        }
    }
}
