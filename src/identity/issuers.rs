//! The configured issuers and trust domains, and the way of a token: read, its signer found, its key, its signature,
//! its claims.
//!
//! The claim `iss` of a configured issuer decides. Only without one does the trust domain of the claim `sub` decide, so
//! that the keys of one never verify a token of the other.

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
    HostClaims, KeySource, Origin, Principal, Refusal, Resource, Signer, SpiffeId, Subject, claims, fetch,
    jwk::KeySet,
    jws::Jws,
    keys::{Keys, Snapshot, TURN, TURN_OF_FILE},
    refusal::Quoted,
    token_cache::TokenCache,
};
use toolwire_base::{current::Current, digest::Digest};
use toolwire_outgoing::Egress;
use toolwire_tool::context::ToolsetName;

/// The wall clock.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// What a token proves: at once, or by a future that waits for keys.
pub type Verifying<'a> =
    Either<Ready<Result<Arc<Principal>, Refusal>>, BoxFuture<'a, Result<Arc<Principal>, Refusal>>>;

/// The issuers and trust domains whose tokens are accepted. Dropped, they fetch no keys any more.
pub struct Issuers {
    known: KnownSigners,
    /// The tokens that prove hosts, and no users.
    hosts: Arc<[HostClaims]>,
    /// What their tokens are for.
    resource: Resource,
    cache: TokenCache,
    egress: Egress,
    clock: Clock,
}

#[derive(Default)]
struct KnownSigners {
    /// The issuers, by the claim `iss`.
    by_iss: HashMap<String, Arc<Known>>,
    /// The trust domains, by name.
    by_domain: HashMap<String, Arc<Known>>,
}

struct Known {
    signer: Arc<Signer>,
    keys: Arc<Keys>,
    /// Where users of the signer get tokens, by what was fetched last.
    token_origin: Current<Option<Origin>>,
    /// Whether the log says already that a token has no groups.
    lacks_groups: AtomicBool,
}

impl Issuers {
    /// Begins to fetch the keys of these issuers, each with a name and an `iss` of its own, and trust domains, in the
    /// runtime of the caller; their clients go out so. Their tokens are for the resource.
    pub fn start(
        signers: impl IntoIterator<Item = impl Into<Signer>>,
        resource: Resource,
        egress: &Egress,
        clock: Clock,
    ) -> Self {
        let known = KnownSigners::new(signers, |signer| Known::start(signer, egress.clone()));
        let (cache, egress) = (TokenCache::default(), egress.clone());
        Self { known, hosts: Arc::default(), resource, cache, egress, clock }
    }

    /// The same, where these tokens prove hosts of providers. No token fits the claims of two of them.
    #[must_use]
    pub fn with_hosts(self, hosts: impl IntoIterator<Item = HostClaims>) -> Self {
        Self { hosts: hosts.into_iter().collect(), ..self }
    }

    /// These issuers, trust domains and this resource instead. The keys that come from where they came from before are
    /// kept, those of files until they are read again, which begins at once, and no token is cached.
    #[must_use]
    pub fn renew(&self, signers: impl IntoIterator<Item = impl Into<Signer>>, resource: Resource) -> Self {
        let known = KnownSigners::new(signers, |signer| {
            let before = self.known.find(&signer).filter(|it| it.signer.has_keys_of(&signer));
            match before {
                Some(before) => before.with(signer),
                None => Known::start(signer, self.egress.clone()),
            }
        });
        let (hosts, cache) = (Arc::clone(&self.hosts), TokenCache::default());
        Self { known, hosts, resource, cache, egress: self.egress.clone(), clock: Arc::clone(&self.clock) }
    }

    /// Whether there is none, so that no token is of one.
    pub fn is_empty(&self) -> bool {
        self.known.by_iss.is_empty() && self.known.by_domain.is_empty()
    }

    /// The origin at which users of an issuer get tokens, once its metadata have named one.
    pub fn token_origin(&self, issuer: &str) -> Option<Origin> {
        self.known.by_iss.get(issuer).and_then(|it| it.token_origin.load().as_ref().clone())
    }

    /// Returns what a token of this digest proves.
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

    /// The token, its signer, and the keys of the signer at this moment.
    fn read<'a>(&self, token: &'a str) -> Result<(&Known, Jws<'a>, Snapshot), Refusal> {
        let jws = Jws::read(token)?;
        let known = self.known.signer_of(&jws.claims)?;
        jws.check_type(known.signer.key_use())?;
        if !known.signer.tokens().algorithms.contains(&jws.algorithm) {
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
        let principal =
            Arc::new(claims::check(&known.signer, &self.hosts, &self.resource, &jws.claims, (self.clock)())?);
        if matches!(principal.subject, Subject::User(_)) {
            known.tell_of_lacking_groups(&jws.claims);
        }
        let is_bound_in_vain = |bound_to: &[ToolsetName]| !bound_to.iter().any(|it| self.resource.has(it));
        if principal.bound_to.as_deref().is_some_and(is_bound_in_vain) {
            let user = &principal.subject;
            tracing::info!(%user, "a token is bound to no toolset that there is, and so has no tools");
        }
        self.cache.insert(digest, &principal);
        Ok(principal)
    }
}

