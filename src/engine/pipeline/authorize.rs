//! Authorize: whether this user may call this tool. Only an authorized caller learns whether the tool exists.

use std::{fmt::Debug, future::pending, sync::Arc};

use super::{Call, CallResult, Inner, Target};
use crate::registry::{RegisteredTool, Registry, Snapshot, Status};
use futures_util::future::{Either, Ready, ready};
use tokio::sync::watch;
use toolwire_base::middleware::Middleware;
use toolwire_config::RuleTarget;
use toolwire_contract::{Refusal, near};
use toolwire_state::Store;
use toolwire_tool::context::{RefusalLog, RefusedRequest, User, UserId};

/// Decides which tools a user may call and approve.
pub trait Policy: Send + Sync + Debug {
    /// Whether the user may call a tool, which need not exist.
    fn may_call(&self, user: &User, tool: RuleTarget<'_>) -> bool;

    /// Whether it is the request or its token alone, by a toolset, that leaves the tool out: the user may call it.
    fn is_left_out(&self, user: &User, tool: RuleTarget<'_>) -> bool {
        user.is_narrowed() && self.may_call(&user.clone().without_toolsets(), tool)
    }

    /// Whether the user's token is for a tool: one that is bound to toolsets is for their tools alone, whatever the
    /// request names.
    fn is_for(&self, _user: &User, _tool: RuleTarget<'_>) -> bool {
        true
    }

    /// Whether a call that is not allowed is a refusal to record: not where the toolset that the request names, which
    /// is its own choice, alone leaves the tool out.
    fn is_refusal(&self, user: &User, tool: RuleTarget<'_>) -> bool {
        !self.may_call(&user.clone().with_toolset(None), tool)
    }

    /// The scopes to request, separated by spaces, so that a token of the user may call a tool that the present one may
    /// not. `None` if none would do.
    fn scope_to_call(&self, user: &User, tool: RuleTarget<'_>) -> Option<String> {
        let _ = (user, tool);
        None
    }

    /// Whether the user may call a tool of any name; lists then skip the check of each name.
    fn may_call_all(&self, user: &User) -> bool {
        let _ = user;
        false
    }

    /// Whether the user is still one, as the credentials of a while ago said: calls may wait for long.
    fn knows(&self, _user: &User) -> bool {
        true
    }

    /// The users, by their ids, of whom nothing is carried out any more.
    fn shut_out(&self) -> Vec<UserId> {
        Vec::new()
    }

    /// Whether the user may decide on calls of a tool that `caller` makes. Whether users may decide on their own calls
    /// is a separate setting.
    fn may_approve(&self, _user: &User, _tool: RuleTarget<'_>, _caller: &UserId) -> bool {
        false
    }

    /// Whether the user sees confirmations of other users, if only those that the user may decide.
    fn sees_others(&self, user: &User) -> bool {
        self.may_observe(user)
    }

    /// Whether the user sees the confirmations of all users.
    fn may_observe(&self, _user: &User) -> bool {
        false
    }

    /// Whether the user reads the arguments and results of other users' calls of a tool where those calls are seen.
    fn may_read_records(&self, _user: &User, _tool: RuleTarget<'_>) -> bool {
        false
    }

    /// The policy as it stands now, which does not change; `None` for one that never does.
    fn current(&self) -> Option<Arc<dyn Policy>> {
        None
    }

    /// Is notified when the policy has changed; `None` for one that never does.
    fn changes(&self) -> Option<watch::Receiver<u64>> {
        None
    }
}

/// Waits until a policy has changed, by its [`Policy::changes`]; forever if it never does.
pub async fn wait_for_change(changes: Option<&mut watch::Receiver<u64>>) {
    if let Some(changes) = changes
        && changes.changed().await.is_ok()
    {
        return;
    }
    // Without a sender nothing changes any more.
    pending::<()>().await;
}

/// Refuses calls that the policy does not allow, then calls of unknown tools.
#[derive(Clone, Debug)]
pub struct Authorize {
    policy: Arc<dyn Policy>,
    registry: Arc<Registry>,
    refusals: Arc<Store>,
}

impl Authorize {
    /// Refusals are noted in the store.
    pub fn new(policy: Arc<dyn Policy>, registry: Arc<Registry>, refusals: Arc<Store>) -> Self {
        Self { policy, registry, refusals }
    }

