//! A JSON Web Token in the compact form of RFC 7515, and its signature. Nothing in its header but `alg`, `kid` and
//! `typ` is used: a key or an address of keys that a token brings along proves nothing.
//!
//! Not here: what its claims mean.

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Map, Value};

use crate::{
    Algorithm, Refusal,
    jwk::{Key, KeyUse, MAX_KID},
};
use toolwire_contract::json;

/// The longest token, in bytes.
const MAX_TOKEN: usize = 16 * 1_024;

/// A token that was read, and is not verified.
#[derive(Debug)]
pub(crate) struct Jws<'a> {
    pub(crate) algorithm: Algorithm,
    pub(crate) kid: String,
    /// The header's `typ` in lower case, without `application/`.
    typ: Option<String>,
    /// Its claims, which are not to be believed before [`Self::is_signed_by`].
    pub(crate) claims: Map<String, Value>,
    signed: &'a str,
    signature: Vec<u8>,
}

impl<'a> Jws<'a> {
    /// Reads a token, and refuses what no token of ours has.
    pub(crate) fn read(token: &'a str) -> Result<Self, Refusal> {
        if token.len() > MAX_TOKEN {
            return Err(Refusal::TooLong);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(Refusal::Malformed)?;
        let (header, claims) = signed.split_once('.').ok_or(Refusal::Malformed)?;
        let header = object(header)?;
        if header.contains_key("crit") {
            return Err(Refusal::CriticalExtension);
        }
        Ok(Self {
            typ: typ(header.get("typ"))?,
            algorithm: algorithm(header.get("alg"))?,
            kid: kid(header.get("kid"))?,
            claims: object(claims)?,
            signed,
            signature: decode(signature)?,
        })
    }

    /// Refuses another type than those of its kind: `at+jwt` of RFC 9068, `JWT` or none of an issuer's access token,
    /// `JWT`, `JOSE` or none of a JWT-SVID. Other tokens that a signer signs have types of their own.
    pub(crate) fn check_type(&self, key_use: KeyUse) -> Result<(), Refusal> {
        match (key_use, self.typ.as_deref()) {
            (_, None | Some("jwt"))
            | (KeyUse::Signature, Some("at+jwt"))
            | (KeyUse::JwtSvid, Some("jose")) => Ok(()),
            (KeyUse::Signature, Some(_)) => Err(Refusal::NotAccessToken),
            (KeyUse::JwtSvid, Some(_)) => Err(Refusal::NotJwtSvid),
        }
    }

    pub(crate) fn is_signed_by(&self, key: &Key) -> bool {
        key.verifies(self.algorithm, self.signed.as_bytes(), &self.signature)
    }
}

fn typ(found: Option<&Value>) -> Result<Option<String>, Refusal> {
    let Some(found) = found else { return Ok(None) };
    let name = found.as_str().ok_or(Refusal::Malformed)?.to_ascii_lowercase();
    Ok(Some(name.strip_prefix("application/").unwrap_or(&name).to_owned()))
}

fn algorithm(found: Option<&Value>) -> Result<Algorithm, Refusal> {
    let name = found.and_then(Value::as_str).ok_or(Refusal::Malformed)?;
    name.parse().map_err(|_| Refusal::WrongAlgorithm)
}

fn kid(found: Option<&Value>) -> Result<String, Refusal> {
    match found {
        None => Err(Refusal::KeyNotNamed),
        Some(Value::String(kid)) if (1..=MAX_KID).contains(&kid.len()) => Ok(kid.clone()),
        Some(_) => Err(Refusal::Malformed),
    }
}

/// A JSON object. A key that stands twice is an error, since two readers would take different values.
fn object(part: &str) -> Result<Map<String, Value>, Refusal> {
    let text = String::from_utf8(decode(part)?).map_err(|_| Refusal::Malformed)?;
    match json::parse(&text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) | Err(_) => Err(Refusal::Malformed),
    }
}

fn decode(part: &str) -> Result<Vec<u8>, Refusal> {
    BASE64URL_NOPAD.decode(part.as_bytes()).map_err(|_| Refusal::Malformed)
}
