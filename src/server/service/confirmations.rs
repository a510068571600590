//! Confirmations as every face offers them: which user sees which, who may decide, and the bounds of a request, once.
//!
//! A face decodes requests and encodes responses in its own form; nothing here is a wire type. Not here: which calls
//! need a confirmation (`toolwire_engine::pipeline`), and its states (`toolwire_state::confirmations`).

mod decide;
mod definition_changes;
mod list;
mod watch;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::select;
use tokio_util::sync::CancellationToken;

pub use self::{
    decide::{Choice, DecisionRequest},
    definition_changes::{DefinitionChange, DefinitionChanges},
    list::{Filter, Page},
    watch::{Watch, WatchEvent},
};
use super::unavailable::unavailable;
use toolwire_base::{clock, offload};
use toolwire_config::RuleTarget;
use toolwire_contract::{ConfirmationId, ConsoleLinks, Refusal, ToolName, proto::v1};
use toolwire_engine::{pipeline::Policy, registry::Registry};
use toolwire_state::{
    Store,
    confirmations::{CallRef, Confirmation, Scope, life::State},
};
use toolwire_tool::context::{User, UserId};

/// Maximum wait for a decision in one request.
pub const MAX_WAIT: Duration = Duration::from_mins(1);

/// The parts that confirmations need.
#[derive(Clone, Debug)]
pub struct Parts {
    pub store: Arc<Store>,
    /// The tools: an approval is bound to the present definition of its tool.
    pub registry: Arc<Registry>,
    pub policy: Arc<dyn Policy>,
    /// Whether users may decide on their own calls.
    pub own_calls: bool,
    /// The time in which an approved one can be used.
    pub use_within: Duration,
    /// Where persons decide.
    pub console: ConsoleLinks,
}

/// Confirmations, as every face offers them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Confirmations(Arc<Parts>);

/// A confirmation as one user sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfirmationView {
    pub confirmation: Confirmation,
    /// Why the user may not decide on it now; `None` if the user may.
    pub why_not: Option<String>,
    /// Whether approval must repeat the tool's name.
    pub name_required: bool,
    /// The position of its last change among what the user sees.
    pub position: u64,
    /// Where persons decide on it; empty without a console.
    pub url: String,
    /// What changed in the definition that it is bound to; none in lists and watches.
    pub definition_changes: DefinitionChanges,
}

/// Which decisions of a user count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionRights {
    /// On calls of other users, of some tool.
    pub approves: bool,
    /// On the user's own calls, of some tool.
    pub approves_own: bool,
}

impl Confirmations {
    /// The confirmations of a store.
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// One confirmation; with `wait`, once it is no longer pending or the wait is over, which it is when `ends` fires,
    /// too.
    pub async fn get(
        &self,
        user: &User,
        id: &str,
        wait: Duration,
        ends: &CancellationToken,
    ) -> Result<ConfirmationView, Refusal> {
        let parsed = id.parse().map_err(|_| unknown(id))?;
        let until = clock::now() + wait.min(MAX_WAIT);
        let mut changes = self.0.store.follow_confirmation(&parsed);
        loop {
            changes.mark_unchanged();
            let confirmation = self.find(user, &parsed).await?;
            let is_over = clock::now() >= until || ends.is_cancelled();
            if is_over || confirmation.state != State::Pending {
                let definition_changes = self.definition_changes(user, &confirmation).await?;
                return Ok(ConfirmationView { definition_changes, ..self.view(user, confirmation) });
            }
            let expires = confirmation.expires_at.duration_since(self.0.store.now()).unwrap_or_default();
            let expires = clock::now().checked_add(expires).unwrap_or(until);
            select! {
                () = self.0.store.confirmation_may_have_changed(&mut changes, until.min(expires)) => {}
                () = ends.cancelled() => {}
            }
        }
    }

    /// What changed in the definition of the tool since an open confirmation was requested, for a user who reads that.
    async fn definition_changes(
        &self,
        user: &User,
        confirmation: &Confirmation,
    ) -> Result<DefinitionChanges, Refusal> {
        let Confirmation { key, asked, state, .. } = confirmation;
        let present = self.0.registry.snapshot().get(&key.tool).cloned();
        let is_same = present.as_ref().is_some_and(|it| it.definition.digest == asked.definition_digest);
        // It is the present definition, too: for who may call the tool, or sees others' calls of it.
        let tool = &key.tool;
        let may_see_tool = self.with_target(tool, |it| self.0.policy.may_call(user, it))
            || self.may_approve(user, confirmation)
            || self.with_target(tool, |it| self.0.policy.may_read_records(user, it));
        if is_same || !state.is_open() || !may_see_tool || !self.may_read(user, confirmation) {
            return Ok(DefinitionChanges::default());
        }
        let before = self.0.store.bound_definition(asked.definition_digest).await;
        let Some(before) = before.map_err(|error| unavailable(&error))? else {
            return Ok(DefinitionChanges::default());
        };
        let after = present.map(|it| it.definition.encoded(v1::ToolView::FullJson).clone());
        let bytes = before.len() + after.as_ref().map_or(0, Bytes::len);
        Ok(offload::if_large(bytes, move || definition_changes::between(&before, after.as_deref())).await)
    }

