//! The callers and their rights, as the configuration says them now. Not here: how credentials are compared.

mod in_force;

use std::sync::Arc;

pub(super) use self::in_force::InForce;
use toolwire_config::{self as config, Config, Toolsets};
use toolwire_engine::{
    pipeline::{
        Policy,
        policy::{AllowAll, ToolsetPolicy},
    },
    registry::Registry,
};
use toolwire_providers::ids::ProviderName;
use toolwire_tool::context::User;
use toolwire_transport::{
    Withdrawals,
    authenticate::{Authenticator, HostTokens, Loopback, TrustedProxies},
};

/// The callers and their rights. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub(super) enum Access {
    /// Credentials are not required.
    Open,
    /// What `[auth]` says, which can be replaced.
    Users(Arc<InForce>),
}

impl Access {
    pub(super) fn new(auth: &config::Auth, registry: &Arc<Registry>) -> Self {
        if auth.is_open() { Self::Open } else { Self::Users(Arc::new(InForce::new(auth.clone(), registry))) }
    }

    /// Which tools a user may call: all of them where credentials are not required. Within a toolset, where there are
    /// any.
    pub(super) fn policy(&self, toolsets: &Toolsets) -> Arc<dyn Policy> {
        let rights: Arc<dyn Policy> = match self {
            Self::Open => Arc::new(AllowAll),
            Self::Users(users) => Arc::clone(users) as _,
        };
        if toolsets.is_empty() { rights } else { Arc::new(ToolsetPolicy::new(rights, toolsets.clone())) }
    }

    /// Bearer tokens and certificates if there are any, otherwise trust in the loopback interface. It begins to fetch
    /// the keys of issuers.
    pub(super) fn authenticator(&self, config: &Config) -> Arc<dyn Authenticator> {
        match self {
            Self::Open => Arc::new(Loopback::new(User::new(config.data.default_user.clone()))),
            Self::Users(users) => {
                users.begin(&config.egress, config.http.public_url.as_deref());
                Arc::clone(users) as _
            }
        }
    }

    /// What ends the watches of users who lose a right.
    pub(super) fn withdrawals(&self) -> Option<Arc<dyn Withdrawals>> {
        match self {
            Self::Open => None,
            Self::Users(users) => Some(Arc::clone(users) as _),
        }
    }

    /// Puts other users and rules into force, all of them at once. Returns what differs, or why it cannot be.
    pub(super) fn replace(&self, auth: config::Auth) -> Result<Vec<String>, &'static str> {
        match self {
            Self::Open if auth.is_open() => Ok(Vec::new()),
            Self::Open => {
                Err("credentials are not required so far; that they are begins with a restart alone")
            }
            Self::Users(_) if auth.is_open() => Err(
                "no user, issuer and workload is left, and that credentials are not required begins with a restart alone",
            ),
            Self::Users(users) => Ok(users.replace(auth)),
        }
    }
}

/// The tokens and workloads of providers, and without users the trust in the loopback interface here too.
pub(super) fn host_tokens(config: &Config) -> HostTokens {
    let tokens =
        config.providers.host_tokens().map(|(name, token)| (token.clone(), ProviderName::from(name)));
    let workloads = config.providers.host_workloads();
    let workloads = workloads.map(|(name, id)| (id.clone(), ProviderName::from(name)));
    let proxies = TrustedProxies::new(&config.auth.trusted_proxies);
    let hosts = HostTokens::new(tokens).with_workloads(workloads, proxies);
    if config.auth.is_open() { hosts.with_local(config::LOCAL_PROVIDER.into()) } else { hosts }
}
