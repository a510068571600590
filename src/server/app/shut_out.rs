//! Withdraws the confirmations of users whom a rule shuts out: no person is asked to decide on a call that is not
//! carried out.
//!
//! Not here: the refusal of their requests, and the end of their calls that wait.

use std::{convert::Infallible, time::Duration};

use tokio::time::timeout;

use super::App;
use toolwire_engine::pipeline::{Policy, authorize::wait_for_change};
use toolwire_state::{Store, confirmations::CallRef};

/// How often it looks for what a call asked for that had begun before the rule.
const INTERVAL: Duration = Duration::from_secs(5);

impl App {
    /// Looks at once, when rules change and now and then, for as long as it is polled.
    pub(super) async fn withdraw_of_shut_out(&self) -> Infallible {
        let policy = self.access.policy();
        let mut changes = policy.changes();
        loop {
            let has_some = withdraw(&self.state, &*policy).await;
            let change = wait_for_change(changes.as_mut());
            if has_some {
                let _ = timeout(INTERVAL, change).await;
            } else {
                change.await;
            }
        }
    }
}

/// Returns whether there are such users. What cannot be done now is done later; the state's own watch says why.
async fn withdraw(state: &Store, policy: &dyn Policy) -> bool {
    let shut_out = policy.shut_out();
    if shut_out.is_empty() {
        return false;
    }
    let of_open = state.users_of_open_confirmations().await.unwrap_or_default();
    for user in of_open.iter().filter(|user| shut_out.contains(user)) {
        if let Ok(count @ 1..) = state.withdraw_confirmations(user, CallRef::Any).await {
            tracing::info!(%user, count, "confirmations of a user whom a rule shuts out are withdrawn");
        }
    }
    true
}