    /// Withdraws the confirmations of a user's own cancelled call. Returns whether there were any.
    pub async fn withdraw(&self, user: &User, call: CallRef) -> Result<bool, Refusal> {
        let withdrawn = self.0.store.withdraw_confirmations(&user.id, call).await;
        withdrawn.map(|count| count > 0).map_err(|error| unavailable(&error))
    }

    /// Which decisions of a user would count.
    pub fn rights(&self, user: &User) -> DecisionRights {
        let snapshot = self.0.registry.snapshot();
        let policy = &self.0.policy;
        let may_approve = |caller: &UserId| {
            snapshot.tools().any(|tool| policy.may_approve(user, tool.definition.rule_target(), caller))
        };
        // Rights differ by whether the caller is the user, and by nothing else of the caller.
        let other = ["a", "b"].map(|name| name.parse::<UserId>().expect("a name"));
        DecisionRights {
            approves: other.iter().find(|it| **it != user.id).is_some_and(may_approve),
            approves_own: self.0.own_calls && may_approve(&user.id),
        }
    }

    /// The number of pending confirmations: those of a user's calls, and all.
    pub(super) async fn count_pending(&self, user: &UserId) -> Result<(u32, u32), Refusal> {
        self.0.store.count_pending_confirmations(user).await.map_err(|error| unavailable(&error))
    }

    /// A confirmation that the user may see.
    async fn find(&self, user: &User, id: &ConfirmationId) -> Result<Confirmation, Refusal> {
        let found = self.0.store.confirmation(id).await.map_err(|error| unavailable(&error))?;
        found.filter(|it| self.may_see(user, it)).ok_or_else(|| unknown(id.as_str()))
    }

    fn may_see(&self, user: &User, confirmation: &Confirmation) -> bool {
        self.is_own(user, confirmation)
            || self.0.policy.may_observe(user)
            || self.may_approve(user, confirmation)
    }

    /// Whether it is of a call of the user, by a tool that the user's token is for. What that tool calls is its own.
    fn is_own(&self, user: &User, confirmation: &Confirmation) -> bool {
        let Confirmation { key, asked, .. } = confirmation;
        let outermost = asked.path.first().unwrap_or(&key.tool);
        key.user == user.id && self.with_target(outermost, |tool| self.0.policy.is_for(user, tool))
    }

    fn may_approve(&self, user: &User, confirmation: &Confirmation) -> bool {
        let key = &confirmation.key;
        self.with_target(&key.tool, |tool| self.0.policy.may_approve(user, tool, &key.user))
    }

    /// Whether the user reads what was asked for, and not only that something was.
    fn may_read(&self, user: &User, confirmation: &Confirmation) -> bool {
        let tool = &confirmation.key.tool;
        self.is_own(user, confirmation)
            || self.may_approve(user, confirmation)
            || self.with_target(tool, |tool| self.0.policy.may_read_records(user, tool))
    }

    /// The tool as rules see it.
    fn with_target(&self, tool: &ToolName, decide: impl FnOnce(RuleTarget<'_>) -> bool) -> bool {
        decide(self.0.registry.snapshot().rule_target(tool))
    }

    /// The confirmations among which a user's positions are counted.
    fn scope(&self, user: &User) -> Scope {
        if self.0.policy.sees_others(user) { Scope::All } else { Scope::Own(user.id.clone()) }
    }

    fn view(&self, user: &User, mut confirmation: Confirmation) -> ConfirmationView {
        if !self.may_read(user, &confirmation) {
            // The summary quotes the arguments.
            confirmation.asked.summary = confirmation.key.tool.to_string();
            confirmation.asked.arguments = None;
        }
        let name_required = confirmation.asked.consequence_level == v1::ConsequenceLevel::High;
        let is_over = (confirmation.state != State::Pending)
            .then(|| format!("it is {} already", confirmation.state.into_str()));
        let why_not = is_over.or_else(|| self.lacks_right(user, &confirmation));
        let position = confirmation.at(&self.scope(user));
        let url = self.0.console.confirmation(&confirmation.id);
        let definition_changes = DefinitionChanges::default();
        ConfirmationView { confirmation, why_not, name_required, position, url, definition_changes }
    }

    /// Why a user may never decide on a confirmation; `None` if the user may.
    fn lacks_right(&self, user: &User, confirmation: &Confirmation) -> Option<String> {
        self.lacks_right_for(user, &confirmation.key.tool, &confirmation.key.user)
    }

    /// Why a user may never decide on calls of a tool that `caller` makes; `None` if the user may.
    pub(super) fn lacks_right_for(&self, user: &User, tool: &ToolName, caller: &UserId) -> Option<String> {
        if *caller == user.id && !self.0.own_calls {
            return Some("it is your own call, which another user must decide on".to_owned());
        }
        let may = self.with_target(tool, |target| self.0.policy.may_approve(user, target, caller));
        (!may).then(|| format!("you have no right to approve calls of {tool}"))
    }
}

/// The words are the same whether there is no such confirmation or it is another user's.
fn unknown(id: &str) -> Refusal {
    Refusal::UnknownConfirmation { id: id.chars().take(64).collect() }
}
