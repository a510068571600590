//! The signers of tokens, as they are configured: an issuer, whose tokens prove users and hosts, and a SPIFFE trust
//! domain, whose tokens are JWT-SVIDs and prove workloads.

use std::{hash::Hash, str::FromStr, sync::Arc};

use serde_json::{Map, Value};

use crate::{TokenSettings, jwk::KeyUse};
use toolwire_tool::context::Acceptance;

/// An identity provider whose access tokens are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issuer {
    /// What the ids of its users and groups begin with.
    pub name: String,
    /// The claim `iss` of its tokens, exactly.
    pub issuer: String,
    /// The claim that names the user.
    pub user: ClaimPath,
    pub email: Option<ClaimPath>,
    pub groups: Option<ClaimPath>,
    pub tokens: TokenSettings,
}

/// A trust domain whose JWT-SVIDs are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustDomain {
    /// The trust domain of the SPIFFE ids, such as `example.org`.
    pub name: String,
    pub tokens: TokenSettings,
}

/// Either kind of signer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signer {
    Issuer(Issuer),
    TrustDomain(TrustDomain),
}

/// The tokens of an issuer by which hosts of a provider prove themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostClaims {
    pub provider: Arc<str>,
    /// The name of the issuer.
    pub issuer: String,
    /// The claims that must equal these texts, all of them.
    pub claims: Vec<(ClaimPath, String)>,
}

/// The way to a claim: names with `.` between them, or one name that holds dots itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimPath(String);

/// A text is no way to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the name of a claim, or a path such as realm_access.roles")]
pub struct InvalidClaimPath;

impl Issuer {
    /// By what a token of these audiences is accepted; without any where its audience needs no setting of the issuer.
    pub fn acceptance(&self, audiences: &[String]) -> Acceptance {
        self.tokens.acceptance(self.identity(), audiences)
    }

    /// Whether a token that was accepted would be accepted now, as that of the same user with the same groups.
    pub fn still_accepts(&self, token: &Acceptance) -> bool {
        self.tokens.still_accepts(self.identity(), token)
    }

    /// What decides whose a token is. The e-mail address decides nothing.
    fn identity(&self) -> impl Hash {
        ("issuer", &self.name, &self.issuer, &self.user, &self.groups)
    }
}

impl TrustDomain {
    /// By what a token of these audiences is accepted, as of an issuer.
    pub fn acceptance(&self, audiences: &[String]) -> Acceptance {
        self.tokens.acceptance(self.identity(), audiences)
    }

    /// Whether a token that was accepted would be accepted now.
    pub fn still_accepts(&self, token: &Acceptance) -> bool {
        self.tokens.still_accepts(self.identity(), token)
    }

    fn identity(&self) -> impl Hash {
        ("trust domain", &self.name)
    }
}

impl Signer {
    /// The name in logs and metrics. No issuer's name holds a colon.
    pub(crate) fn label(&self) -> Arc<str> {
        match self {
            Self::Issuer(issuer) => issuer.name.as_str().into(),
            Self::TrustDomain(domain) => format!("spiffe://{}", domain.name).into(),
        }
    }

    pub(crate) fn tokens(&self) -> &TokenSettings {
        match self {
            Self::Issuer(issuer) => &issuer.tokens,
            Self::TrustDomain(domain) => &domain.tokens,
        }
    }

    pub(crate) fn acceptance(&self, audiences: &[String]) -> Acceptance {
        match self {
            Self::Issuer(issuer) => issuer.acceptance(audiences),
            Self::TrustDomain(domain) => domain.acceptance(audiences),
        }
    }

    pub(crate) fn key_use(&self) -> KeyUse {
        match self {
            Self::Issuer(_) => KeyUse::Signature,
            Self::TrustDomain(_) => KeyUse::JwtSvid,
        }
    }

    /// The claim of its users' groups.
    pub(crate) fn groups(&self) -> Option<&ClaimPath> {
        match self {
            Self::Issuer(issuer) => issuer.groups.as_ref(),
            Self::TrustDomain(_) => None,
        }
    }

    /// The claim `iss` of its tokens, if that identifies it.
    pub(crate) fn issuer(&self) -> Option<&str> {
        match self {
            Self::Issuer(issuer) => Some(&issuer.issuer),
            Self::TrustDomain(_) => None,
        }
    }

    /// Whether the keys of the other are these, fetched from the same place in the same way under one name.
    pub(crate) fn has_keys_of(&self, other: &Self) -> bool {
        (self.label(), self.issuer()) == (other.label(), other.issuer())
            && self.tokens().has_keys_of(other.tokens())
    }
}

impl From<Issuer> for Signer {
    fn from(issuer: Issuer) -> Self {
        Self::Issuer(issuer)
    }
}

impl From<TrustDomain> for Signer {
    fn from(domain: TrustDomain) -> Self {
        Self::TrustDomain(domain)
    }
}

impl ClaimPath {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The claim. One whose name is the whole path comes first: `https://example.com/groups` is a name.
    pub(crate) fn find<'a>(&self, claims: &'a Map<String, Value>) -> Option<&'a Value> {
        claims.get(&self.0).or_else(|| {
            let (parents, name) = self.0.rsplit_once('.')?;
            let mut within = claims;
            for parent in parents.split('.') {
                within = within.get(parent)?.as_object()?;
            }
            within.get(name)
        })
    }

    /// The claim or object of the top level that the path begins with.
    pub(crate) fn first(&self) -> &str {
        self.0.split('.').next().unwrap_or_default()
    }
}

impl FromStr for ClaimPath {
    type Err = InvalidClaimPath;

    fn from_str(text: &str) -> Result<Self, InvalidClaimPath> {
        let is_name = |name: &str| !name.is_empty() && !name.chars().any(char::is_whitespace);
        if text.split('.').all(is_name) { Ok(Self(text.to_owned())) } else { Err(InvalidClaimPath) }
    }
}
