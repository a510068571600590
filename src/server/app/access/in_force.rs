//! The users, issuers and rules that are in force. One reading of the settings replaces another whole, and ends the
//! watches of users who lose a right by it.
//!
//! Not here: when the settings are read.

use std::{future::pending, sync::Arc};

use arc_swap::ArcSwap;
use futures_util::future::{BoxFuture, Either, ready};
use secrecy::ExposeSecret;
use tokio::sync::watch;
use tonic::{Code, Status};

use toolwire_base::clock;
use toolwire_config::{Auth, Right, RuleTarget, TokenDigest};
use toolwire_contract::status;
use toolwire_engine::{pipeline::Policy, registry::Registry};
use toolwire_identity::{Issuer, Issuers};
use toolwire_outgoing::Egress;
use toolwire_tool::context::{Grant, KnownBy, User, UserId};
use toolwire_transport::{
    Withdrawals,
    authenticate::{
        Authenticating, AuthenticationError, Authenticator, Bearer, Credentials, IssuedTokens, StaticTokens,
        TrustedProxies, Workloads,
    },
};

/// The users and rules in force.
#[derive(Debug)]
pub(crate) struct InForce {
    reading: Arc<ArcSwap<Reading>>,
    /// How often they were replaced.
    replaced: watch::Sender<u64>,
    registry: Arc<Registry>,
}

/// One reading of the settings.
#[derive(Debug)]
struct Reading {
    auth: Arc<Auth>,
    /// What identifies callers, once the service is served.
    callers: Option<Callers>,
}

/// What identifies callers by their credentials.
#[derive(Debug)]
struct Callers {
    tokens: Arc<IssuedTokens>,
    /// The tokens beside certificates.
    workloads: Workloads,
    /// What clients that sign in by themselves ask for tokens for.
    resource: Option<String>,
}

impl Callers {
    fn new(auth: &Auth, tokens: IssuedTokens, resource: Option<String>) -> Self {
        let tokens = Arc::new(tokens);
        let proxies = TrustedProxies::new(&auth.trusted_proxies);
        let users = auth.workloads.iter().map(|entry| {
            let grant = Grant { groups: entry.groups.clone(), scopes: Vec::new(), ends_at: None };
            (entry.id.clone(), User { grant: Some(Arc::new(grant)), ..User::new(entry.user.clone()) })
        });
        Self { workloads: Workloads::new(users, proxies, Arc::clone(&tokens) as _), tokens, resource }
    }

    fn renew(&self, auth: &Auth) -> Self {
        let issuers = issuers(auth, self.resource.as_deref());
        Self::new(auth, self.tokens.renew(static_tokens(auth), issuers), self.resource.clone())
    }
}

impl InForce {
    pub(super) fn new(auth: Auth, registry: &Arc<Registry>) -> Self {
        let reading = Arc::new(ArcSwap::from_pointee(Reading { auth: Arc::new(auth), callers: None }));
        Self { reading, replaced: watch::Sender::new(0), registry: Arc::clone(registry) }
    }

    /// Begins to fetch the keys of issuers, in the runtime of the caller; their clients go out so. Clients know the
    /// server by `public_url`.
    pub(super) fn begin(&self, egress: &Egress, public_url: Option<&str>) {
        let auth = Arc::clone(&self.reading.load().auth);
        let resource = public_url.map(|url| format!("{url}/mcp"));
        let issuers = Issuers::start(issuers(&auth, resource.as_deref()), egress, Arc::new(clock::wall));
        let callers = Some(Callers::new(&auth, IssuedTokens::new(static_tokens(&auth), issuers), resource));
        self.reading.store(Arc::new(Reading { auth, callers }));
    }

    /// Puts others into force, and returns what differs.
    pub(super) fn replace(&self, auth: Auth) -> Vec<String> {
        let before = self.reading.load_full();
        // Those of the start, as those of hosts are: listeners have their names by whether there are any.
        let auth = Auth { trusted_proxies: before.auth.trusted_proxies.clone(), ..auth };
        let callers = before.callers.as_ref().map(|it| it.renew(&auth));
        let changes = auth.changes_since(&before.auth);
        self.reading.store(Arc::new(Reading { auth: Arc::new(auth), callers }));
        self.replaced.send_modify(|count| *count += 1);
        changes
    }
}

/// The issuers, with the audience that the tokens for the resource have.
fn issuers(auth: &Auth, resource: Option<&str>) -> Vec<Issuer> {
    let mut issuers = auth.issuers.clone();
    if let Some(resource) = resource {
        for issuer in &mut issuers {
            issuer.audience.push(resource.to_owned());
        }
    }
    issuers
}

