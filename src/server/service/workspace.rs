//! Workspaces as every face offers them: the bounds of a request, and pagination, once.
//!
//! A face decodes requests and encodes responses in its own form; nothing here is a wire type. Not here: the rules for
//! documents (`toolwire_state::workspace`).

use std::fmt;

use crate::service::{
    page::{List, PageToken, Sizes},
    request,
    tasks::Tasks,
};
use toolwire_contract::{DocumentRefusal, Refusal};
use toolwire_engine::pipeline::task_refusal;
use toolwire_state::{
    documents::{Content, Criteria, Document, Version},
    tasks::{MAX_PAGE_BYTES, Refused},
    workspace::{Hits, Workspace, WorkspaceHandle},
};
use toolwire_tool::context::{TaskId, User};

/// The sizes of pages and of answers.
const PAGE: Sizes = Sizes { default: 100, max: 1_000 };
const HITS: Sizes = Sizes { default: 20, max: 100 };

/// Maximum number of tags in a filter.
const MAX_TAGS: usize = 32;

/// Maximum length of a text in a filter, in bytes.
const MAX_FILTER_LENGTH: usize = 512;

/// Workspaces, as every face offers them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Workspaces(Workspace);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// The token of the next page; empty on the last one.
    pub next: String,
}

impl Workspaces {
    /// The workspaces as they are.
    pub fn new(workspace: Workspace) -> Self {
        Self(workspace)
    }

    /// The workspace of a task. The user is recorded as the author of writes; see `of_leased_task` for those of an
    /// agent.
    pub async fn of_task(&self, user: &User, task_id: &str) -> Result<WorkspaceHandle, Refusal> {
        if task_id.is_empty() {
            return Err(request::refuse("task_id", "required", "must name a task; CreateTask begins one"));
        }
        // A malformed name is as unknown as another user's task.
        let unknown = || DocumentRefusal::UnknownTask { task_id: task_id.chars().take(64).collect() };
        let task: TaskId = task_id.parse().map_err(|_| unknown())?;
        Ok(self.0.of_task(user, &task).await?.as_person())
    }

    /// The same for the agent that holds the lease of the task. The task is recorded as the author of writes.
    pub async fn of_leased_task(
        &self,
        tasks: &Tasks,
        user: &User,
        task_id: &str,
        lease_token: u64,
    ) -> Result<WorkspaceHandle, Refusal> {
        let workspace = self.of_task(user, task_id).await?;
        if lease_token == 0 {
            return Ok(workspace);
        }
        let task = tasks.get(user, task_id).await?;
        if task.state.is_final() {
            return Err(task_refusal(&task.id, Refused::Ended(task.state).into()));
        }
        match task.leased(self.0.store().now()) {
            Some(lease) if lease.token == lease_token => Ok(self.0.of_task(user, &task.id).await?),
            lease => {
                let holder = lease.map(|lease| lease.holder.clone()).unwrap_or_default();
                let token = task.lease.as_ref().map_or(0, |lease| lease.token);
                Err(task_refusal(&task.id, Refused::LeaseLost { holder, token }.into()))
            }
        }
    }

    /// The documents of a workspace that pass, by path.
    pub async fn list(
        &self,
        workspace: &WorkspaceHandle,
        criteria: &Criteria,
        size: i32,
        token: &str,
    ) -> Result<Page<Document>, Refusal> {
        check(criteria)?;
        let size = PAGE.of(size)?;
        let page_token = self.page_token(workspace, List::DOCUMENTS, criteria).await?;
        let after: String = page_token.decode(token)?.unwrap_or_default();
        let mut items = workspace.list(criteria, &after, size + 1).await?;
        let goes_on = cut(&mut items, size, document_size);
        let next = match items.last() {
            Some(last) if goes_on => page_token.encode(&last.path),
            _ => String::new(),
        };
        Ok(Page { items, next })
    }

