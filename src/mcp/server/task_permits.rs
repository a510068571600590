//! Limits on the tasks that run without their client, and the outcomes of tasks that the server does not record.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::model::TaskPayload;

use toolwire_tool::context::RequestId;

/// Maximum number of running tasks.
const MAX: usize = 1_024;
/// The same of one user.
const MAX_OF_USER: usize = 64;
/// Maximum number of outcomes that are kept.
const MAX_ENDS: usize = 256;

#[derive(Debug, Default)]
pub(super) struct TaskPermits {
    /// The calls of the tasks that run, each with its user. There may be several tasks of one call.
    running: Mutex<Vec<(String, RequestId)>>,
    /// The last ends, the oldest first, each with its user and its task.
    ends: Mutex<VecDeque<(String, String, TaskPayload)>>,
}

/// A permit for one task.
#[derive(Debug)]
pub(super) struct Permit {
    permits: Arc<TaskPermits>,
    user: String,
    request_id: RequestId,
}

impl TaskPermits {
    pub(super) fn acquire(self: &Arc<Self>, user: &str, request_id: RequestId) -> Option<Permit> {
        let mut running = lock(&self.running);
        let own = running.iter().filter(|(of, _)| of == user).count();
        if own >= MAX_OF_USER || running.len() >= MAX {
            return None;
        }
        running.push((user.to_owned(), request_id));
        Some(Permit { permits: Arc::clone(self), user: user.to_owned(), request_id })
    }

    /// Whether a task of the user's call runs in this process.
    pub(super) fn is_running(&self, user: &str, request_id: RequestId) -> bool {
        lock(&self.running).iter().any(|(of, id)| of == user && *id == request_id)
    }

    pub(super) fn end_of(&self, user: &str, task_id: &str) -> Option<TaskPayload> {
        let ends = lock(&self.ends);
        ends.iter().find(|(of, id, _)| of == user && id == task_id).map(|(.., payload)| payload.clone())
    }
}

impl Permit {
    /// Keeps the outcome of the task, of which the server has no record.
    pub(super) fn keep_end(&self, task_id: String, payload: TaskPayload) {
        let mut ends = lock(&self.permits.ends);
        if ends.len() == MAX_ENDS {
            ends.pop_front();
        }
        ends.push_back((self.user.clone(), task_id, payload));
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut running = lock(&self.permits.running);
        let own = running.iter().position(|(user, id)| *user == self.user && *id == self.request_id);
        if let Some(own) = own {
            running.swap_remove(own);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acquire(permits: &Arc<TaskPermits>, user: &str) -> Option<Permit> {
        permits.acquire(user, RequestId::generate())
    }

    #[test]
    fn the_tasks_of_a_user_and_of_all_are_bounded() {
        let permits = Arc::new(TaskPermits::default());
        let mut of_riley: Vec<_> =
            (0..MAX_OF_USER).map(|_| acquire(&permits, "riley").expect("room")).collect();
        assert!(acquire(&permits, "riley").is_none());
        assert!(acquire(&permits, "sam").is_some());
        of_riley.pop();
        assert!(acquire(&permits, "riley").is_some());
        let others =
            (0..MAX).filter_map(|number| acquire(&permits, &format!("user-{}", number / MAX_OF_USER)));
        let held: Vec<_> = others.collect();
        assert_eq!(held.len() + of_riley.len(), MAX);
        drop((held, of_riley));
        assert!(lock(&permits.running).is_empty());
    }

    #[test]
    fn a_call_runs_until_its_last_permit_is_dropped() {
        let (permits, id) = (Arc::new(TaskPermits::default()), RequestId::generate());
        let (one, other) = (permits.acquire("riley", id), permits.acquire("riley", id));
        drop(one);
        assert!(permits.is_running("riley", id) && !permits.is_running("sam", id));
        drop(other);
        assert!(!permits.is_running("riley", id));
    }

    #[test]
    fn an_end_is_of_its_user() {
        let permits = Arc::new(TaskPermits::default());
        let permit = acquire(&permits, "riley").expect("room");
        permit.keep_end("t".to_owned(), TaskPayload::Cancelled);
        assert_eq!(permits.end_of("riley", "t"), Some(TaskPayload::Cancelled));
        assert_eq!(permits.end_of("sam", "t"), None);
        (0..MAX_ENDS).for_each(|number| permit.keep_end(number.to_string(), TaskPayload::Cancelled));
        assert_eq!(permits.end_of("riley", "t"), None);
    }
}