    /// Refuses a call that its user may not make, or that names no tool which can be called.
    pub(super) fn check(&self, call: &Call) -> Result<(), Refusal> {
        let tool = call.facts.tool();
        let asks_by_name = matches!(call.target, Target::Tool(_));
        let target =
            tool.map_or(RuleTarget::named(call.target.as_str()), |tool| tool.definition.rule_target());
        let user = &call.context.user;
        if (tool.is_some() || asks_by_name) && !self.policy.may_call(user, target) {
            let (refusal, reason) = denial(&*self.policy, user, target);
            if self.policy.is_refusal(user, target) {
                let (user, origin) = (Some(user), call.context.origin);
                self.refusals.note(&RefusedRequest { reason, user, origin, target: target.name });
            }
            let is_left_out = self.policy.is_left_out(user, target);
            return Err(match (&call.target, refusal) {
                _ if is_left_out => self.unknown_target(call),
                // The words of a tool would reveal that one has the intent.
                (Target::Intent(_), Refusal::PermissionDenied { .. }) => self.unknown_target(call),
                (_, refusal) => refusal,
            });
        }
        let name = target.name;
        match tool.filter(|tool| call.offers(&tool.definition.name)) {
            None => Err(self.unknown_target(call)),
            Some(tool) => match &tool.definition.status {
                Status::Disabled(reason) => {
                    Err(Refusal::ToolDisabled { tool: name.to_owned(), reason: reason.clone() })
                }
                Status::Ready | Status::Degraded(_) => check_digest(call, name),
            },
        }
    }

    fn unknown_target(&self, call: &Call) -> Refusal {
        let snapshot: Arc<Snapshot> = call.context.pins.get_or_pin(|| self.registry.snapshot());
        let may_call = |tool: &RegisteredTool| {
            let target = tool.definition.rule_target();
            self.policy.may_call(&call.context.user, target) && call.offers(target.name)
        };
        match &call.target {
            Target::Tool(name) => {
                let known = snapshot.tools().filter(|tool| may_call(tool));
                let near = near::names(name, known.map(|tool| tool.definition.name.as_str()));
                self.registry.unknown_tool(name, near)
            }
            Target::Intent(intent) => {
                let known = snapshot.intents().filter(|(_, tool)| may_call(tool));
                let near = near::names(intent, known.map(|(intent, _)| intent));
                Refusal::UnknownIntent { intent: intent.clone(), near }
            }
        }
    }
}

/// The refusal of a tool that the user may not call, and its reason for the audit: in the same words whether or not it
/// exists, so that names cannot be probed. A user whom a token of more scope would let call it may know of it.
pub fn denial(policy: &dyn Policy, user: &User, tool: RuleTarget<'_>) -> (Refusal, &'static str) {
    let name = tool.name.to_owned();
    match policy.scope_to_call(user, tool) {
        Some(scope) => (Refusal::InsufficientScope { tool: name, scope }, RefusedRequest::INSUFFICIENT_SCOPE),
        None => (Refusal::PermissionDenied { tool: name }, RefusedRequest::TOOL_NOT_ALLOWED),
    }
}

/// Refuses a call that is bound to another definition.
fn check_digest(call: &Call, name: &str) -> Result<(), Refusal> {
    let expected = call.options.as_ref().and_then(|options| options.expected_digest);
    if expected.is_some_and(|expected| expected != call.tool().definition.digest) {
        return Err(Refusal::DefinitionChanged { tool: name.to_owned() });
    }
    Ok(())
}

impl<S: Inner> Middleware<Box<Call>, S> for Authorize {
    type Future = Either<Ready<CallResult>, S::Future>;

    fn call(&self, call: Box<Call>, inner: &mut S) -> Self::Future {
        match self.check(&call) {
            Err(refusal) => Either::Left(ready(Err(refusal))),
            Ok(()) => Either::Right(inner.call(call)),
        }
    }
}
