//! An issuer of the tests: its keys, its tokens, and a clock that tests pause. The RSA key is a file, since ring makes
//! none.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use data_encoding::BASE64URL_NOPAD;
use ring::{
    rand::SystemRandom,
    rsa::KeyPair as RsaPair,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
        EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512,
        RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512, RsaEncoding, RsaPublicKeyComponents,
    },
};
use serde_json::{Value, json};

use crate::{
    Algorithm, Clock, Issuer, Issuers, KeySource, Principal, Refusal, Resource, Subject, TokenSettings,
    TrustDomain,
};
use toolwire_base::{clock, digest::Digest};
use toolwire_outgoing::Egress;

/// When the clock of the tests begins, in seconds since 1970.
pub(super) const NOW: i64 = 1_800_000_000;
pub(super) const ISSUER: &str = "https://login.example";

/// A key pair of an issuer.
pub(super) struct Signer {
    pub(super) kid: String,
    pair: Pair,
}

enum Pair {
    Ed(Ed25519KeyPair),
    Ec(EcdsaKeyPair, &'static str),
    Rsa(RsaPair),
}

impl Signer {
    pub(super) fn ed(kid: &str) -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self { kid: kid.to_owned(), pair: Pair::Ed(Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap()) }
    }

    pub(super) fn p256(kid: &str) -> Self {
        Self::ec(kid, &ECDSA_P256_SHA256_FIXED_SIGNING, "P-256")
    }

    pub(super) fn p384(kid: &str) -> Self {
        Self::ec(kid, &ECDSA_P384_SHA384_FIXED_SIGNING, "P-384")
    }

    fn ec(kid: &str, algorithm: &'static EcdsaSigningAlgorithm, curve: &'static str) -> Self {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap();
        Self { kid: kid.to_owned(), pair: Pair::Ec(pair, curve) }
    }

    pub(super) fn rsa(kid: &str) -> Self {
        let pair = RsaPair::from_pkcs8(include_bytes!("rsa.pk8")).unwrap();
        Self { kid: kid.to_owned(), pair: Pair::Rsa(pair) }
    }

    /// The public key, as an issuer publishes it without an `alg`.
    pub(super) fn jwk(&self) -> Value {
        let encode = |bytes: &[u8]| BASE64URL_NOPAD.encode(bytes);
        let key = match &self.pair {
            Pair::Ed(pair) => {
                json!({"kty": "OKP", "crv": "Ed25519", "x": encode(pair.public_key().as_ref())})
            }
            Pair::Ec(pair, curve) => {
                let (x, y) =
                    pair.public_key().as_ref()[1..].split_at((pair.public_key().as_ref().len() - 1) / 2);
                json!({"kty": "EC", "crv": curve, "x": encode(x), "y": encode(y)})
            }
            Pair::Rsa(pair) => {
                let public = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public());
                json!({"kty": "RSA", "n": encode(&public.n), "e": encode(&public.e)})
            }
        };
        changed(&key, &json!({"kid": self.kid, "use": "sig"}))
    }

    /// The algorithm that the key usually has.
    pub(super) fn algorithm(&self) -> Algorithm {
        match &self.pair {
            Pair::Ed(_) => Algorithm::EdDsa,
            Pair::Ec(_, "P-256") => Algorithm::ES256,
            Pair::Ec(..) => Algorithm::ES384,
            Pair::Rsa(_) => Algorithm::RS256,
        }
    }

    /// A token with these claims.
    pub(super) fn token(&self, claims: &Value) -> String {
        self.token_with(&json!({}), claims)
    }

    /// A token whose header is changed too.
    pub(super) fn token_with(&self, header: &Value, claims: &Value) -> String {
        let usual = json!({"alg": self.algorithm().to_string(), "kid": self.kid});
        let (header, claims) = (changed(&usual, header).to_string(), claims.to_string());
        self.signed(&header, &claims)
    }

    /// A token of these texts, signed as its header says, or else as usual.
    pub(super) fn signed(&self, header: &str, claims: &str) -> String {
        let named =
            serde_json::from_str::<Value>(header).ok().and_then(|it| it["alg"].as_str()?.parse().ok());
        let signed = format!("{}.{}", encode(header), encode(claims));
        let signature = self.sign(named.unwrap_or_else(|| self.algorithm()), signed.as_bytes());
        format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature))
    }

    fn sign(&self, algorithm: Algorithm, signed: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Ed(pair) => pair.sign(signed).as_ref().to_vec(),
            Pair::Ec(pair, _) => pair.sign(&random, signed).unwrap().as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let encoding: &'static dyn RsaEncoding = match algorithm {
                    Algorithm::PS256 => &RSA_PSS_SHA256,
                    Algorithm::PS384 => &RSA_PSS_SHA384,
                    Algorithm::PS512 => &RSA_PSS_SHA512,
                    Algorithm::RS384 => &RSA_PKCS1_SHA384,
                    Algorithm::RS512 => &RSA_PKCS1_SHA512,
                    _ => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(encoding, &random, signed, &mut signature).unwrap();
                signature
            }
        }
    }
}

