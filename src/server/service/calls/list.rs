//! Lists calls, page by page: what this process knows and what is recorded, merged, the newest first.

use std::{
    collections::{BTreeMap, HashSet},
    time::SystemTime,
};

use super::{
    super::{
        page::{List, PageToken, Sizes},
        request::refuse,
        unavailable::unavailable,
    },
    Calls, Record, State,
};
use toolwire_base::clock;
use toolwire_contract::Refusal;
use toolwire_engine::pipeline::{CallEnd, CallInfo};
use toolwire_store::calls::Criteria;
use toolwire_tool::context::{CallId, User, UserId};

const SIZES: Sizes = Sizes { usual: 100, most: 1_000 };

/// The most tools of a filter.
const MOST_TOOLS: usize = 32;

/// How many rows are read at once, and for one page at most: rows that are filtered out cost time too.
const AT_ONCE: u32 = 200;
const MOST_READ: usize = 10_000;

/// Criteria of a list of calls, combined with AND.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Any of these tools; any at all if there is none.
    pub tools: Vec<String>,
    /// Any of these states; any at all if there is none.
    pub states: Vec<State>,
    /// The task; any if empty.
    pub task_id: String,
    /// The session; any if empty.
    pub session_id: String,
    /// The call that made them.
    pub parent_call_id: Option<CallId>,
    pub whose: Whose,
    /// Came at or after this instant.
    pub since: Option<SystemTime>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Whose {
    #[default]
    Own,
    /// Every user's, for observers; otherwise the user's own.
    Everybodys,
    /// Those of this user.
    Of(UserId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// What is on it, the newest first.
    pub calls: Vec<Record>,
    /// Where the next one begins; empty on the last one.
    pub next: String,
}

impl Filter {
    fn check(&self) -> Result<(), Refusal> {
        if self.tools.len() > MOST_TOOLS {
            let what = format!("must have at most {MOST_TOOLS} elements");
            return Err(refuse("filter.tools", "max_items", &what));
        }
        Ok(())
    }

    fn passes_seen(&self, seen: &CallInfo) -> bool {
        let is = |wanted: &str, found: Option<String>| wanted.is_empty() || found.as_deref() == Some(wanted);
        is(&self.task_id, seen.task_id.as_ref().map(ToString::to_string))
            && is(&self.session_id, seen.session_id.as_ref().map(ToString::to_string))
            && (self.parent_call_id.is_none() || self.parent_call_id == seen.parent_call_id)
            && self.since.is_none_or(|since| seen.arrived.wall >= since)
    }

    fn passes(&self, record: &Record) -> bool {
        (self.tools.is_empty() || self.tools.contains(&record.tool))
            && (self.states.is_empty() || self.states.contains(&record.state))
    }

    fn criteria(&self, user: Option<UserId>) -> Criteria {
        Criteria {
            user,
            tools: self.tools.clone(),
            task_id: self.task_id.clone(),
            session_id: self.session_id.clone(),
            parent_call_id: self.parent_call_id,
            since: self.since,
        }
    }
}

impl Calls {
    /// The calls that the user may see and that pass the filter, the newest first; `size` 0 is the usual size. A page
    /// may have fewer entries than there are left.
    pub async fn list(&self, user: &User, filter: &Filter, size: i32, token: &str) -> Result<Page, Refusal> {
        filter.check()?;
        let size = SIZES.of(size)? as usize;
        let page_token = PageToken::of(&*self.0.store, List::Calls, &user.id, filter).await?;
        let mut before = page_token.place(token)?.map(CallId::from_bytes);
        let of = match (&filter.whose, self.0.policy.may_observe(user)) {
            (Whose::Own, _) | (Whose::Everybodys, false) => Some(user.id.clone()),
            (Whose::Everybodys, true) => None,
            (Whose::Of(other), observes) if observes || *other == user.id => Some(other.clone()),
            (Whose::Of(_), _) => return Ok(Page { calls: Vec::new(), next: String::new() }),
        };
        let (mut here, running) = self.list_local(filter, of.as_ref(), before);
        let criteria = filter.criteria(of);
        let (mut page, mut read) = (Vec::new(), 0);
        // A merge of two sorted lists: the rows of the state, read in pages, and the calls that only this process
        // knows.
        loop {
            let rows = self.0.store.list_calls(&criteria, before, AT_ONCE, clock::wall()).await;
            let rows = rows.map_err(|error| unavailable(&error))?;
            let is_last = rows.len() < AT_ONCE as usize;
            read += rows.len();
            // Down to the last row read, everything is known.
            let floor = rows.last().filter(|_| !is_last).map(|row| row.call_id);
            for row in rows {
                let runs = running.contains(&row.call_id);
                here.insert(row.call_id, Record::of_recorded(&row, runs, self.0.cap));
            }
            // Entries above the floor are complete: no later row can come between them.
            while let Some(newest) = here.last_entry() {
                if floor.is_some_and(|floor| *newest.key() < floor) {
                    break;
                }
                let (call_id, record) = newest.remove_entry();
                before = Some(call_id);
                if filter.passes(&record) {
                    page.push(record);
                }
                if page.len() == size {
                    let goes_on = !is_last || !here.is_empty();
                    let next = if goes_on { page_token.text(call_id.as_bytes()) } else { String::new() };
                    return Ok(Page { calls: page, next });
                }
            }
            match (is_last, before) {
                // A filter that passes little must not read the whole table in one request: the page ends early.
                (false, Some(at)) if read >= MOST_READ => {
                    return Ok(Page { calls: page, next: page_token.text(at.as_bytes()) });
                }
                (false, Some(_)) => {}
                _ => return Ok(Page { calls: page, next: String::new() }),
            }
        }
    }

    /// What this process knows, and which calls run here.
    fn list_local(
        &self,
        filter: &Filter,
        of: Option<&UserId>,
        before: Option<CallId>,
    ) -> (BTreeMap<CallId, Record>, HashSet<CallId>) {
        let (running, ended) = self.0.in_flight.list(|seen| {
            of.is_none_or(|user| *user == seen.user)
                && before.is_none_or(|before| seen.call_id < before)
                && filter.passes_seen(seen)
        });
        // What waits for a person is recorded, under the call that asked first.
        let ended = ended.iter().filter(|call| call.end != CallEnd::AwaitsConfirmation);
        let here = ended.map(Record::of_ended).chain(running.iter().map(Record::of_running));
        let here = here.map(|record| (record.call_id, record)).collect();
        (here, running.iter().map(|call| call.info.call_id).collect())
    }
}
