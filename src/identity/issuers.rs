//! The configured issuers, and the way of a token: read, its issuer found, its key, its signature, its claims.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::SystemTime,
};

use futures_util::future::{BoxFuture, Either, Ready, ready};
use serde_json::{Map, Value};

use crate::{
    ClaimPath, Issuer, Principal, Refusal, Resource, claims, fetch,
    jwk::KeySet,
    jws::Jws,
    keys::{Keys, Snapshot},
    refusal::Quoted,
    token_cache::TokenCache,
};
use toolwire_base::digest::Digest;
use toolwire_outgoing::Egress;
use toolwire_tool::context::ToolsetName;

/// The wall clock.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The user that a token proves: at once, or by a future that waits for keys.
pub type Verifying<'a> =
    Either<Ready<Result<Arc<Principal>, Refusal>>, BoxFuture<'a, Result<Arc<Principal>, Refusal>>>;

/// The issuers whose tokens are accepted. Dropped, they fetch no keys any more.
pub struct Issuers {
    /// The issuers, by the claim `iss`.
    by_iss: HashMap<String, Arc<Known>>,
    /// What their tokens are for.
    resource: Resource,
    cache: TokenCache,
    egress: Egress,
    clock: Clock,
}

struct Known {
    issuer: Arc<Issuer>,
    keys: Arc<Keys>,
    /// Whether the log says already that a token has no groups.
    lacks_groups: AtomicBool,
}

impl Issuers {
    /// Begins to fetch the keys of these issuers, each with a name and an `iss` of its own, in the runtime of the
    /// caller; their clients go out so. Their tokens are for the resource.
    pub fn start(
        issuers: impl IntoIterator<Item = Issuer>,
        resource: Resource,
        egress: &Egress,
        clock: Clock,
    ) -> Self {
        let known = issuers
            .into_iter()
            .map(|issuer| (issuer.issuer.clone(), Arc::new(Known::start(issuer, egress.clone()))));
        let (by_iss, cache, egress) = (known.collect(), TokenCache::default(), egress.clone());
        Self { by_iss, resource, cache, egress, clock }
    }

    /// These issuers and this resource instead. The keys that come from where they came from before are kept, and no
    /// token is cached.
    #[must_use]
    pub fn renew(&self, issuers: impl IntoIterator<Item = Issuer>, resource: Resource) -> Self {
        let known = issuers.into_iter().map(|issuer| {
            let before = self.by_iss.get(&issuer.issuer).filter(|it| it.issuer.has_keys_of(&issuer));
            let known = match before {
                Some(before) => before.with(issuer.clone()),
                None => Known::start(issuer.clone(), self.egress.clone()),
            };
            (issuer.issuer, Arc::new(known))
        });
        let (by_iss, cache) = (known.collect(), TokenCache::default());
        Self { by_iss, resource, cache, egress: self.egress.clone(), clock: Arc::clone(&self.clock) }
    }

    /// Whether there is none, so that no token is of one.
    pub fn is_empty(&self) -> bool {
        self.by_iss.is_empty()
    }

    /// Returns the user that a token of this digest proves.
    pub fn verify<'a>(&'a self, token: &'a str, digest: Digest) -> Verifying<'a> {
        if let Some(principal) = self.cache.find(&digest) {
            return Either::Left(ready(Ok(principal)));
        }
        match self.read(token) {
            Err(refusal) => Either::Left(ready(Err(refusal))),
            Ok((known, jws, at_arrival)) if at_arrival.keys.has(&jws.kid) => {
                Either::Left(ready(self.check(known, &jws, &at_arrival.keys, digest)))
            }
            Ok((known, jws, at_arrival)) => Either::Right(Box::pin(async move {
                let keys = known.keys.with_key(&jws.kid, &at_arrival).await?;
                self.check(known, &jws, &keys, digest)
            })),
        }
    }

    /// The token, its issuer, and the keys of the issuer at this moment.
    fn read<'a>(&self, token: &'a str) -> Result<(&Known, Jws<'a>, Snapshot), Refusal> {
        let jws = Jws::read(token)?;
        let issuer = jws.claims.get("iss").and_then(Value::as_str);
        let issuer = issuer.ok_or(Refusal::UnknownIssuer { named: None })?;
        let known: &Known = self
            .by_iss
            .get(issuer)
            .ok_or_else(|| Refusal::UnknownIssuer { named: Some(Quoted::new(issuer)) })?;
        if !known.issuer.algorithms.contains(&jws.algorithm) {
            return Err(Refusal::WrongAlgorithm);
        }
        let at_arrival = known.keys.now();
        Ok((known, jws, at_arrival))
    }

    fn check(
        &self,
        known: &Known,
        jws: &Jws<'_>,
        keys: &KeySet,
        digest: Digest,
    ) -> Result<Arc<Principal>, Refusal> {
        let key = keys.find(&jws.kid, jws.algorithm).ok_or(Refusal::KeyOfAnotherAlgorithm)?;
        if !jws.is_signed_by(key) {
            return Err(Refusal::WrongSignature);
        }
        let principal = Arc::new(claims::check(&known.issuer, &self.resource, &jws.claims, (self.clock)())?);
        known.tell_of_lacking_groups(&jws.claims);
        let is_bound_in_vain = |bound_to: &[ToolsetName]| !bound_to.iter().any(|it| self.resource.has(it));
        if principal.bound_to.as_deref().is_some_and(is_bound_in_vain) {
            let user = &principal.user;
            tracing::info!(%user, "a token is bound to no toolset that there is, and so has no tools");
        }
        self.cache.insert(digest, &principal);
        Ok(principal)
    }
}

impl Known {
    fn start(issuer: Issuer, egress: Egress) -> Self {
        let issuer = Arc::new(issuer);
        let of_fetch = (Arc::clone(&issuer), egress);
        let fetch = move || -> BoxFuture<'static, _> {
            let (issuer, egress) = of_fetch.clone();
            Box::pin(async move { fetch::keys(&issuer, &egress).await })
        };
        let keys = Arc::new(Keys::start(issuer.name.as_str().into(), Box::new(fetch)));
        Self { issuer, keys, lacks_groups: AtomicBool::new(false) }
    }

    /// The issuer as it is configured now, with the keys that are at hand.
    fn with(&self, issuer: Issuer) -> Self {
        let is_told = self.issuer.groups == issuer.groups && self.lacks_groups.load(Relaxed);
        let keys = Arc::clone(&self.keys);
        Self { issuer: Arc::new(issuer), keys, lacks_groups: AtomicBool::new(is_told) }
    }

    /// Warns once that a verified token has not the claim of groups that is configured.
    fn tell_of_lacking_groups(&self, claims: &Map<String, Value>) {
        if claims::lacks_groups(&self.issuer, claims) && !self.lacks_groups.swap(true, Relaxed) {
            let groups = self.issuer.groups.as_ref().map(ClaimPath::as_str);
            tracing::warn!(
                issuer = self.issuer.name,
                groups,
                "a token of the issuer has no such claim, and its user no group; told of the first such token alone"
            );
        }
    }
}

impl fmt::Debug for Issuers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.by_iss.values().map(|it| &it.issuer.name)).finish()
    }
}