pub(super) fn encode(text: &str) -> String {
    BASE64URL_NOPAD.encode(text.as_bytes())
}

/// The claims of a good token, changed: `null` removes one.
pub(super) fn claims(change: &Value) -> Value {
    let usual = json!({"iss": ISSUER, "aud": "toolwire", "sub": "8f2c", "iat": NOW, "exp": NOW + 600});
    changed(&usual, change)
}

/// An object with some members replaced, and those that become `null` removed.
pub(super) fn changed(object: &Value, change: &Value) -> Value {
    let mut object = object.as_object().unwrap().clone();
    for (name, value) in change.as_object().unwrap() {
        match value {
            Value::Null => object.remove(name),
            value => object.insert(name.clone(), value.clone()),
        };
    }
    Value::Object(object)
}

pub(super) fn key_set(keys: &[&Signer]) -> Value {
    json!({"keys": keys.iter().map(|key| key.jwk()).collect::<Vec<_>>()})
}

/// The issuer `corp`, as a file configures it that says no more than needed.
pub(super) fn corp(keys: KeySource) -> Issuer {
    Issuer {
        name: "corp".to_owned(),
        issuer: ISSUER.to_owned(),
        user: "sub".parse().unwrap(),
        email: Some("email".parse().unwrap()),
        groups: Some("groups".parse().unwrap()),
        tokens: TokenSettings { algorithms: Algorithm::USUAL.to_vec(), ..settings(keys) },
    }
}

fn settings(keys: KeySource) -> TokenSettings {
    TokenSettings {
        audience: vec!["toolwire".to_owned()],
        algorithms: Algorithm::OF_SVIDS.to_vec(),
        max_life: Duration::from_hours(1),
        keys,
        bearer_file: None,
        ca: None,
    }
}

/// The trust domain `example.org` with its keys in a file.
pub(super) fn domain_in(folder: &Path, keys: &Value) -> TrustDomain {
    let path = folder.join("bundle.json");
    std::fs::write(&path, keys.to_string()).unwrap();
    TrustDomain { name: "example.org".to_owned(), tokens: settings(KeySource::File(path)) }
}

/// The user that a principal is.
pub(super) fn user(principal: &Principal) -> &str {
    let Subject::User(user) = &principal.subject else { panic!("{principal:?}") };
    user.as_str()
}

/// The issuer `corp` with its keys in a file.
pub(super) fn corp_in(folder: &Path, keys: &[&Signer]) -> Issuer {
    let path = folder.join("jwks.json");
    std::fs::write(&path, key_set(keys).to_string()).unwrap();
    corp(KeySource::File(path))
}

/// Starts issuers or trust domains by a clock that goes with the paused one.
pub(super) fn start(signers: impl IntoIterator<Item = impl Into<crate::Signer>>) -> Issuers {
    Issuers::start(signers, resource(), &Egress::default(), test_clock())
}

/// The server of the tests, which has the toolsets `shop` and `desk`.
pub(super) fn resource() -> Resource {
    let toolsets = ["shop", "desk"].map(|name| name.parse().unwrap());
    Resource::new(Some("https://tools.example/mcp".to_owned()), toolsets)
}

fn test_clock() -> Clock {
    let begin = clock::now();
    let epoch = UNIX_EPOCH + Duration::from_secs(NOW.cast_unsigned());
    Arc::new(move || epoch + (clock::now() - begin))
}

/// Verifies a token.
pub(super) async fn verify(issuers: &Issuers, token: &str) -> Result<Arc<Principal>, Refusal> {
    issuers.verify(token, Digest::of_bytes(token.as_bytes())).await
}

/// Verifies a token with one key of an issuer that is otherwise as usual.
pub(super) async fn verify_once(
    key: &Signer,
    token: &str,
    configure: impl FnOnce(&mut Issuer),
) -> Result<Arc<Principal>, Refusal> {
    let folder = tempfile::tempdir().unwrap();
    let mut issuer = corp_in(folder.path(), &[key]);
    configure(&mut issuer);
    verify(&start([issuer]), token).await
}
