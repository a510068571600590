//! Bearer tokens of the configuration, and those of identity providers: what is not one of the former goes to the
//! latter.

use std::sync::Arc;

use futures_util::future::{Either, ready};

use super::{Authenticating, AuthenticationError, Authenticator, Credentials, StaticTokens};
use toolwire_config::TokenDigest;
use toolwire_identity::{Issuer, Issuers, Principal, Refusal, Resource};
use toolwire_tool::context::{KnownBy, User};

/// The configured tokens, and the issuers of others.
#[derive(Debug)]
pub struct IssuedTokens {
    known: StaticTokens,
    issuers: Issuers,
    /// Tokens that an earlier one verified are verified again.
    generation: u64,
}

impl IssuedTokens {
    pub fn new(known: StaticTokens, issuers: Issuers) -> Self {
        Self { known, issuers, generation: 0 }
    }

    /// These tokens and issuers instead, for this resource: no token that was verified before is taken for verified.
    #[must_use]
    pub fn renew(
        &self,
        known: StaticTokens,
        issuers: impl IntoIterator<Item = Issuer>,
        resource: Resource,
    ) -> Self {
        Self { known, issuers: self.issuers.renew(issuers, resource), generation: self.generation + 1 }
    }
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
        let recent = credentials.recent.filter(|_| !self.issuers.is_empty());
        if let Some(principal) = recent.and_then(|recent| recent.find(bearer, self.generation)) {
            return Either::Left(ready(Ok(user_of(&principal))));
        }
        let digest = TokenDigest::of(bearer);
        if let Some(user) = self.known.owner(&digest) {
            return Either::Left(ready(Ok(user.clone())));
        }
        // Without a dot it is no token of an issuer.
        let Some(token) = std::str::from_utf8(bearer).ok().filter(|token| token.contains('.')) else {
            return Either::Left(ready(Err(AuthenticationError::Rejected)));
        };
        let admit = move |verified: Result<Arc<Principal>, Refusal>| {
            let principal = verified.map_err(AuthenticationError::Refused)?;
            if let Some(recent) = recent {
                recent.replace(bearer, &principal, self.generation);
            }
            Ok(user_of(&principal))
        };
        match self.issuers.verify(token, digest.into()) {
            Either::Left(verified) => Either::Left(ready(admit(verified.into_inner()))),
            Either::Right(verifying) => Either::Right(Box::pin(async move { admit(verifying.await) })),
        }
    }
}

fn user_of(principal: &Principal) -> User {
    User {
        email: principal.email.clone(),
        known_by: KnownBy::Issuer,
        grant: Some(Arc::clone(&principal.grant)),
        bound_to: principal.bound_to.clone(),
        ..User::new(principal.user.clone())
    }
}
