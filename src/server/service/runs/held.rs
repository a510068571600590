//! The lease of a task, given back whatever becomes of the work on it.

use crate::service::tasks::Tasks;
use toolwire_tool::context::{TaskId, User};

pub(super) struct Held {
    /// `None` once it is given back.
    of: Option<(Tasks, User, TaskId)>,
    token: u64,
}

impl Held {
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

impl Drop for Held {
    fn drop(&mut self) {
        // Whoever asked for the work has left: the next one need not wait for the lease to end.
        if let Some((tasks, user, id)) = self.of.take() {
            let token = self.token;
            tokio::spawn(async move {
                let _ = tasks.release(&user, id.as_str(), token).await;
            });
        }
    }
}
