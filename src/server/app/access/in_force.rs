//! The users, issuers, rules and toolsets that are in force. One reading of the settings replaces another whole, and
//! ends the watches of users who lose a right by it.
//!
//! Not here: when the settings are read.

use std::{future::pending, sync::Arc};

use futures_util::future::{BoxFuture, Either, ready};
use tokio::sync::watch;
use tonic::{Code, Status};

use super::callers::Callers;
use crate::faces::http::console_document::TokenOrigins;
use toolwire_base::current::Current;
use toolwire_config::{Auth, Right, RuleTarget, TokenDigest, Toolsets, Who};
use toolwire_contract::status;
use toolwire_engine::{
    pipeline::{
        Policy,
        policy::{AllowAll, ToolsetPolicy},
    },
    registry::Registry,
};
use toolwire_identity::{HostClaims, Origin, SpiffeId};
use toolwire_outgoing::Egress;
use toolwire_tool::context::{Acceptance, BearerToken, KnownBy, User, UserId};
use toolwire_transport::{
    Withdrawals,
    authenticate::{Authenticating, AuthenticationError, Authenticator, Credentials, Proving},
};

/// The users, rules and toolsets in force.
#[derive(Debug)]
pub(super) struct InForce {
    reading: Current<Reading>,
    /// How often they were replaced.
    replaced: watch::Sender<u64>,
    registry: Arc<Registry>,
}

/// One reading of the settings.
#[derive(Debug)]
struct Reading {
    auth: Arc<Auth>,
    toolsets: Toolsets,
    /// What both allow: everything within toolsets where credentials are not required.
    policy: Arc<ToolsetPolicy>,
    /// Users and groups whose requests are refused.
    shut_out: Vec<Who>,
    /// What identifies callers, once the service is served.
    callers: Option<Callers>,
}

impl InForce {
    pub(super) fn new(auth: Auth, toolsets: Toolsets, registry: &Arc<Registry>) -> Self {
        let reading = Current::new(Reading::new(Arc::new(auth), toolsets, None));
        Self { reading, replaced: watch::Sender::new(0), registry: Arc::clone(registry) }
    }

    /// Whether credentials are not required.
    pub(super) fn is_open(&self) -> bool {
        self.reading.load().auth.is_open()
    }

    /// Begins to know callers, and to fetch the keys of issuers, in the runtime of the caller; their clients go out so.
    /// Clients know the server by `public_url`. The tokens of `hosts` prove no users, now and by other settings.
    pub(super) fn begin(&self, egress: &Egress, public_url: Option<&str>, hosts: Vec<HostClaims>) {
        let before = self.reading.load_full();
        let Reading { auth, toolsets, .. } = &*before;
        let callers = Callers::start(auth, toolsets, hosts, (egress, public_url));
        self.reading.replace(Reading::new(Arc::clone(auth), toolsets.clone(), Some(callers)));
    }

    /// Puts others into force, and returns what differs.
    pub(super) fn replace(&self, auth: Auth, toolsets: Toolsets) -> Vec<String> {
        let before = self.reading.load_full();
        // Those of the start, as those of hosts are: listeners have their names by whether there are any.
        let auth = Auth { trusted_proxies: before.auth.trusted_proxies.clone(), ..auth };
        let callers = before.callers.as_ref().map(|it| it.renew(&auth, &toolsets));
        let mut changes = auth.changes_since(&before.auth);
        changes.extend(toolsets.changes_since(&before.toolsets));
        self.reading.replace(Reading::new(Arc::new(auth), toolsets, callers));
        self.replaced.send_modify(|count| *count += 1);
        changes
    }
}

impl TokenOrigins for InForce {
    fn token_origin(&self, issuer: &str) -> Option<Origin> {
        self.reading.load().callers.as_ref()?.token_origin(issuer)
    }
}

