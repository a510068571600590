//! Workloads of a mesh, known by their certificates, beside callers with tokens.
//!
//! A certificate proves the peer, and a token the user: a request with an `authorization` header is its token's user,
//! and a token that is refused is never replaced by a certificate. Not here: how certificates are verified (`tls`).

use std::{fmt, sync::Arc};

use futures_util::future::{Either, ready};

use super::{Authenticating, AuthenticationError, Authenticator, Credentials, TrustedProxies};
use toolwire_identity::{PeerRefusal, SpiffeId, SpiffePattern, Workload};
use toolwire_tool::context::{KnownBy, User, UserId};

/// The users that workloads are, and who knows the others.
pub struct Workloads {
    users: Vec<(SpiffePattern, User)>,
    proxies: TrustedProxies,
    others: Arc<dyn Authenticator>,
}

impl Workloads {
    /// No id matches the patterns of two `users`.
    pub fn new(
        users: impl IntoIterator<Item = (SpiffePattern, User)>,
        proxies: TrustedProxies,
        others: Arc<dyn Authenticator>,
    ) -> Self {
        let known = |(id, user): (SpiffePattern, User)| (id, user.with_known_by(KnownBy::Certificate));
        Self { users: users.into_iter().map(known).collect(), proxies, others }
    }

    fn identify(&self, workload: &Workload) -> Result<User, AuthenticationError> {
        let (id, user) = find(&self.users, workload)?;
        Ok(recorded(user.clone(), id))
    }
}

impl Authenticator for Workloads {
    fn user_of_workload(&self, id: &SpiffeId) -> Option<UserId> {
        let known = self.users.iter().find(|(pattern, _)| pattern.matches(id));
        known.map(|(_, user)| user.id.clone())
    }

    fn authenticate<'a>(&'a self, credentials: Credentials<'a>) -> Authenticating<'a> {
        let Some(workload) = self.proxies.workload(&credentials) else {
            return self.others.authenticate(credentials);
        };
        if credentials.authorization().is_none() && !self.users.is_empty() {
            return Either::Left(ready(self.identify(&workload)));
        }
        let identified = self.others.authenticate(credentials);
        let Ok(id) = workload else { return identified };
        match identified {
            Either::Left(user) => Either::Left(ready(user.into_inner().map(|user| recorded(user, &id)))),
            Either::Right(user) => {
                Either::Right(Box::pin(async move { user.await.map(|user| recorded(user, &id)) }))
            }
        }
    }
}

/// Returns the id of a workload, and what the pattern that it matches stands for.
pub(super) fn find<'a, 'b, T>(
    known: &'a [(SpiffePattern, T)],
    workload: &'b Workload,
) -> Result<(&'b SpiffeId, &'a T), AuthenticationError> {
    let id = workload.as_ref().map_err(|refusal| refuse(*refusal, None))?;
    if let Some((_, owner)) = known.iter().find(|(pattern, _)| pattern.matches(id)) {
        return Ok((id, owner));
    }
    let is_of_domain = |(pattern, _): &(SpiffePattern, T)| pattern.trust_domain() == id.trust_domain();
    let is_known_domain = known.iter().any(is_of_domain);
    let refusal =
        if is_known_domain { PeerRefusal::UnknownWorkload } else { PeerRefusal::ForeignTrustDomain };
    Err(refuse(refusal, Some(id)))
}

/// The error of a certificate, with the workload that it names, for whom configures it.
fn refuse(refusal: PeerRefusal, id: Option<&SpiffeId>) -> AuthenticationError {
    AuthenticationError::Certificate { refusal, workload: id.map(SpiffeId::shared), detail: None }
}

impl fmt::Debug for Workloads {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Workloads").field("users", &self.users.len()).finish_non_exhaustive()
    }
}

fn recorded(user: User, id: &SpiffeId) -> User {
    User { workload: Some(id.shared()), ..user }
}
