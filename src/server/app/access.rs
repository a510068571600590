//! Which users may call what, by the configuration. Not here: how credentials are compared.

use std::sync::Arc;

use toolwire_base::clock;
use toolwire_config::{self as config, Config};
use toolwire_engine::pipeline::{Policy, policy::AllowAll};
use toolwire_identity::Issuers;
use toolwire_providers::ids::ProviderName;
use toolwire_tool::context::{KnownBy, User};
use toolwire_transport::authenticate::{Authenticator, HostTokens, IssuedTokens, Loopback, StaticTokens};

/// Which tools a user may call: all of them where credentials are not required.
pub(super) fn policy(auth: &config::Auth) -> Arc<dyn Policy> {
    if auth.is_open() { Arc::new(AllowAll) } else { Arc::new(auth.clone()) }
}

/// Bearer tokens if there are any, otherwise trust in the loopback interface. It begins to fetch the keys of issuers.
pub(super) fn authenticator(config: &Config) -> Arc<dyn Authenticator> {
    if config.auth.is_open() {
        return Arc::new(Loopback::new(User::new(config.data.default_user.clone())));
    }
    let tokens = config.auth.users.iter().filter_map(|entry| {
        let user = User {
            id: entry.user_id.clone(),
            email: entry.email.clone(),
            role: entry.role.clone(),
            known_by: KnownBy::Token,
            grant: None,
        };
        Some((entry.token?, user))
    });
    let tokens = StaticTokens::new(tokens);
    if config.auth.issuers.is_empty() {
        return Arc::new(tokens);
    }
    let issuers = Issuers::start(config.auth.issuers.clone(), Arc::new(clock::wall));
    Arc::new(IssuedTokens::new(tokens, issuers))
}

/// The tokens of providers, and without users the trust in the loopback interface here too.
pub(super) fn host_tokens(config: &Config) -> HostTokens {
    let tokens =
        config.providers.host_tokens().map(|(name, token)| (token.clone(), ProviderName::from(name)));
    let hosts = HostTokens::new(tokens);
    if config.auth.is_open() { hosts.with_local(config::LOCAL_PROVIDER.into()) } else { hosts }
}