impl Policy for InForce {
    fn may_call(&self, user: &User, tool: RuleTarget<'_>) -> bool {
        self.reading.load().policy.may_call(user, tool)
    }

    fn is_for(&self, user: &User, tool: RuleTarget<'_>) -> bool {
        self.reading.load().policy.is_for(user, tool)
    }

    fn scope_to_call(&self, user: &User, tool: RuleTarget<'_>) -> Option<String> {
        self.reading.load().policy.scope_to_call(user, tool)
    }

    fn may_call_all(&self, user: &User) -> bool {
        self.reading.load().policy.may_call_all(user)
    }

    fn knows(&self, user: &User) -> bool {
        self.reading.load().policy.knows(user)
    }

    fn shut_out(&self) -> Vec<UserId> {
        self.reading.load().policy.shut_out()
    }

    fn may_approve(&self, user: &User, tool: RuleTarget<'_>, caller: &UserId) -> bool {
        self.reading.load().policy.may_approve(user, tool, caller)
    }

    fn sees_others(&self, user: &User) -> bool {
        self.reading.load().policy.sees_others(user)
    }

    fn may_observe(&self, user: &User) -> bool {
        self.reading.load().policy.may_observe(user)
    }

    fn may_read_records(&self, user: &User, tool: RuleTarget<'_>) -> bool {
        self.reading.load().policy.may_read_records(user, tool)
    }

    fn current(&self) -> Option<Arc<dyn Policy>> {
        Some(Arc::clone(&self.reading.load().policy) as _)
    }

    fn changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.replaced.subscribe())
    }
}

impl Authenticator for InForce {
    fn authenticate<'a>(&'a self, credentials: Credentials<'a>) -> Authenticating<'a> {
        let reading = self.reading.load();
        let Some(callers) = &reading.callers else {
            return Either::Left(ready(Err(AuthenticationError::Rejected)));
        };
        match callers.authenticate(credentials) {
            Either::Left(identified) if reading.shut_out.is_empty() => Either::Left(identified),
            Either::Left(identified) => Either::Left(ready(reading.admit(identified.into_inner()))),
            // Nothing was done yet: the future that waits keeps the reading by which it began.
            Either::Right(_) => {
                let reading = Arc::clone(&reading);
                Either::Right(Box::pin(async move {
                    let callers = reading.callers.as_ref().expect("they were there");
                    reading.admit(callers.authenticate(credentials).await)
                }))
            }
        }
    }

    fn verify<'a>(&'a self, bearer: &'a [u8]) -> Proving<'a> {
        let reading = self.reading.load();
        let Some(callers) = &reading.callers else {
            return Either::Left(ready(Err(AuthenticationError::Rejected)));
        };
        match callers.verify(bearer) {
            Either::Left(proven) => Either::Left(proven),
            Either::Right(_) => {
                let reading = Arc::clone(&reading);
                Either::Right(Box::pin(async move {
                    reading.callers.as_ref().expect("they were there").verify(bearer).await
                }))
            }
        }
    }

    fn user_of_workload(&self, id: &SpiffeId) -> Option<UserId> {
        self.reading.load().callers.as_ref()?.user_of_workload(id)
    }
}

