//! The keys that an issuer or a trust domain publishes: a JSON Web Key Set (RFC 7517). Keys for another use, or of a
//! kind that is not known here, are left out.

use data_encoding::BASE64URL_NOPAD;
use ring::signature::{RsaPublicKeyComponents, UnparsedPublicKey};
use serde_json::{Map, Value};

use crate::{Algorithm, algorithm::Verification};

/// The longest name of a key, in bytes.
pub(crate) const MAX_KID: usize = 256;

/// The most keys of a set. Issuers publish two or three.
const MAX_KEYS: usize = 100;
/// The lengths of an RSA modulus, in bytes.
const MODULUS: std::ops::RangeInclusive<usize> = 256..=1_024;
/// The lengths of an RSA exponent, in bytes.
const EXPONENT: std::ops::RangeInclusive<usize> = 1..=4;
/// What a point of a curve begins with if it is not compressed (SEC 1).
const UNCOMPRESSED: u8 = 4;

/// What the keys of a signer are for, by the member `use` of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyUse {
    /// `sig`, as issuers publish them.
    Signature,
    /// `jwt-svid` of a SPIFFE bundle.
    JwtSvid,
}

/// The keys of a signer, each with its name.
#[derive(Debug, Default)]
pub(crate) struct KeySet(Vec<Key>);

/// A public key that verifies signatures.
#[derive(Debug)]
pub(crate) struct Key {
    kid: String,
    material: Material,
    /// The one algorithm that the issuer uses it for, if it says so.
    algorithm: Option<Algorithm>,
}

#[derive(Debug)]
enum Material {
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// A point, and the one algorithm of its curve.
    Point(Vec<u8>, Algorithm),
}

/// Why a set is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeySetError {
    #[error("the keys are no JSON Web Key Set: no object with a list `keys`")]
    NoKeySet,
    #[error("there are more than {MAX_KEYS} keys")]
    TooMany,
    #[error("two keys have the same name `kid` {0:?}, so that either may be meant")]
    Twice(String),
    #[error("none of the keys can be used: each needs a `kid`, {}, and RSA at least 2048 bits", .0.in_words())]
    NoneOfUse(KeyUse),
}

impl KeyUse {
    fn in_words(self) -> &'static str {
        match self {
            Self::Signature => "`use` sig or none",
            Self::JwtSvid => "`use` jwt-svid or neither `use` nor `x5c`",
        }
    }

    /// Whether a key is for this use. The Workload API of SPIFFE leaves `use` out; a key without it that comes with a
    /// certificate is one of X.509-SVIDs.
    fn is_of(self, key: &Map<String, Value>) -> bool {
        match (self, key.get("use")) {
            (Self::Signature, found) => found.is_none_or(|it| it == "sig"),
            (Self::JwtSvid, None) => !key.contains_key("x5c"),
            (Self::JwtSvid, Some(found)) => found == "jwt-svid",
        }
    }
}

impl KeySet {
    pub(crate) fn read(set: &Value, key_use: KeyUse) -> Result<Self, KeySetError> {
        let keys = set.get("keys").and_then(Value::as_array).ok_or(KeySetError::NoKeySet)?;
        if keys.len() > MAX_KEYS {
            return Err(KeySetError::TooMany);
        }
        let mut read: Vec<Key> = Vec::new();
        for key in keys.iter().filter_map(Value::as_object).filter_map(|key| Key::read(key, key_use)) {
            if read.iter().any(|other| other.is_mistakable_for(&key)) {
                return Err(KeySetError::Twice(key.kid));
            }
            read.push(key);
        }
        if read.is_empty() { Err(KeySetError::NoneOfUse(key_use)) } else { Ok(Self(read)) }
    }

    pub(crate) fn has(&self, kid: &str) -> bool {
        self.0.iter().any(|key| key.kid == kid)
    }

    /// The key of this name for this algorithm, if there is one.
    pub(crate) fn find(&self, kid: &str, algorithm: Algorithm) -> Option<&Key> {
        self.0.iter().find(|key| key.kid == kid && key.agrees_with(algorithm))
    }
}