    /// The versions of a document, the newest first.
    pub async fn versions(
        &self,
        workspace: &WorkspaceHandle,
        path: &str,
        size: i32,
        token: &str,
    ) -> Result<Page<Version>, Refusal> {
        let size = PAGE.of(size)?;
        let page_token = self.page_token(workspace, List::VERSIONS, &path).await?;
        let below = page_token.decode(token)?.map_or(u32::MAX, u32::from_be_bytes);
        let mut items = workspace.versions(path, below, size + 1).await?;
        let goes_on = cut(&mut items, size, version_size);
        let next = match items.last() {
            Some(last) if goes_on => page_token.encode(last.version.to_be_bytes()),
            _ => String::new(),
        };
        Ok(Page { items, next })
    }

    /// The documents of a workspace that match a query and pass, best first.
    pub async fn search(
        &self,
        workspace: &WorkspaceHandle,
        query: &str,
        criteria: &Criteria,
        size: i32,
    ) -> Result<Hits, Refusal> {
        check(criteria)?;
        let size = HITS.of(size)?;
        Ok(workspace.search(query, criteria, size as usize).await?)
    }

    /// The page tokens of a list, which is bound to the tree as well.
    async fn page_token(
        &self,
        workspace: &WorkspaceHandle,
        list: List,
        criteria: &(impl fmt::Debug + Sync),
    ) -> Result<PageToken, Refusal> {
        PageToken::of(self.0.store(), list, workspace.user(), &(workspace.root(), criteria)).await
    }
}

/// Truncates to one page: at most this many items, and no more bytes than a page may have, but at least one item.
/// Returns whether there is more.
fn cut<T>(items: &mut Vec<T>, most: u32, size_of: impl Fn(&T) -> usize) -> bool {
    let mut bytes = 0;
    let fits = |item: &&T| {
        bytes += size_of(item);
        bytes <= MAX_PAGE_BYTES
    };
    let fitting = items.iter().take_while(fits).count().clamp(1, most as usize);
    let goes_on = items.len() > fitting;
    items.truncate(fitting);
    goes_on
}

fn document_size(document: &Document) -> usize {
    let Document { path, description, tags, created_by, updated_by, content, .. } = document;
    let tags: usize = tags.iter().map(String::len).sum();
    path.len() + description.len() + tags + created_by.len() + updated_by.len() + content_size(content)
}

fn version_size(version: &Version) -> usize {
    version.why.len() + version.written_by.len() + content_size(&version.content)
}

/// Includes an estimate of the parts of fixed length.
fn content_size(content: &Content) -> usize {
    content.summary.len() + content.mime_type.len() + 256
}

fn check(criteria: &Criteria) -> Result<(), Refusal> {
    let Criteria { path_prefix, tags, mime_type, created_by, updated_by, .. } = criteria;
    if tags.len() > MAX_TAGS {
        let what = format!("must have at most {MAX_TAGS} elements");
        return Err(request::refuse("filter.tags", "max_items", &what));
    }
    let texts = [
        ("filter.path_prefix", path_prefix),
        ("filter.mime_type", mime_type),
        ("filter.created_by", created_by),
        ("filter.updated_by", updated_by),
    ];
    let tags = tags.iter().map(|tag| ("filter.tags", tag));
    let long = texts.into_iter().chain(tags).find(|(_, text)| text.len() > MAX_FILTER_LENGTH);
    match long {
        Some((field, _)) => {
            let what = format!("must have at most {MAX_FILTER_LENGTH} bytes");
            Err(request::refuse(field, "max_length", &what))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_as_many_as_fit_and_one_at_least() {
        let page = |sizes: &[usize], most| {
            let mut items = sizes.to_vec();
            let goes_on = cut(&mut items, most, |size| *size);
            (items.len(), goes_on)
        };
        let half = MAX_PAGE_BYTES / 2;
        assert_eq!([page(&[half; 2], 3), page(&[half; 3], 3)], [(2, false), (2, true)]);
        assert_eq!(
            [page(&[1; 3], 2), page(&[3 * half; 2], 2), page(&[], 2)],
            [(2, true), (1, true), (0, false)]
        );
    }

    #[test]
    fn a_filter_is_bounded() {
        let long = "x".repeat(513);
        assert!(check(&Criteria { tags: vec![String::new(); 33], ..Criteria::default() }).is_err());
        assert!(check(&Criteria { tags: vec![long.clone()], ..Criteria::default() }).is_err());
        assert!(check(&Criteria { path_prefix: long, ..Criteria::default() }).is_err());
        assert!(check(&Criteria::default()).is_ok());
    }
}
