//! Lists and changes of tasks.

use tokio::sync::watch;

use crate::{
    Store,
    tasks::{
        Changes, Cursor, Filter, MAX_PAGE_BYTES, Refused, Scope, Task, TaskError, TaskPage, Tree,
        rows::{
            self, StoredTask,
            list::{self, Order},
            timeline_usage,
        },
    },
    topic::Topic,
};
use toolwire_base::digest::Digest;
use toolwire_db::{
    Error, StoreError,
    sql::{self, Connection},
};
use toolwire_tool::context::{TaskId, UserId};

impl Store {
    pub async fn task(&self, user: &UserId, id: &TaskId) -> Result<Task, TaskError> {
        let task = self.fetch_optional(rows::find_of_user(user, id)).await?;
        task.map(|it| it.task).ok_or_else(|| Refused::Unknown.into())
    }

    pub async fn task_tree(&self, user: &UserId, id: &TaskId) -> Result<Tree, TaskError> {
        self.fetch_optional(rows::tree(user, id)).await?.ok_or_else(|| Refused::Unknown.into())
    }

    /// A secret of the task: stable, and unpredictable outside of the store.
    pub async fn task_secret(&self, id: &TaskId) -> Result<Digest, TaskError> {
        Ok(self.secret_of(id.as_str()).await?)
    }

    /// A page of a user's tasks after a cursor, bounded by [`MAX_PAGE_BYTES`].
    pub async fn tasks(
        &self,
        user: &UserId,
        filter: &Filter,
        from: Option<Cursor>,
        limit: u32,
    ) -> Result<TaskPage, TaskError> {
        let read = async {
            let order = match filter.scope {
                Scope::Tree(_) => Order::OldestFirst(from),
                Scope::All | Scope::Roots => Order::NewestFirst(from),
            };
            let mut reader = self.reader_for(user).await?;
            let mut snapshot = sql::view(&mut reader).await?;
            // One more than the page has, to see whether there is another page.
            let sizes = list::sizes(user, filter, order, u64::from(limit) + 1).all(&mut snapshot).await?;
            let count = count_fitting(&sizes).min(limit as usize);
            let stored = read_numbered(&mut snapshot, sizes.get(..count).unwrap_or(&sizes)).await?;
            let next = stored.last().filter(|_| stored.len() < sizes.len()).map(|last| last.number);
            Ok(TaskPage { tasks: stored.into_iter().map(|it| it.task).collect(), next })
        };
        Ok(self.explain(read.await)?)
    }

    /// A user's tasks that changed after a position, in the order of their last changes. After position 0, only tasks
    /// that have not ended.
    pub async fn task_changes(
        &self,
        user: &UserId,
        filter: &Filter,
        after: u64,
        limit: u32,
    ) -> Result<Changes, TaskError> {
        let read = async {
            let mut reader = self.reader_for(user).await?;
            let mut snapshot = sql::view(&mut reader).await?;
            let last = timeline_usage::position(user).one(&mut snapshot).await?;
            let order = Order::ByChange(after);
            let sizes = list::sizes(user, filter, order, limit.into()).all(&mut snapshot).await?;
            let count = count_fitting(&sizes);
            let stored = read_numbered(&mut snapshot, sizes.get(..count).unwrap_or(&sizes)).await?;
            let tasks: Vec<Task> = stored.into_iter().map(|it| it.task).collect();
            let more = tasks.len() < sizes.len() || sizes.len() == limit as usize;
            let up_to = match (more, tasks.last()) {
                (true, Some(last)) => last.position,
                _ => last,
            };
            Ok(Changes { tasks, up_to, more })
        };
        Ok(self.explain(read.await)?)
    }

    /// A receiver that changes when any process may have changed a task. Commits of other processes are noticed within
    /// 50 ms.
    pub async fn follow_tasks(&self) -> Result<watch::Receiver<u64>, StoreError> {
        self.follow(Topic::Tasks).await
    }

    /// Notifies followers of tasks after a commit.
    pub(in crate::transactions) fn notify_task_followers(&self) {
        self.notify(Topic::Tasks);
    }
}

/// The tasks of these numbers, in their order.
async fn read_numbered(db: &mut Connection, sizes: &[(Cursor, u64)]) -> Result<Vec<StoredTask>, Error> {
    let numbers: Vec<Cursor> = sizes.iter().map(|(number, _)| *number).collect();
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let mut tasks = list::numbered(&numbers).all(db).await?;
    tasks.sort_by_key(|task| numbers.iter().position(|number| *number == task.number));
    Ok(tasks)
}

/// The number of tasks that fit into a page: at least one.
fn count_fitting(sizes: &[(Cursor, u64)]) -> usize {
    let mut bytes = 0;
    let fits = |(_, size): &&(Cursor, u64)| {
        bytes += *size;
        bytes <= MAX_PAGE_BYTES as u64
    };
    sizes.iter().take_while(fits).count().max(1)
}
