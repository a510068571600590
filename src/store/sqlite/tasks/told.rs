//! What came of a change of tasks, told: to who asked, and to who follows.

use std::time::SystemTime;

use tokio::sync::watch;

use super::fault::Fault;
use crate::{
    StoreError,
    sqlite::{Sqlite, follow::Topic},
    tasks::{Refused, TaskError, life::State},
};
use toolwire_tool::context::TaskId;

impl Sqlite {
    /// Tells that something was committed here.
    pub(in crate::sqlite) fn tasks_changed(&self) {
        self.followers.tell(Topic::Tasks);
    }

    pub(super) async fn follow_tasks(&self) -> Result<watch::Receiver<u64>, StoreError> {
        self.follow(Topic::Tasks).await
    }

    pub(super) fn told<T>(&self, done: Result<T, Fault>) -> Result<T, TaskError> {
        match done {
            Ok(done) => Ok(done),
            Err(Fault::Refused(refused)) => Err(refused.into()),
            Err(Fault::Overdue) => Err(Refused::Ended(State::Failed).into()),
            Err(Fault::Failed(failed)) => self.explain(Err(failed)).map_err(TaskError::Store),
        }
    }

    /// The same; a task that is found overdue is failed first.
    pub(super) async fn told_in_time<T>(
        &self,
        id: &TaskId,
        now: SystemTime,
        done: Result<T, Fault>,
    ) -> Result<T, TaskError> {
        if matches!(done, Err(Fault::Overdue)) {
            let failed = self.fail_overdue(id, now).await;
            self.told(failed)?;
        }
        self.told(done)
    }
}
