//! Lists confirmations, page by page.

use super::{ConfirmationView, Confirmations};
use crate::service::{
    page::{List, PageToken, Sizes},
    request::refuse,
    unavailable::unavailable,
};
use toolwire_contract::Refusal;
use toolwire_state::confirmations::{Confirmation, Criteria, Cursor, MAX_PAGE_BYTES, life::State};
use toolwire_tool::context::{TaskLabel, User, UserId};

const SIZES: Sizes = Sizes { default: 50, max: 200 };

/// Maximum number of tools in a filter.
const MAX_TOOLS: usize = 32;

/// Maximum number of rows per read, and per page: rows that the user may not see cost time, too.
const AT_ONCE: u32 = 200;
const MAX_READ: usize = 10_000;

/// Criteria of a list of confirmations, combined with AND.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Any of these states; any at all if there is none.
    pub states: Vec<State>,
    /// Any of these tools; any at all if there is none.
    pub tools: Vec<String>,
    pub user: Option<UserId>,
    /// Calls on behalf of this task.
    pub task_id: Option<TaskLabel>,
    /// Only those that the viewer may decide now.
    pub decidable: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub confirmations: Vec<ConfirmationView>,
    /// The token of the next page; empty on the last one.
    pub next: String,
}

impl Filter {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.tools.len() > MAX_TOOLS {
            return Err(refuse(
                "filter.tools",
                "max_items",
                &format!("must have at most {MAX_TOOLS} elements"),
            ));
        }
        Ok(())
    }

    /// Whether a confirmation passes, as its user sees it.
    pub(super) fn passes(&self, viewed: &ConfirmationView) -> bool {
        let Confirmation { state, key, asked, .. } = &viewed.confirmation;
        (self.states.is_empty() || self.states.contains(state))
            && (self.tools.is_empty() || self.tools.iter().any(|tool| *tool == *key.tool))
            && self.user.as_ref().is_none_or(|user| *user == key.user)
            && (self.task_id.is_none() || self.task_id == asked.task_id)
            && (!self.decidable || viewed.why_not.is_none())
    }

    /// The criteria that the store can apply.
    fn criteria(&self) -> Criteria {
        let states = if self.decidable { vec![State::Pending] } else { self.states.clone() };
        Criteria { states, tools: self.tools.clone(), user: self.user.clone(), task_id: self.task_id.clone() }
    }
}

impl Confirmations {
    /// The confirmations that the user may see and that pass the filter: pending ones first, the oldest first; then the
    /// others, the last changed first. A page may have fewer entries than there are left; `size` 0 is the usual size.
    pub async fn list(&self, user: &User, filter: &Filter, size: i32, token: &str) -> Result<Page, Refusal> {
        filter.check()?;
        let size = SIZES.of(size)? as usize;
        let page_token = PageToken::of(&self.0.store, List::CONFIRMATIONS, &user.id, filter).await?;
        let mut from = page_token.decode(token)?.map(cursor);
        let next = |from: Option<_>| from.map_or_else(String::new, |from| page_token.encode(bytes_of(from)));
        let Some(criteria) = self.criteria(user, filter) else {
            return Ok(Page { confirmations: Vec::new(), next: String::new() });
        };
        let (scope, mut page, mut read, mut bytes) = (self.scope(user), Vec::new(), 0, 0);
        loop {
            let part = self.0.store.list_confirmations(&user.id, (&scope, &criteria), from, AT_ONCE).await;
            let part = part.map_err(|error| unavailable(&error))?;
            for row in part.confirmations {
                let cursor = row.cursor(&scope);
                read += 1;
                if let Some(viewed) = self.view_row(user, filter, row) {
                    bytes += weight(&viewed);
                    if page.len() == size || bytes > MAX_PAGE_BYTES && !page.is_empty() {
                        return Ok(Page { confirmations: page, next: next(from) });
                    }
                    page.push(viewed);
                }
                from = Some(cursor);
            }
            if !part.more {
                return Ok(Page { confirmations: page, next: String::new() });
            }
            if read >= MAX_READ {
                return Ok(Page { confirmations: page, next: next(from) });
            }
        }
    }

    /// The criteria for the store, restricted to what the user may see; `None` if that is nothing.
    pub(super) fn criteria(&self, user: &User, filter: &Filter) -> Option<Criteria> {
        let mut criteria = filter.criteria();
        if !self.0.policy.sees_others(user) {
            if criteria.user.as_ref().is_some_and(|other| *other != user.id) {
                return None;
            }
            criteria.user = Some(user.id.clone());
        }
        Some(criteria)
    }

    /// The confirmation as the user sees it now, if the user may and it passes.
    pub(super) fn view_row(
        &self,
        user: &User,
        filter: &Filter,
        mut row: Confirmation,
    ) -> Option<ConfirmationView> {
        if !self.may_see(user, &row) {
            return None;
        }
        // Expired, though the timer has not recorded it yet.
        if row.state.is_open() && !row.is_open(self.0.store.now()) {
            row.state = State::Expired;
        }
        Some(self.view(user, row)).filter(|viewed| filter.passes(viewed))
    }
}

/// The bytes of its arguments.
fn weight(viewed: &ConfirmationView) -> usize {
    let arguments = viewed.confirmation.asked.arguments.as_ref();
    arguments.map_or(0, |arguments| serde_json::to_vec(arguments).map_or(0, |json| json.len()))
}

/// A cursor as its page token keeps it.
fn bytes_of(cursor: Cursor) -> [u8; 9] {
    let (kind, position) = match cursor {
        Cursor::Pending(position) => (0, position),
        Cursor::Other(position) => (1, position),
    };
    let position = position.to_be_bytes();
    std::array::from_fn(|index| if index == 0 { kind } else { position[index - 1] })
}

fn cursor([kind, position @ ..]: [u8; 9]) -> Cursor {
    let position = u64::from_be_bytes(position);
    if kind == 0 { Cursor::Pending(position) } else { Cursor::Other(position) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_kept() {
        for at in [Cursor::Pending(7), Cursor::Other(u64::MAX)] {
            assert_eq!(cursor(bytes_of(at)), at);
        }
    }
}
