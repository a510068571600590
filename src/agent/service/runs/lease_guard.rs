//! A guard that releases the lease of a task in any case.

use toolwire_server::service::tasks::Tasks;
use toolwire_tool::context::{TaskId, User};

pub(super) struct LeaseGuard {
    /// `None` once it is given back.
    of: Option<(Tasks, User, TaskId)>,
    token: u64,
}

impl LeaseGuard {
    pub(super) fn new(tasks: &Tasks, user: &User, id: &TaskId, token: u64) -> Self {
        Self { of: Some((tasks.clone(), user.clone(), id.clone())), token }
    }

    /// Gives it back. That of a task which has ended is gone already.
    pub(super) async fn release(mut self) {
        if let Some((tasks, user, id)) = self.of.take() {
            let _ = tasks.release(&user, id.as_str(), self.token).await;
        }
    }
}

impl Drop for LeaseGuard {
    fn drop(&mut self) {
        // The run was dropped: release the lease now, so that the next run need not wait for it to expire.
        if let Some((tasks, user, id)) = self.of.take() {
            let token = self.token;
            tokio::spawn(async move {
                let _ = tasks.release(&user, id.as_str(), token).await;
            });
        }
    }
}
