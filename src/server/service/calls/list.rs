//! Lists calls, page by page: those of this process and the stored records, merged, the newest first.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashSet},
    fmt::Debug,
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
use toolwire_contract::Refusal;
use toolwire_engine::pipeline::{CallEnd, CallInfo};
use toolwire_state::calls::Criteria;
use toolwire_tool::context::{CallId, User, UserId};

const SIZES: Sizes = Sizes { default: 100, max: 1_000 };

/// Maximum number of tools in a filter.
const MAX_TOOLS: usize = 32;

/// Maximum number of rows per read, and per page: rows that are filtered out cost time, too.
const AT_ONCE: u32 = 200;
const MAX_READ: usize = 10_000;

/// Criteria of a list of calls, combined with AND.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Any of these tools; all if empty.
    pub tools: Vec<String>,
    /// Any of these states; all if empty.
    pub states: Vec<State>,
    /// The task; any if empty.
    pub task_id: String,
    /// The session; any if empty.
    pub session_id: String,
    /// The call that made these as nested calls.
    pub parent_call_id: Option<CallId>,
    pub whose: Whose,
    /// The earliest arrival.
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

/// The users whose calls one user sees, of those that a request means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VisibleUsers {
    All,
    One(UserId),
    None,
}

impl Whose {
    /// Those of these that the user sees. `observes`: whether the user may see all users' calls.
    pub fn visible_to(&self, user: &User, observes: bool) -> VisibleUsers {
        match self {
            Self::Everybodys if observes => VisibleUsers::All,
            Self::Own | Self::Everybodys => VisibleUsers::One(user.id.clone()),
            Self::Of(other) if observes || *other == user.id => VisibleUsers::One(other.clone()),
            Self::Of(_) => VisibleUsers::None,
        }
    }
}

/// The calls that a list is of.
struct Scope<'a> {
    /// The user who made them; any user if `None`.
    of: Option<UserId>,
    filter: Cow<'a, Filter>,
    /// Whether the user may read the outcomes.
    shows_results: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The newest first.
    pub calls: Vec<Record>,
    /// The token of the next page; empty on the last one.
    pub next: String,
}

impl Filter {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.tools.len() > MAX_TOOLS {
            let what = format!("must have at most {MAX_TOOLS} elements");
            return Err(refuse("filter.tools", "max_items", &what));
        }
        Ok(())
    }

    pub(super) fn passes_seen(&self, seen: &CallInfo) -> bool {
        let is = |criterion: &str, value: Option<String>| {
            criterion.is_empty() || value.as_deref() == Some(criterion)
        };
        is(&self.task_id, seen.task_id.as_ref().map(ToString::to_string))
            && is(&self.session_id, seen.session_id.as_ref().map(ToString::to_string))
            && (self.parent_call_id.is_none() || self.parent_call_id == seen.parent_call_id)
            && self.since.is_none_or(|since| seen.arrived.wall >= since)
    }

    pub(super) fn passes(&self, record: &Record) -> bool {
        self.has_tool(&record.tool) && (self.states.is_empty() || self.states.contains(&record.state))
    }

    fn has_tool(&self, tool: &str) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|it| it == tool)
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

/// A merge of two sorted lists, the newest first: the calls of this process, and the stored records, which are read in
/// parts.
struct Merge<'a> {
    filter: &'a Filter,
    /// Whether the token of the user is for a tool.
    is_for: &'a (dyn Fn(&str) -> bool + Sync),
    size: usize,
    /// The calls that are known and not on the page yet.
    pending: BTreeMap<CallId, Record>,
    /// The last call that was taken: the page goes on below it.
    before: Option<CallId>,
    page: Vec<Record>,
}

impl Merge<'_> {
    /// Moves the calls that pass the filter to the page, until it is full. Stops below `floor`: records that were not
    /// read yet may come between the calls there. Returns whether the page is full.
    fn take_down_to(&mut self, floor: Option<CallId>) -> bool {
        while let Some(newest) = self.pending.last_entry() {
            if floor.is_some_and(|floor| *newest.key() < floor) {
                break;
            }
            let (call_id, record) = newest.remove_entry();
            self.before = Some(call_id);
            if self.filter.passes(&record) && (record.tool.is_empty() || (self.is_for)(&record.tool)) {
                self.page.push(record);
            }
            if self.page.len() == self.size {
                return true;
            }
        }
        false
    }
}

impl Calls {
    /// The page tokens of a list that counts calls, for one user and one filter.
    pub(in crate::service) async fn page_token(
        &self,
        list: List,
        user: &UserId,
        filter: &(impl Debug + Sync),
    ) -> Result<PageToken, Refusal> {
        PageToken::of(&self.0.store, list, user, filter).await
    }