impl KnownSigners {
    fn new(signers: impl IntoIterator<Item = impl Into<Signer>>, make: impl Fn(Signer) -> Known) -> Self {
        let mut known = Self::default();
        for signer in signers {
            let signer = signer.into();
            let (map, key) = match &signer {
                Signer::Issuer(issuer) => (&mut known.by_iss, issuer.issuer.clone()),
                Signer::TrustDomain(domain) => (&mut known.by_domain, domain.name.clone()),
            };
            map.insert(key, Arc::new(make(signer)));
        }
        known
    }

    fn find(&self, signer: &Signer) -> Option<&Arc<Known>> {
        match signer {
            Signer::Issuer(issuer) => self.by_iss.get(&issuer.issuer),
            Signer::TrustDomain(domain) => self.by_domain.get(&domain.name),
        }
    }

    /// The signer of a token with these claims, which are not verified yet.
    fn signer_of(&self, claims: &Map<String, Value>) -> Result<&Known, Refusal> {
        let iss = match claims.get("iss") {
            None => None,
            Some(Value::String(iss)) => Some(iss.as_str()),
            Some(_) => return Err(Refusal::UnknownIssuer { named: None }),
        };
        if let Some(known) = iss.and_then(|iss| self.by_iss.get(iss)) {
            return Ok(known);
        }
        let issuer = iss.map(Quoted::new);
        let subject = claims.get("sub").and_then(Value::as_str).filter(|it| it.starts_with(SpiffeId::SCHEME));
        let Some(subject) = subject else { return Err(Refusal::UnknownIssuer { named: issuer }) };
        let named = Quoted::new(subject);
        let Ok(id) = subject.parse::<SpiffeId>() else { return Err(Refusal::MalformedSpiffeId { named }) };
        self.by_domain
            .get(id.trust_domain())
            .map(|it| &**it)
            .ok_or(Refusal::UnknownTrustDomain { named, issuer })
    }
}

impl Known {
    fn start(signer: Signer, egress: Egress) -> Self {
        let signer = Arc::new(signer);
        let token_origin = Current::<Option<Origin>>::default();
        let of_fetch = (Arc::clone(&signer), egress, token_origin.clone());
        let fetch = move || -> BoxFuture<'static, _> {
            let (signer, egress, token_origin) = of_fetch.clone();
            Box::pin(async move {
                let fetched = fetch::keys(&signer, &egress).await?;
                token_origin.replace(fetched.token_origin);
                Ok(fetched.keys)
            })
        };
        let turn = match &signer.tokens().keys {
            KeySource::File(_) => TURN_OF_FILE,
            KeySource::Discovery(_) | KeySource::Url(_) => TURN,
        };
        let keys = Arc::new(Keys::start(signer.label(), turn, Box::new(fetch)));
        Self { signer, keys, token_origin, lacks_groups: AtomicBool::new(false) }
    }

    /// The signer as it is configured now, with the keys that are at hand.
    fn with(&self, signer: Signer) -> Self {
        if matches!(signer.tokens().keys, KeySource::File(_)) {
            self.keys.fetch_again();
        }
        let is_told = self.signer.groups() == signer.groups() && self.lacks_groups.load(Relaxed);
        let (keys, token_origin) = (Arc::clone(&self.keys), self.token_origin.clone());
        Self { signer: Arc::new(signer), keys, token_origin, lacks_groups: AtomicBool::new(is_told) }
    }

    /// Warns once that a verified token has not the claim of groups that is configured.
    fn tell_of_lacking_groups(&self, claims: &Map<String, Value>) {
        let lacking = self.signer.groups().filter(|it| it.find(claims).is_none());
        let Some(groups) = lacking else { return };
        if !self.lacks_groups.swap(true, Relaxed) {
            tracing::warn!(
                issuer = &*self.signer.label(),
                groups = groups.as_str(),
                "a token of the issuer has no such claim, and its user no group; told of the first such token alone"
            );
        }
    }
}

impl fmt::Debug for Issuers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.known.by_iss.values().chain(self.known.by_domain.values());
        f.debug_list().entries(known.map(|it| it.signer.label())).finish()
    }
}