impl Withdrawals for InForce {
    fn wait_for_loss(&self, user: &User, bearer: Option<&BearerToken>) -> BoxFuture<'static, Status> {
        // Before the settings are read: what is replaced from now on is noticed.
        let mut replaced = self.replaced.subscribe();
        let mut before = self.reading.load_full();
        let (reading, registry) = (self.reading.clone(), Arc::clone(&self.registry));
        let token = bearer.map(|bearer| TokenDigest::of(bearer.expose()));
        let user = user.clone();
        Box::pin(async move {
            // The user was identified a moment ago, perhaps by an earlier reading.
            while before.knows(&user, token.as_ref()) {
                if replaced.changed().await.is_err() {
                    return pending().await;
                }
                let now = reading.load_full();
                if now.shuts_out(&user) {
                    return AuthenticationError::ShutOut(Box::new(user)).into();
                }
                // Without the token there is no right to lose.
                if user.known_by == KnownBy::Token && !now.knows(&user, token.as_ref()) {
                    break;
                }
                if now.withdraws(&before, &user, &registry) {
                    return status_of_loss();
                }
                before = now;
            }
            AuthenticationError::Rejected.into()
        })
    }

    fn wait_for_loss_of_host(&self, token: &Acceptance) -> BoxFuture<'static, ()> {
        let mut replaced = self.replaced.subscribe();
        let (reading, token) = (self.reading.clone(), token.clone());
        Box::pin(async move {
            while reading.load().auth.still_accepts(&token) {
                if replaced.changed().await.is_err() {
                    return pending().await;
                }
            }
        })
    }
}

impl Reading {
    fn new(auth: Arc<Auth>, toolsets: Toolsets, callers: Option<Callers>) -> Self {
        let rights: Arc<dyn Policy> =
            if auth.is_open() { Arc::new(AllowAll) } else { Arc::clone(&auth) as _ };
        let policy = Arc::new(ToolsetPolicy::new(rights, toolsets.clone()));
        let shut_out = auth.shut_out().cloned().collect();
        Self { auth, toolsets, policy, shut_out, callers }
    }

    /// Refuses a user whose credentials are good, and whom a rule shuts out.
    fn admit(&self, identified: Result<User, AuthenticationError>) -> Result<User, AuthenticationError> {
        match identified {
            Ok(user) if self.shuts_out(&user) => Err(AuthenticationError::ShutOut(Box::new(user))),
            identified => identified,
        }
    }

    fn shuts_out(&self, user: &User) -> bool {
        self.shut_out.iter().any(|who| who.means(user))
    }

    /// Whether the user's credentials are still accepted.
    fn knows(&self, user: &User, token: Option<&TokenDigest>) -> bool {
        match user.known_by {
            _ if self.shuts_out(user) => false,
            KnownBy::Token => token.is_some_and(|token| self.auth.has_token(&user.id, token)),
            KnownBy::Issuer
            | KnownBy::JwtSvid
            | KnownBy::Certificate
            | KnownBy::Process
            | KnownBy::Loopback => self.auth.knows(user),
        }
    }

    /// Whether the user has lost a right to something that is offered.
    fn withdraws(&self, before: &Self, user: &User, registry: &Registry) -> bool {
        // A workload has its groups by its entry, not by what it presents.
        let groups = user.grant.as_ref().map(|grant| &grant.groups);
        let entry = self.auth.workload(user);
        if entry.zip(groups).is_some_and(|(it, groups)| groups.iter().any(|group| !it.groups.contains(group)))
        {
            return true;
        }
        let is_bound_alike = user.bound_to.is_none() || self.toolsets == before.toolsets;
        if is_bound_alike && self.auth.is_same_for(&before.auth, user) {
            return false;
        }
        // What a request narrows itself to is no right.
        let user = &user.clone().with_toolset(None);
        let lost_some =
            |right: &Right| before.auth.may_some(user, *right) && !self.auth.may_some(user, *right);
        let lost_of = |tool: RuleTarget<'_>| {
            let rights = |Self { policy, .. }: &Self| {
                let may_approve = policy.may_approve(user, tool, &user.id);
                [policy.may_call(user, tool), may_approve, policy.may_read_records(user, tool)]
            };
            rights(before).into_iter().zip(rights(self)).any(|(had, has)| had && !has)
        };
        Right::ALL.iter().any(lost_some)
            || registry.snapshot().tools().any(|tool| lost_of(tool.definition.rule_target()))
    }
}

fn status_of_loss() -> Status {
    let text = "a right of yours was withdrawn while this was open; begin again with those that you have";
    status::plain(Code::PermissionDenied, "RIGHT_WITHDRAWN", text)
}
