//! A JSON Web Token in the compact form of RFC 7515, and its signature. Nothing in its header but `alg`, `kid` and
//! `typ` is used: a key or an address of keys that a token brings along proves nothing.
//!
//! Not here: what its claims mean.

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Map, Value};

use crate::{
    Algorithm, Refusal,
    jwk::{Key, MAX_KID},
};
use toolwire_contract::json;

/// The longest token, in bytes.
const MAX_TOKEN: usize = 16 * 1_024;

/// A token that was read, and is not verified.
#[derive(Debug)]
pub(crate) struct Jws<'a> {
    pub(crate) algorithm: Algorithm,
    pub(crate) kid: String,
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
        check_type(header.get("typ"))?;
        Ok(Self {
            algorithm: algorithm(header.get("alg"))?,
            kid: kid(header.get("kid"))?,
            claims: object(claims)?,
            signed,
            signature: decode(signature)?,
        })
    }

    pub(crate) fn is_signed_by(&self, key: &Key) -> bool {
        key.verifies(self.algorithm, self.signed.as_bytes(), &self.signature)
    }
}

/// `at+jwt` of RFC 9068, `JWT` or none; other tokens that issuers sign have types of their own.
fn check_type(found: Option<&Value>) -> Result<(), Refusal> {
    let Some(found) = found else { return Ok(()) };
    let name = found.as_str().ok_or(Refusal::Malformed)?.to_ascii_lowercase();
    let is_ours = matches!(name.strip_prefix("application/").unwrap_or(&name), "at+jwt" | "jwt");
    if is_ours { Ok(()) } else { Err(Refusal::NotAccessToken) }
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