    /// The calls that the user may see and that pass the filter, the newest first; `size` 0 is the default size. A page
    /// may have fewer entries than there are left.
    pub async fn list(&self, user: &User, filter: &Filter, size: i32, token: &str) -> Result<Page, Refusal> {
        filter.check()?;
        let size = SIZES.of(size)? as usize;
        let page_token = self.page_token(List::CALLS, &user.id, filter).await?;
        let before = page_token.decode(token)?.map(CallId::from_bytes);
        let Some(Scope { of, filter, shows_results }) = self.scope(user, filter) else {
            return Ok(Page::default());
        };
        let filter = &*filter;
        let replica = self.own_name().await;
        let (local, running) = self.list_local(filter, (of.as_ref(), &replica), before);
        let criteria = filter.criteria(of);
        let is_for = |tool: &str| self.is_for(user, tool);
        let mut merge = Merge { filter, is_for: &is_for, size, pending: local, before, page: Vec::new() };
        let mut read = 0;
        loop {
            let rows = self.0.store.list_calls(&criteria, merge.before, AT_ONCE).await;
            let rows = rows.map_err(|error| unavailable(&error))?;
            let is_last = rows.len() < AT_ONCE as usize;
            read += rows.len();
            // Entries from the last row that was read upwards are complete: rows come in order.
            let floor = rows.last().filter(|_| !is_last).map(|row| row.call_id);
            for row in rows {
                let runs = running.contains(&row.call_id);
                let mut record = Record::of_recorded(&row, runs, self.0.cap, self.0.store.now());
                // The record does not say which instance it was.
                if let Some(known) = merge.pending.remove(&row.call_id) {
                    record.instance = known.instance;
                }
                merge.pending.insert(row.call_id, record);
            }
            let is_full = merge.take_down_to(floor);
            // A filter that passes little must not read the whole table in one request: the page ends early.
            let ends_early = !is_last && read >= MAX_READ;
            let has_more = !is_last || !merge.pending.is_empty();
            if is_full || ends_early || !has_more {
                let next = merge.before.filter(|_| has_more).map(|at| page_token.encode(at.as_bytes()));
                let mut calls = merge.page;
                for call in &mut calls {
                    call.result_kept &= shows_results;
                }
                return Ok(Page { calls, next: next.unwrap_or_default() });
            }
        }
    }

    /// The calls that a list for the user is of; `None` if there are none that the user may see.
    fn scope<'a>(&self, user: &User, filter: &'a Filter) -> Option<Scope<'a>> {
        let whole = |of| Some(Scope { of, filter: Cow::Borrowed(filter), shows_results: true });
        match (filter.whose.visible_to(user, self.observes(user)), &filter.whose) {
            (VisibleUsers::All, _) => whole(None),
            (VisibleUsers::One(of), _) => whole(Some(of)),
            (VisibleUsers::None, Whose::Of(other)) => {
                // Criteria of what is read, so that neither a page nor its token tells of calls of other tools.
                let tools = self.tools_to_decide_on(user, other, &filter.tools);
                let filter = Cow::Owned(Filter { tools, ..filter.clone() });
                let scope = Scope { of: Some(other.clone()), filter, shows_results: false };
                Some(scope).filter(|it| !it.filter.tools.is_empty())
            }
            (VisibleUsers::None, _) => None,
        }
    }

    /// The tools that are offered, of these if there are any, whose confirmations the user may decide where another
    /// user calls them.
    fn tools_to_decide_on(&self, user: &User, other: &UserId, of: &[String]) -> Vec<String> {
        let snapshot = self.0.registry.snapshot();
        let tools = snapshot.tools().map(|tool| &tool.definition);
        let tools = tools.filter(|it| of.is_empty() || of.iter().any(|name| *name == *it.name));
        let tools = tools.filter(|it| self.0.policy.may_approve(user, it.rule_target(), other));
        tools.map(|it| it.name.to_string()).collect()
    }

    /// The calls of this process, and which of them are running.
    fn list_local(
        &self,
        filter: &Filter,
        (of, replica): (Option<&UserId>, &str),
        before: Option<CallId>,
    ) -> (BTreeMap<CallId, Record>, HashSet<CallId>) {
        let (running, ended) = self.0.in_flight.list(|seen| {
            of.is_none_or(|user| *user == seen.user)
                && before.is_none_or(|before| seen.call_id < before)
                && filter.passes_seen(seen)
        });
        // Calls that wait for a person are recorded, under the call that requested the confirmation.
        let ended = ended.iter().filter(|call| call.end != CallEnd::AwaitsConfirmation);
        let here = ended.map(|call| Record::of_ended(call, replica));
        let here = here.chain(running.iter().map(|call| Record::of_running(call, replica)));
        let here = here.filter(|record| filter.has_tool(&record.tool));
        let here = here.map(|record| (record.call_id, record)).collect();
        (here, running.iter().map(|call| call.info.call_id).collect())
    }
}
