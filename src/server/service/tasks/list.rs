//! Lists of tasks, a page at a time.

use super::Tasks;
use crate::service::{page::BoundTo, request::refuse, unavailable::unavailable};
use toolwire_contract::Refusal;
use toolwire_engine::pipeline::refused;
use toolwire_store::tasks::{Filter, Place, Scope, Task};
use toolwire_tool::context::{TaskId, User};

/// A page has so many entries unless its caller says otherwise, and at most so many.
const USUAL: u32 = 100;
const MOST: u32 = 1_000;

/// The most elements of one criterion.
const MOST_CRITERIA: usize = 32;

#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub tasks: Vec<Task>,
    /// Where the next one begins; empty on the last one.
    pub next: String,
}

impl Tasks {
    /// The user's tasks that pass the filter. `size` 0 is the usual size.
    pub async fn list(&self, user: &User, filter: &Filter, size: i32, token: &str) -> Result<Page, Refusal> {
        check(filter)?;
        let size = size_of("page_size", size, USUAL, MOST)?;
        let secret = self.0.store.page_secret().await.map_err(|error| unavailable(&error))?;
        let bound_to = BoundTo::new("tasks", user, filter).sealed(&secret);
        let from = bound_to.place(token)?.map(Place::from_be_bytes);
        let unnamed = TaskId::generate();
        let id = match &filter.scope {
            Scope::Tree(id) => id,
            Scope::All | Scope::Roots => &unnamed,
        };
        let listed = self.0.store.tasks(&user.id, filter, from, size).await;
        let listed = listed.map_err(|error| refused(id, error))?;
        let next = listed.next.map_or_else(String::new, |place| bound_to.token(place.to_be_bytes()));
        Ok(Page { tasks: listed.tasks, next })
    }
}

/// Refuses what is too long.
pub(super) fn check(filter: &Filter) -> Result<(), Refusal> {
    let most = format!("must have at most {MOST_CRITERIA} elements");
    for (field, count) in [
        ("filter.states", filter.states.len()),
        ("filter.roles", filter.roles.len()),
        ("filter.labels", filter.labels.len()),
    ] {
        if count > MOST_CRITERIA {
            return Err(refuse(field, "max_items", &most));
        }
    }
    Ok(())
}

/// The size of a page; 0 is the usual one.
pub(super) fn size_of(field: &str, asked: i32, usual: u32, most: u32) -> Result<u32, Refusal> {
    match u32::try_from(asked) {
        Ok(0) => Ok(usual),
        Ok(size) if size <= most => Ok(size),
        _ => Err(refuse(field, "range", &format!("must be from 1 to {most}, or 0 for {usual}"))),
    }
}
