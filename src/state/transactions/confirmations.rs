//! Confirmations. They are stored with the calls that require them, since the transaction that begins a call uses its
//! confirmation.

mod ask;
mod decide;
mod end;
mod quota;
mod read;
mod waiters;

use crate::{Store, confirmations::life::State, topic::Topic};
use toolwire_contract::ConfirmationId;
use toolwire_telemetry::metric;

pub(crate) use self::waiters::Waiters;

impl Store {
    /// Notifies followers and waiters in this process, and updates the metrics, after a commit that changed
    /// confirmations.
    pub(super) fn notify_confirmation_changes(
        &self,
        changed: impl IntoIterator<Item = (ConfirmationId, State)>,
    ) {
        let mut any = false;
        for (id, state) in changed {
            self.confirmation_waiters.notify(&id);
            metric::confirmation_became(state.into_str());
            any = true;
        }
        self.notify(Topic::Confirmations);
        if any {
            self.notify_task_followers();
        }
    }

    /// Notifies followers and all waiters in this process after the end of a task, which withdraws its confirmations.
    pub(super) fn notify_confirmation_withdrawals(&self) {
        self.confirmation_waiters.notify_all();
        self.notify(Topic::Confirmations);
    }
}