impl Key {
    fn read(key: &Map<String, Value>, key_use: KeyUse) -> Option<Self> {
        let text = |name: &str| key.get(name).and_then(Value::as_str);
        let kid = text("kid").filter(|kid| (1..=MAX_KID).contains(&kid.len()))?;
        if !key_use.is_of(key) {
            return None;
        }
        let verifies =
            |operations: &Value| operations.as_array().is_some_and(|all| all.iter().any(|it| it == "verify"));
        if !key.get("key_ops").is_none_or(verifies) {
            return None;
        }
        let algorithm = match key.get("alg") {
            None => None,
            Some(name) => Some(name.as_str()?.parse().ok()?),
        };
        let bytes = |name: &str| BASE64URL_NOPAD.decode(text(name)?.as_bytes()).ok();
        let material = match (text("kty")?, text("crv")) {
            ("RSA", _) => Material::rsa(&bytes("n")?, bytes("e")?)?,
            ("EC", Some("P-256")) => Material::point(bytes("x")?, bytes("y")?, 32, Algorithm::ES256)?,
            ("EC", Some("P-384")) => Material::point(bytes("x")?, bytes("y")?, 48, Algorithm::ES384)?,
            ("OKP", Some("Ed25519")) => {
                Material::Point(bytes("x").filter(|x| x.len() == 32)?, Algorithm::EdDsa)
            }
            _ => return None,
        };
        let key = Self { kid: kid.to_owned(), material, algorithm };
        algorithm.is_none_or(|it| key.material.suits(it)).then_some(key)
    }

    fn agrees_with(&self, algorithm: Algorithm) -> bool {
        self.algorithm.is_none_or(|its| its == algorithm) && self.material.suits(algorithm)
    }

    /// Whether some token may mean either.
    fn is_mistakable_for(&self, other: &Self) -> bool {
        let (left, right) = (&self.material, &other.material);
        let have_kind_in_common = match (left, right) {
            (Material::Rsa { .. }, Material::Rsa { .. }) => true,
            (Material::Point(_, left), Material::Point(_, right)) => left == right,
            _ => false,
        };
        let are_apart =
            matches!((self.algorithm, other.algorithm), (Some(left), Some(right)) if left != right);
        self.kid == other.kid && have_kind_in_common && !are_apart
    }

    pub(crate) fn verifies(&self, algorithm: Algorithm, signed: &[u8], signature: &[u8]) -> bool {
        match (algorithm.verification(), &self.material) {
            _ if !self.agrees_with(algorithm) => false,
            (Verification::Rsa(parameters), Material::Rsa { modulus, exponent }) => {
                RsaPublicKeyComponents { n: modulus, e: exponent }
                    .verify(parameters, signed, signature)
                    .is_ok()
            }
            (Verification::Curve(curve), Material::Point(point, _)) => {
                UnparsedPublicKey::new(curve, point).verify(signed, signature).is_ok()
            }
            _ => false,
        }
    }
}

impl Material {
    fn rsa(modulus: &[u8], exponent: Vec<u8>) -> Option<Self> {
        // Some issuers put a zero before a modulus, as DER has it; ring takes none.
        let zeros = usize::from(modulus.first() == Some(&0));
        let modulus = modulus[zeros..].to_vec();
        let fits = MODULUS.contains(&modulus.len()) && EXPONENT.contains(&exponent.len());
        fits.then_some(Self::Rsa { modulus, exponent })
    }

    fn point(x: Vec<u8>, y: Vec<u8>, length: usize, algorithm: Algorithm) -> Option<Self> {
        (x.len() == length && y.len() == length)
            .then(|| Self::Point([vec![UNCOMPRESSED], x, y].concat(), algorithm))
    }

    fn suits(&self, algorithm: Algorithm) -> bool {
        match self {
            Self::Rsa { .. } => algorithm.is_rsa(),
            Self::Point(_, its) => *its == algorithm,
        }
    }
}
