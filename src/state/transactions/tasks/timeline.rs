//! Reading of timelines.

use futures_util::TryStreamExt;

use super::open_calls;
use crate::{
    Store,
    tasks::{
        CallEntry, MAX_PAGE_BYTES, Memories, OpenCall, Page, PageRequest, Refused, TaskError,
        entry::Entry,
        rows::{
            self,
            entries::{self, StoredEntry},
            memories::{self, Scope},
        },
    },
};
use toolwire_db::Error;
use toolwire_tool::context::{RequestId, TaskId, UserId};

impl Store {
    /// Number of entries of a user's task.
    async fn count_entries(&self, user: &UserId, id: &TaskId) -> Result<u64, TaskError> {
        self.fetch_optional(rows::next_sequence(user, id)).await?.ok_or_else(|| Refused::Unknown.into())
    }

    /// A page of a timeline, bounded by [`MAX_PAGE_BYTES`]. External texts are not loaded.
    pub async fn timeline_page(
        &self,
        user: &UserId,
        id: &TaskId,
        page: PageRequest,
    ) -> Result<Page, TaskError> {
        let total = self.count_entries(user, id).await?;
        let entries = self.explain(self.read_entries(user, id, page).await)?;
        let next = entries.last().map(|last| last.sequence).and_then(|last| {
            if page.backwards { last.checked_sub(1) } else { Some(last + 1).filter(|next| *next < total) }
        });
        Ok(Page { entries, next })
    }

    async fn read_entries(&self, user: &UserId, id: &TaskId, page: PageRequest) -> Result<Vec<Entry>, Error> {
        let mut reader = self.reader_for(user).await?;
        let mut rows = entries::page(id, page.from, page.backwards, page.limit).rows(&mut reader);
        let (mut entries, mut total) = (Vec::new(), 0);
        while let Some(StoredEntry { entry, bytes }) = rows.try_next().await? {
            total += bytes;
            if total > MAX_PAGE_BYTES && !entries.is_empty() {
                break;
            }
            entries.push(entry);
        }
        Ok(entries)
    }

    /// An entry with its external texts.
    pub async fn timeline_entry(
        &self,
        user: &UserId,
        id: &TaskId,
        sequence: u64,
    ) -> Result<Option<Entry>, TaskError> {
        let page = PageRequest { from: Some(sequence), backwards: false, limit: 1 };
        let found = self.timeline_page(user, id, page).await?.entries.into_iter().next();
        let Some(mut entry) = found.filter(|entry| entry.sequence == sequence) else { return Ok(None) };
        let mut reader = self.reader().await?;
        self.explain(entries::read_external(&mut reader, &mut entry).await)?;
        Ok(Some(entry))
    }

    /// The newest entry of a call, and the state of its task.
    pub async fn entry_of_call(
        &self,
        user: &UserId,
        id: &TaskId,
        request_id: RequestId,
    ) -> Result<Option<CallEntry>, TaskError> {
        self.count_entries(user, id).await?;
        Ok(self.fetch_optional(entries::newest_of_call(id, request_id)).await?)
    }

    /// The open calls of a task.
    pub async fn open_calls(&self, user: &UserId, id: &TaskId) -> Result<Vec<OpenCall>, TaskError> {
        self.count_entries(user, id).await?;
        let mut reader = self.reader().await?;
        Ok(self.explain(open_calls::list(&mut reader, id).await)?)
    }

    /// The newest saved notes for the task's tree and for its user; at most `limit` of each.
    pub async fn task_memories(&self, user: &UserId, id: &TaskId, limit: u32) -> Result<Memories, TaskError> {
        let root = self.task_tree(user, id).await?.root;
        let mut tree = self.fetch_all(memories::newest(Scope::Tree(&root), limit)).await?;
        let mut user = self.fetch_all(memories::newest(Scope::User(user), limit)).await?;
        // The oldest first, as a model reads them.
        tree.reverse();
        user.reverse();
        Ok(Memories { tree, user })
    }
}