fn static_tokens(auth: &Auth) -> StaticTokens {
    StaticTokens::new(auth.users.iter().filter_map(|entry| {
        let user = User {
            id: entry.user_id.clone(),
            email: entry.email.clone(),
            role: entry.role.clone(),
            known_by: KnownBy::Token,
            grant: None,
            workload: None,
            toolset: None,
        };
        Some((entry.token?, user))
    }))
}

impl Policy for InForce {
    fn may_call(&self, user: &User, tool: RuleTarget<'_>) -> bool {
        self.reading.load().auth.may_call(user, tool)
    }

    fn scope_to_call(&self, user: &User, tool: RuleTarget<'_>) -> Option<String> {
        self.reading.load().auth.scope_to_call(user, tool)
    }

    fn may_call_all(&self, user: &User) -> bool {
        self.reading.load().auth.may_call_all(user)
    }

    fn knows(&self, user: &User) -> bool {
        self.reading.load().auth.knows(user)
    }

    fn may_approve(&self, user: &User, tool: RuleTarget<'_>, caller: &UserId) -> bool {
        self.reading.load().auth.may_approve(user, tool, caller)
    }

    fn sees_others(&self, user: &User) -> bool {
        self.reading.load().auth.sees_others(user)
    }

    fn may_observe(&self, user: &User) -> bool {
        self.reading.load().auth.may_observe(user)
    }

    fn may_read_records(&self, user: &User, tool: RuleTarget<'_>) -> bool {
        self.reading.load().auth.may_read_records(user, tool)
    }

    fn current(&self) -> Option<Arc<dyn Policy>> {
        Some(Arc::clone(&self.reading.load().auth) as _)
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
        match callers.workloads.authenticate(credentials) {
            Either::Left(identified) => Either::Left(identified),
            // Nothing was done yet: the future that waits keeps the reading by which it began.
            Either::Right(_) => {
                let reading = Arc::clone(&reading);
                Either::Right(Box::pin(async move {
                    let callers = reading.callers.as_ref().expect("they were there");
                    callers.workloads.authenticate(credentials).await
                }))
            }
        }
    }
}

impl Withdrawals for InForce {
    fn wait_for_loss(&self, user: &User, bearer: Option<&Bearer>) -> BoxFuture<'static, Status> {
        // Before the settings are read: what is replaced from now on is noticed.
        let mut replaced = self.replaced.subscribe();
        let mut before = self.reading.load_full();
        let (reading, registry) = (Arc::clone(&self.reading), Arc::clone(&self.registry));
        let token = bearer.map(|bearer| TokenDigest::of(bearer.0.expose_secret().as_bytes()));
        let user = user.clone();
        Box::pin(async move {
            // The user was identified a moment ago, perhaps by an earlier reading.
            while before.knows(&user, token.as_ref()) {
                if replaced.changed().await.is_err() {
                    return pending().await;
                }
                let now = reading.load_full();
                if now.withdraws(&before, &user, &registry) {
                    return status_of_loss();
                }
                before = now;
            }
            AuthenticationError::Rejected.into()
        })
    }
}

impl Reading {
    /// Whether the user's credentials are still accepted.
    fn knows(&self, user: &User, token: Option<&TokenDigest>) -> bool {
        match user.known_by {
            KnownBy::Token => token.is_some_and(|token| self.auth.has_token(&user.id, token)),
            KnownBy::Issuer | KnownBy::Certificate | KnownBy::Process | KnownBy::Loopback => {
                self.auth.knows(user)
            }
        }
    }

    /// Whether the user has lost a right to something that is offered.
    fn withdraws(&self, before: &Self, user: &User, registry: &Registry) -> bool {
        // A workload has its groups by its entry, not by what it presents.
        let groups = user.grant.as_ref().map(|grant| &grant.groups);
        let entry = self.auth.workload(user).filter(|_| user.known_by == KnownBy::Certificate);
        if entry.zip(groups).is_some_and(|(it, groups)| groups.iter().any(|group| !it.groups.contains(group)))
        {
            return true;
        }
        if self.auth.is_same_for(&before.auth, user) {
            return false;
        }
        let lost_some =
            |right: &Right| before.auth.may_some(user, *right) && !self.auth.may_some(user, *right);
        let lost_of = |tool: RuleTarget<'_>| {
            let has = |reading: &Self, right| reading.auth.may(user, right, tool);
            Right::ALL.iter().any(|right| has(before, *right) && !has(self, *right))
        };
        Right::ALL.iter().any(lost_some)
            || registry.snapshot().tools().any(|tool| lost_of(tool.definition.rule_target()))
    }
}

fn status_of_loss() -> Status {
    let text = "a right of yours was withdrawn while this was open; begin again with those that you have";
    status::plain(Code::PermissionDenied, "RIGHT_WITHDRAWN", text)
}
