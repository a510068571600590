//! The settings by which tokens are verified, which issuers and trust domains have in common.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::PathBuf,
    time::Duration,
};

use url::Url;

use crate::Algorithm;
use toolwire_tool::context::Acceptance;

/// What a token must be, and where the keys are that verify it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenSettings {
    /// The audiences of which a token must name one.
    pub audience: Vec<String>,
    pub algorithms: Vec<Algorithm>,
    /// The longest time between a token's issue and its end.
    pub max_life: Duration,
    pub keys: KeySource,
    /// A file with the bearer token by which the keys are fetched, from the configured origin alone.
    pub bearer_file: Option<PathBuf>,
    /// A file with the authorities, in PEM, that alone may vouch for the servers that publish the keys.
    pub ca: Option<PathBuf>,
}

/// Where keys are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeySource {
    /// Where the metadata below this address say: `OpenID` Connect Discovery, or else RFC 8414.
    Discovery(Url),
    Url(Url),
    File(PathBuf),
}

impl TokenSettings {
    /// Whether the keys of the other are these: fetched from the same place in the same way.
    pub(crate) fn has_keys_of(&self, other: &Self) -> bool {
        (&self.keys, &self.bearer_file, &self.ca) == (&other.keys, &other.bearer_file, &other.ca)
    }

    /// By what a token of the signer with these audiences is accepted.
    pub(crate) fn acceptance(&self, signer: impl Hash, audiences: &[String]) -> Acceptance {
        let audiences = audiences.iter().filter(|it| self.audience.contains(it)).cloned().collect();
        Acceptance { settings: self.fingerprint(signer), audiences }
    }

    pub(crate) fn still_accepts(&self, signer: impl Hash, token: &Acceptance) -> bool {
        let listed = &token.audiences;
        let has_audience = listed.is_empty() || listed.iter().any(|it| self.audience.contains(it));
        has_audience && token.settings == self.fingerprint(signer)
    }

    /// A number for what decides which tokens are whose, audiences aside.
    fn fingerprint(&self, signer: impl Hash) -> u64 {
        let Self { audience: _, algorithms, max_life, keys, bearer_file, ca } = self;
        let mut hasher = DefaultHasher::new();
        (signer, algorithms, max_life, keys, bearer_file, ca).hash(&mut hasher);
        hasher.finish()
    }
}
