//! Bearer tokens of the configuration, and those of identity providers and trust domains: what is not one of the former
//! goes to the latter.

use std::sync::Arc;

use futures_util::future::{Either, ready};

use super::{Authenticating, AuthenticationError, Authenticator, Credentials, Proving, StaticTokens};
use crate::recent_token::Proof;
use toolwire_config::TokenDigest;
use toolwire_identity::{
    Issuers, Origin, Principal, Refusal, Resource, Signer, SpiffeId, SpiffePattern, Subject,
};
use toolwire_tool::context::{Grant, KnownBy, User};

/// The configured tokens, and the signers of others.
#[derive(Debug)]
pub struct IssuedTokens {
    known: StaticTokens,
    issuers: Issuers,
    /// The users that workloads are by tokens of their trust domains.
    workloads: Vec<(SpiffePattern, User)>,
    /// Tokens that an earlier one verified are verified again.
    generation: u64,
}

impl IssuedTokens {
    pub fn new(known: StaticTokens, issuers: Issuers) -> Self {
        Self { known, issuers, workloads: Vec::new(), generation: 0 }
    }

    /// The same, where workloads are these users. No id matches the patterns of two of them.
    #[must_use]
    pub fn with_workloads(self, users: impl IntoIterator<Item = (SpiffePattern, User)>) -> Self {
        let known = |(id, user): (SpiffePattern, User)| (id, user.with_known_by(KnownBy::JwtSvid));
        Self { workloads: users.into_iter().map(known).collect(), ..self }
    }

    /// These tokens and signers instead, for this resource, and no workloads: no token that was verified before is
    /// taken for verified.
    #[must_use]
    pub fn renew(
        &self,
        known: StaticTokens,
        signers: impl IntoIterator<Item = Signer>,
        resource: Resource,
    ) -> Self {
        let issuers = self.issuers.renew(signers, resource);
        Self { known, issuers, workloads: Vec::new(), generation: self.generation + 1 }
    }

    /// The origin at which users of an issuer get tokens, once its metadata have named one.
    pub fn token_origin(&self, issuer: &str) -> Option<Origin> {
        self.issuers.token_origin(issuer)
    }

    /// Returns what the token of an issuer or a trust domain proves.
    pub fn verify<'a>(&'a self, bearer: &'a [u8]) -> Proving<'a> {
        self.verify_of_digest(bearer, TokenDigest::of(bearer))
    }

    fn verify_of_digest<'a>(&'a self, bearer: &'a [u8], digest: TokenDigest) -> Proving<'a> {
        // Without a dot it is no signed token.
        let Some(token) = std::str::from_utf8(bearer).ok().filter(|token| token.contains('.')) else {
            return Either::Left(ready(Err(AuthenticationError::Rejected)));
        };
        match self.issuers.verify(token, digest.into()) {
            Either::Left(verified) => {
                Either::Left(ready(verified.into_inner().map_err(AuthenticationError::Refused)))
            }
            Either::Right(verifying) => {
                Either::Right(Box::pin(async move { verifying.await.map_err(AuthenticationError::Refused) }))
            }
        }
    }

    /// The user by the subject of a verified token: of a workload by its entry. A host is no user.
    fn user_of(&self, principal: &Principal) -> Result<User, AuthenticationError> {
        let bound_to = principal.bound_to.clone();
        match &principal.subject {
            Subject::User(id) => Ok(User {
                email: principal.email.clone(),
                known_by: KnownBy::Issuer,
                grant: Some(Arc::clone(&principal.grant)),
                bound_to,
                ..User::new(id.clone())
            }),
            Subject::Workload(id) => {
                let user = find(&self.workloads, id)?;
                // Its groups are those of the entry.
                let groups = user.grant.iter().flat_map(|grant| &grant.groups).cloned().collect();
                let grant = Arc::new(Grant { groups, ..Grant::clone(&principal.grant) });
                Ok(User { grant: Some(grant), svid: Some(id.shared()), bound_to, ..user.clone() })
            }
            Subject::Host(provider) => {
                let provider = Arc::clone(provider);
                Err(AuthenticationError::Refused(Refusal::OfHost { provider, workload: None }))
            }
        }
    }
}

/// What the pattern that a token's workload matches stands for.
pub(super) fn find<'a, T>(
    known: &'a [(SpiffePattern, T)],
    id: &SpiffeId,
) -> Result<&'a T, AuthenticationError> {
    let found = known.iter().find(|(pattern, _)| pattern.matches(id)).map(|(_, it)| it);
    found.ok_or_else(|| AuthenticationError::Refused(Refusal::UnknownWorkload { workload: id.shared() }))
}

impl Authenticator for IssuedTokens {
    fn authenticate<'a>(&'a self, credentials: Credentials<'a>) -> Authenticating<'a> {
        let bearer = match credentials.bearer() {
            Some(bearer) => bearer,
            None if credentials.authorization().is_none() => {
                return Either::Left(ready(Err(AuthenticationError::Missing)));
            }
            None => return Either::Left(ready(Err(AuthenticationError::Rejected))),
        };
        let recent = credentials.recent;
        let (digest, is_recent) = match recent.and_then(|recent| recent.find(bearer, self.generation)) {
            Some(Proof::Issued(principal)) => return Either::Left(ready(self.user_of(&principal))),
            Some(Proof::Configured(digest)) => (digest, true),
            None => (TokenDigest::of(bearer), false),
        };
        let keep = move |proof| {
            if let Some(recent) = recent {
                recent.replace(bearer, proof, self.generation);
            }
        };
        if let Some(user) = self.known.owner(&digest) {
            if !is_recent {
                keep(Proof::Configured(digest));
            }
            return Either::Left(ready(Ok(user.clone())));
        }
        let admit = move |verified: Result<Arc<Principal>, AuthenticationError>| {
            let principal = verified?;
            keep(Proof::Issued(Arc::clone(&principal)));
            self.user_of(&principal)
        };
        match self.verify_of_digest(bearer, digest) {
            Either::Left(verified) => Either::Left(ready(admit(verified.into_inner()))),
            Either::Right(verifying) => Either::Right(Box::pin(async move { admit(verifying.await) })),
        }
    }
}
