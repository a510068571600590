//! Hosts of providers: a bearer token or the certificate of a workload each, which opens their one method and nothing
//! else, as those of users open all others and not this one. Without users any process of this machine is a host, of
//! the provider `local`.

use std::{fmt, sync::Arc};

use futures_util::future::{BoxFuture, Either, Ready, ready};
use secrecy::SecretString;

use super::{
    AuthenticationError, Authenticator, Credentials, Identified, TrustedProxies, issued_tokens, loopback,
    static_tokens::owner, workloads,
};
use toolwire_config::TokenDigest;
use toolwire_identity::{Principal, Refusal, SpiffePattern, Subject};
use toolwire_providers::ids::ProviderName;
use toolwire_tool::context::Grant;

/// The provider of a host, and the token of an issuer or a trust domain that proved it.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) provider: ProviderName,
    pub(crate) grant: Option<Arc<Grant>>,
}

/// The host at once, or by a future that waits for keys.
pub(super) type IdentifyingHost<'a> = Either<Ready<Identified<Host>>, BoxFuture<'a, Identified<Host>>>;

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

    /// The same, and these workloads need no token of the file. No id matches the patterns of two.
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

    /// Returns the error of a request with the setting that names its workload, if that is one of the other kind: of a
    /// user where the request is a host's, of a host otherwise.
    pub(super) fn specify(
        &self,
        error: AuthenticationError,
        users: &dyn Authenticator,
        is_for_hosts: bool,
    ) -> AuthenticationError {
        let Some(id) = error.unknown_workload() else { return error };
        if is_for_hosts {
            return match users.user_of_workload(&id) {
                Some(user) => error.of_no_host(&id, user),
                None => error,
            };
        }
        match issued_tokens::find(&self.workloads, &id) {
            Ok(provider) => error.of_host(&id, provider),
            Err(_) => error,
        }
    }

    /// Returns the host that the credentials prove. What `users` verify are tokens of issuers and trust domains.
    pub(super) fn identify<'a>(
        &'a self,
        credentials: Credentials<'a>,
        users: &'a dyn Authenticator,
    ) -> IdentifyingHost<'a> {
        let own = self.identify_by_own(credentials);
        let (Err(AuthenticationError::Rejected), Some(bearer)) = (&own, credentials.bearer()) else {
            return Either::Left(ready(own.map(|provider| Host { provider, grant: None })));
        };
        match users.verify(bearer) {
            Either::Left(proven) => {
                Either::Left(ready(proven.into_inner().and_then(|principal| self.host_of(&principal))))
            }
            Either::Right(proving) => {
                Either::Right(Box::pin(async move { proving.await.and_then(|it| self.host_of(&it)) }))
            }
        }
    }

    /// The provider by what this server itself knows of its hosts.
    fn identify_by_own(&self, credentials: Credentials<'_>) -> Identified<ProviderName> {
        if credentials.authorization().is_none() {
            if let Some(workload) = self.proxies.workload(&credentials).filter(|_| !self.workloads.is_empty())
            {
                return workloads::find(&self.workloads, &workload).map(|(_, provider)| provider.clone());
            }
            let local = self.local.as_ref().ok_or(AuthenticationError::Missing)?;
            loopback::check_local(credentials)?;
            return Ok(local.clone());
        }
        let presented = TokenDigest::of(credentials.bearer().ok_or(AuthenticationError::Rejected)?);
        owner(&self.providers, &presented).cloned().ok_or(AuthenticationError::Rejected)
    }

    /// The provider by the subject of a verified token. A user is no host.
    fn host_of(&self, principal: &Principal) -> Identified<Host> {
        let provider = match &principal.subject {
            Subject::Host(provider) => ProviderName::from(&**provider),
            Subject::Workload(id) => issued_tokens::find(&self.workloads, id)?.clone(),
            Subject::User(user) => {
                let user = user.clone();
                return Err(AuthenticationError::Refused(Refusal::OfNoHost { user, workload: None }));
            }
        };
        Ok(Host { provider, grant: Some(Arc::clone(&principal.grant)) })
    }
}

impl fmt::Debug for HostTokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HostTokens").field("tokens", &self.providers.len()).finish_non_exhaustive()
    }
}
