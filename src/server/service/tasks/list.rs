//! Lists tasks, page by page.

use super::Tasks;
use crate::service::{
    page::{List, PageToken, Sizes},
    request::refuse,
};
use toolwire_contract::Refusal;
use toolwire_engine::pipeline::task_refusal;
use toolwire_state::tasks::{Filter, Scope, Task};
use toolwire_tool::context::{TaskId, User};

const SIZES: Sizes = Sizes { default: 100, max: 1_000 };

/// Maximum number of elements of one criterion.
const MAX_CRITERIA: usize = 32;

#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub tasks: Vec<Task>,
    /// The token of the next page; empty on the last one.
    pub next: String,
}

impl Tasks {
    /// The user's tasks that pass the filter. `size` 0 is the usual size.
    pub async fn list(&self, user: &User, filter: &Filter, size: i32, token: &str) -> Result<Page, Refusal> {
        check(filter)?;
        let size = SIZES.of(size)?;
        let page_token = PageToken::of(&self.0.store, List::TASKS, &user.id, filter).await?;
        let from = page_token.decode(token)?.map(u64::from_be_bytes);
        let unnamed = TaskId::generate();
        let id = match &filter.scope {
            Scope::Tree(id) => id,
            Scope::All | Scope::Roots => &unnamed,
        };
        let listed = self.0.store.tasks(&user.id, filter, from, size).await;
        let listed = listed.map_err(|error| task_refusal(id, error))?;
        let next = listed.next.map_or_else(String::new, |place| page_token.encode(place.to_be_bytes()));
        Ok(Page { tasks: listed.tasks, next })
    }
}

/// Checks the bounds of a filter.
pub(super) fn check(filter: &Filter) -> Result<(), Refusal> {
    let most = format!("must have at most {MAX_CRITERIA} elements");
    for (field, count) in [
        ("filter.states", filter.states.len()),
        ("filter.roles", filter.roles.len()),
        ("filter.labels", filter.labels.len()),
    ] {
        if count > MAX_CRITERIA {
            return Err(refuse(field, "max_items", &most));
        }
    }
    Ok(())
}
