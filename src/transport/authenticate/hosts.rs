//! Hosts of providers: a bearer token or the certificate of a workload each, which opens their one method and nothing
//! else, as those of users open all others and not this one. Without users any process of this machine is a host, of
//! the provider `local`.

use std::fmt;

use secrecy::SecretString;

use super::{
    AuthenticationError, Credentials, TrustedProxies, loopback, static_tokens::owner, workloads::find,
};
use toolwire_config::TokenDigest;
use toolwire_identity::SpiffePattern;
use toolwire_providers::ids::ProviderName;

/// Known tokens and workloads, and the providers that they belong to.
#[derive(Clone, Default)]
pub struct HostTokens {
    providers: Vec<(TokenDigest, ProviderName)>,
    workloads: Vec<(SpiffePattern, ProviderName)>,
    proxies: TrustedProxies,
    /// The provider of processes of this machine that present no token.
    local: Option<ProviderName>,
}

impl HostTokens {
    pub fn new(tokens: impl IntoIterator<Item = (SecretString, ProviderName)>) -> Self {
        let digested = |(token, provider): (SecretString, ProviderName)| (TokenDigest::from(token), provider);
        Self { providers: tokens.into_iter().map(digested).collect(), ..Self::default() }
    }

    /// The same, and these workloads need no token. No id matches the patterns of two.
    #[must_use]
    pub fn with_workloads(
        self,
        workloads: impl IntoIterator<Item = (SpiffePattern, ProviderName)>,
        proxies: TrustedProxies,
    ) -> Self {
        Self { workloads: workloads.into_iter().collect(), proxies, ..self }
    }

    /// The same, and processes of this machine need no token.
    #[must_use]
    pub fn with_local(self, provider: ProviderName) -> Self {
        Self { local: Some(provider), ..self }
    }

    pub(super) fn identify(&self, credentials: Credentials<'_>) -> Result<ProviderName, AuthenticationError> {
        if credentials.authorization().is_none() {
            if let Some(workload) = self.proxies.workload(&credentials).filter(|_| !self.workloads.is_empty())
            {
                return find(&self.workloads, &workload).map(|(_, provider)| provider.clone());
            }
            let local = self.local.as_ref().ok_or(AuthenticationError::Missing)?;
            loopback::check_local(credentials)?;
            return Ok(local.clone());
        }
        let presented = TokenDigest::of(credentials.bearer().ok_or(AuthenticationError::Rejected)?);
        owner(&self.providers, &presented).cloned().ok_or(AuthenticationError::Rejected)
    }
}

impl fmt::Debug for HostTokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HostTokens").field("tokens", &self.providers.len()).finish_non_exhaustive()
    }
}
