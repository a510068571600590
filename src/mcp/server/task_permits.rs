//! Limits on detached tasks, and the outcomes of tasks that the server does not record.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::model::TaskPayload;

/// Maximum number of tasks that go on here.
const MAX: usize = 1_024;
/// The same of one user.
const MAX_OF_USER: usize = 64;
/// The number of ends that are kept.
const MAX_ENDS: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Tasks {
    counts: Mutex<HashMap<String, usize>>,
    /// The last ends, the oldest first, each with its user and its task.
    ends: Mutex<VecDeque<(String, String, TaskPayload)>>,
}

/// A permit for one task.
#[derive(Debug)]
pub(super) struct Permit {
    tasks: Arc<Tasks>,
    pub(super) user: String,
}

impl Tasks {
    pub(super) fn admit(self: &Arc<Self>, user: &str) -> Option<Permit> {
        let mut counts = lock(&self.counts);
        let own = counts.get(user).copied().unwrap_or_default();
        if own >= MAX_OF_USER || counts.values().sum::<usize>() >= MAX {
            return None;
        }
        counts.insert(user.to_owned(), own + 1);
        Some(Permit { tasks: Arc::clone(self), user: user.to_owned() })
    }

    pub(super) fn end_of(&self, user: &str, task_id: &str) -> Option<TaskPayload> {
        let ends = lock(&self.ends);
        ends.iter().find(|(of, id, _)| of == user && id == task_id).map(|(.., payload)| payload.clone())
    }
}

impl Permit {
    /// Keeps how the task ended, of which the server has no record.
    pub(super) fn keep_end(&self, task_id: String, payload: TaskPayload) {
        let mut ends = lock(&self.tasks.ends);
        if ends.len() == MAX_ENDS {
            ends.pop_front();
        }
        ends.push_back((self.user.clone(), task_id, payload));
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut counts = lock(&self.tasks.counts);
        match counts.get_mut(&self.user) {
            Some(count) if *count > 1 => *count -= 1,
            _ => _ = counts.remove(&self.user),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tasks_of_a_user_and_of_all_are_bounded() {
        let tasks = Arc::new(Tasks::default());
        let mut permits: Vec<_> = (0..MAX_OF_USER).map(|_| tasks.admit("riley").expect("room")).collect();
        assert!(tasks.admit("riley").is_none());
        assert!(tasks.admit("sam").is_some());
        permits.pop();
        assert!(tasks.admit("riley").is_some());
        let others = (0..MAX).filter_map(|number| tasks.admit(&format!("user-{}", number / MAX_OF_USER)));
        let held: Vec<_> = others.collect();
        assert_eq!(held.len() + permits.len(), MAX);
        drop((held, permits));
        assert!(lock(&tasks.counts).is_empty());
    }

    #[test]
    fn an_end_is_of_its_user() {
        let tasks = Arc::new(Tasks::default());
        let permit = tasks.admit("riley").expect("room");
        permit.keep_end("t".to_owned(), TaskPayload::Cancelled);
        assert_eq!(tasks.end_of("riley", "t"), Some(TaskPayload::Cancelled));
        assert_eq!(tasks.end_of("sam", "t"), None);
        (0..MAX_ENDS).for_each(|number| permit.keep_end(number.to_string(), TaskPayload::Cancelled));
        assert_eq!(tasks.end_of("riley", "t"), None);
    }
}
