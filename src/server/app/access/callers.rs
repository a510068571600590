//! What identifies callers by their credentials: tokens of the file, tokens of issuers, certificates.

use std::sync::Arc;

use toolwire_base::clock;
use toolwire_config::{Auth, Toolsets};
use toolwire_identity::{HostClaims, Issuers, Origin, Resource, SpiffeId, SpiffePattern};
use toolwire_outgoing::Egress;
use toolwire_tool::context::{Grant, User, UserId};
use toolwire_transport::authenticate::{
    Authenticating, Authenticator, Credentials, IssuedTokens, Proving, StaticTokens, TrustedProxies,
    Workloads,
};

/// What identifies the callers of one reading of the settings.
#[derive(Debug)]
pub(super) struct Callers {
    tokens: Arc<IssuedTokens>,
    /// The tokens beside certificates.
    workloads: Workloads,
    /// What clients that sign in by themselves ask for tokens for.
    url: Option<String>,
}

impl Callers {
    /// Begins to fetch the keys of issuers, in the runtime of the caller; their clients go out so. Clients know the
    /// server by `public_url`. The tokens of `hosts` prove no users.
    pub(super) fn start(
        auth: &Auth,
        toolsets: &Toolsets,
        hosts: Vec<HostClaims>,
        (egress, public_url): (&Egress, Option<&str>),
    ) -> Self {
        let url = public_url.map(|url| format!("{url}/mcp"));
        let resource = resource(url.as_deref(), toolsets);
        let issuers =
            Issuers::start(auth.signers(), resource, egress, Arc::new(clock::wall)).with_hosts(hosts);
        Self::new(auth, IssuedTokens::new(static_tokens(auth), issuers), url)
    }

    /// Those of other settings. The keys of issuers that stay are kept.
    pub(super) fn renew(&self, auth: &Auth, toolsets: &Toolsets) -> Self {
        let resource = resource(self.url.as_deref(), toolsets);
        let tokens = self.tokens.renew(static_tokens(auth), auth.signers(), resource);
        Self::new(auth, tokens, self.url.clone())
    }

    /// The origin at which users of an issuer get tokens, once its metadata have named one.
    pub(super) fn token_origin(&self, issuer: &str) -> Option<Origin> {
        self.tokens.token_origin(issuer)
    }

    pub(super) fn authenticate<'a>(&'a self, credentials: Credentials<'a>) -> Authenticating<'a> {
        self.workloads.authenticate(credentials)
    }

    pub(super) fn verify<'a>(&'a self, bearer: &'a [u8]) -> Proving<'a> {
        self.tokens.verify(bearer)
    }

    pub(super) fn user_of_workload(&self, id: &SpiffeId) -> Option<UserId> {
        self.workloads.user_of_workload(id)
    }

    fn new(auth: &Auth, tokens: IssuedTokens, url: Option<String>) -> Self {
        let tokens = Arc::new(tokens.with_workloads(workload_users(auth)));
        let (users, proxies) = (workload_users(auth), TrustedProxies::new(&auth.trusted_proxies));
        Self { workloads: Workloads::new(users, proxies, Arc::clone(&tokens) as _), tokens, url }
    }
}

/// The users that workloads are, with their groups.
fn workload_users(auth: &Auth) -> impl Iterator<Item = (SpiffePattern, User)> {
    auth.workloads.iter().map(|entry| {
        let grant =
            Grant { groups: entry.groups.clone(), scopes: Vec::new(), ends_at: None, acceptance: None };
        (entry.id.clone(), User { grant: Some(Arc::new(grant)), ..User::new(entry.user.clone()) })
    })
}

/// What tokens of issuers are for: the server, and its toolsets.
fn resource(url: Option<&str>, toolsets: &Toolsets) -> Resource {
    Resource::new(url.map(str::to_owned), toolsets.iter().map(|toolset| toolset.name.clone()))
}

fn static_tokens(auth: &Auth) -> StaticTokens {
    StaticTokens::new(auth.users.iter().filter_map(|entry| {
        let user =
            User { email: entry.email.clone(), role: entry.role.clone(), ..User::new(entry.user_id.clone()) };
        Some((entry.token?, user))
    }))
}
