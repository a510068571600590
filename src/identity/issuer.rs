//! What is configured of an issuer.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::PathBuf,
    str::FromStr,
    time::Duration,
};

use serde_json::{Map, Value};
use url::Url;

use crate::Algorithm;
use toolwire_tool::context::Acceptance;

/// An identity provider whose access tokens are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issuer {
    /// What the ids of its users and groups begin with.
    pub name: String,
    /// The claim `iss` of its tokens, exactly.
    pub issuer: String,
    /// The audiences of which a token must name one.
    pub audience: Vec<String>,
    pub algorithms: Vec<Algorithm>,
    /// The claim that names the user.
    pub user: ClaimPath,
    pub email: Option<ClaimPath>,
    pub groups: Option<ClaimPath>,
    /// The longest time between a token's issue and its end.
    pub max_life: Duration,
    pub keys: KeySource,
    /// A file with the bearer token by which the keys are fetched, from the configured origin alone.
    pub bearer_file: Option<PathBuf>,
    /// A file with the authorities, in PEM, that alone may vouch for the issuer's servers.
    pub ca: Option<PathBuf>,
}

/// Where the keys of an issuer are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeySource {
    /// Where the metadata below this address say: `OpenID` Connect Discovery, or else RFC 8414.
    Discovery(Url),
    Url(Url),
    File(PathBuf),
}

/// The way to a claim: names with `.` between them, or one name that holds dots itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimPath(String);

/// A text is no way to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the name of a claim, or a path such as realm_access.roles")]
pub struct InvalidClaimPath;

impl Issuer {
    /// Whether the keys of the other are these: fetched from the same place in the same way, and told of by one name.
    pub(crate) fn has_keys_of(&self, other: &Self) -> bool {
        let of = |it: &Self| {
            (it.name.clone(), it.issuer.clone(), it.keys.clone(), it.bearer_file.clone(), it.ca.clone())
        };
        of(self) == of(other)
    }

    /// By what a token of these audiences is accepted; without any where its audience needs no setting of the issuer.
    pub fn acceptance(&self, audiences: &[String]) -> Acceptance {
        let audiences = audiences.iter().filter(|it| self.audience.contains(it)).cloned().collect();
        Acceptance { settings: self.fingerprint(), audiences }
    }

    /// Whether a token that was accepted would be accepted now, as that of the same user with the same groups.
    pub fn still_accepts(&self, token: &Acceptance) -> bool {
        let listed = &token.audiences;
        let has_audience = listed.is_empty() || listed.iter().any(|it| self.audience.contains(it));
        has_audience && token.settings == self.fingerprint()
    }

    /// A number for what decides which tokens are whose, audiences aside. The e-mail address decides nothing.
    fn fingerprint(&self) -> u64 {
        let Self {
            name,
            issuer,
            audience: _,
            algorithms,
            user,
            email: _,
            groups,
            max_life,
            keys,
            bearer_file,
            ca,
        } = self;
        let mut hasher = DefaultHasher::new();
        (name, issuer, algorithms, user, groups, max_life, keys, bearer_file, ca).hash(&mut hasher);
        hasher.finish()
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
