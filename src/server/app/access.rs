//! The callers, their rights and their quotas, as the configuration says them now. Not here: how credentials are
//! compared.

mod callers;
mod in_force;

use std::sync::Arc;

use self::in_force::InForce;
use crate::faces::http::{
    console_document::ConsoleDocument,
    protected_resource::{ProtectedResource, SignIn},
};
use toolwire_base::current::Current;
use toolwire_config::{self as config, Auth, Config, Quota, Toolsets};
use toolwire_engine::{pipeline::Policy, registry::Registry};
use toolwire_providers::ids::ProviderName;
use toolwire_tool::context::User;
use toolwire_transport::{
    Withdrawals,
    authenticate::{Authenticator, HostTokens, Loopback, TrustedProxies},
};

/// The callers, their rights and their quotas, all of which can be replaced. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub(super) struct Access {
    in_force: Arc<InForce>,
    /// Those that requests may name.
    pub(super) toolsets: Current<Toolsets>,
    pub(super) quotas: Current<Vec<Quota>>,
    /// What clients that sign in by themselves need to know.
    sign_in: Current<SignIn>,
}

impl Access {
    pub(super) fn new(config: &Config, registry: &Arc<Registry>) -> Self {
        let Config { auth, toolsets, quotas, .. } = config;
        Self {
            in_force: Arc::new(InForce::new(auth.clone(), toolsets.clone(), registry)),
            toolsets: Current::new(toolsets.clone()),
            quotas: Current::new(quotas.clone()),
            sign_in: Current::new(SignIn::of(auth)),
        }
    }

    /// Which tools a user may call: all of them where credentials are not required. Within toolsets.
    pub(super) fn policy(&self) -> Arc<dyn Policy> {
        Arc::clone(&self.in_force) as _
    }

    /// Bearer tokens and certificates if there are any, otherwise trust in the loopback interface. It begins to fetch
    /// the keys of issuers.
    pub(super) fn authenticator(&self, config: &Config) -> Arc<dyn Authenticator> {
        if self.in_force.is_open() {
            return Arc::new(Loopback::new(User::new(config.data.default_user.clone())));
        }
        let hosts = config.providers.host_claims().cloned().collect();
        self.in_force.begin(&config.egress, config.http.public_url.as_deref(), hosts);
        Arc::clone(&self.in_force) as _
    }

    /// What ends the watches of users who lose a right; `None` where credentials are not required.
    pub(super) fn withdrawals(&self) -> Option<Arc<dyn Withdrawals>> {
        if self.in_force.is_open() { None } else { Some(Arc::clone(&self.in_force) as _) }
    }

    /// What clients that know the server by a URL learn of it, and where they sign in.
    pub(super) fn protected_resource(&self, config: &Config) -> Option<Arc<ProtectedResource>> {
        let url = config.http.public_url.clone()?;
        Some(Arc::new(ProtectedResource::new(url, self.sign_in.clone(), self.toolsets.clone())))
    }

    /// What the page of the console must know before a user has signed in. `grpc` is where gRPC is served.
    pub(super) fn console(&self, config: &Config, grpc: Option<String>) -> ConsoleDocument {
        ConsoleDocument {
            is_open: self.in_force.is_open(),
            client_id: config.console.client_id.clone(),
            public_url: config.http.public_url.clone().unwrap_or_default(),
            grpc: grpc.unwrap_or_default(),
            mcp: config.http.mcp,
            agui: config.http.agui,
            sign_in: self.sign_in.clone(),
            token_origins: Arc::clone(&self.in_force) as _,
        }
    }

    /// Puts other users and rules into force, all of them at once. Returns what differs, or why it cannot be.
    pub(super) fn replace_auth(&self, auth: Auth) -> Result<Vec<String>, &'static str> {
        let (toolsets, quotas) = (self.toolsets.load_full(), self.quotas.load_full());
        self.replace(auth, Toolsets::clone(&toolsets), quotas.to_vec())
    }

    /// Puts other users, rules, toolsets and quotas into force, all or none. Returns what differs, or why they cannot
    /// be.
    pub(super) fn replace(
        &self,
        auth: Auth,
        toolsets: Toolsets,
        quotas: Vec<Quota>,
    ) -> Result<Vec<String>, &'static str> {
        match (self.in_force.is_open(), auth.is_open()) {
            (true, false) => {
                return Err("credentials are not required so far; that they are begins with a restart alone");
            }
            (false, true) => {
                return Err(
                    "no user, issuer, trust domain and workload is left, and that credentials are not required begins \
                     with a restart alone",
                );
            }
            _ => {}
        }
        // Names before the rights to what they stand for: until then such a request finds no tools.
        self.toolsets.replace(toolsets.clone());
        self.sign_in.replace(SignIn::of(&auth));
        let mut changes = self.in_force.replace(auth, toolsets);
        changes.extend(Quota::changes(&quotas, &self.quotas.load()));
        self.quotas.replace(quotas);
        Ok(changes)
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
