//! The settings that issuers and trust domains have in common: what their tokens must be, and where their keys are.

use std::{path::PathBuf, time::Duration};

use url::Url;

use crate::{fields::Fields, value::Value};
use toolwire_identity::{Algorithm, KeySource, KeyUse, TokenSettings, check_address, check_file};

/// Entra's tokens are valid for 60 to 90 minutes, and say that they were issued 5 minutes earlier than they were.
const USUAL_LIFE: Duration = Duration::from_mins(100);

/// Reads the settings of an entry. Keys that no setting locates are below the address `issuer`, if there is one.
pub(super) fn read(entry: &mut Fields, key_use: KeyUse, issuer: Option<&str>) -> Option<TokenSettings> {
    // Every field is read even if an earlier one is wrong, so that all problems are reported at once.
    let audience = entry.required::<Vec<String>>("audience");
    let algorithms = entry.optional::<Vec<String>>("algorithms");
    let max_life = entry.optional("max_life").unwrap_or(USUAL_LIFE);
    let keys = keys(entry, key_use, issuer);
    let (bearer_file, ca) = (entry.optional::<PathBuf>("bearer_file"), entry.optional::<PathBuf>("ca"));

    if audience.as_ref().is_some_and(|all| all.is_empty() || all.iter().any(String::is_empty)) {
        entry.problem("audience must name at least one, of which a token names one");
    }
    if max_life.is_zero() {
        entry.problem("max_life must be more than zero: no token would be accepted");
    }
    if (bearer_file.is_some() || ca.is_some()) && matches!(keys, Some(KeySource::File(_))) {
        entry.problem("bearer_file and ca are for keys that are fetched, not for jwks_file; remove them");
    }
    let algorithms = match (algorithms, key_use) {
        (None, KeyUse::Signature) => Some(Algorithm::USUAL.to_vec()),
        (None, KeyUse::JwtSvid) => Some(Algorithm::OF_SVIDS.to_vec()),
        (Some(names), _) => self::algorithms(&names, key_use).map_err(|what| entry.problem(what)).ok(),
    };
    Some(TokenSettings {
        audience: audience?,
        algorithms: algorithms?,
        max_life,
        keys: keys?,
        bearer_file,
        ca,
    })
}

fn algorithms(names: &[String], key_use: KeyUse) -> Result<Vec<Algorithm>, String> {
    if names.is_empty() {
        return Err("algorithms must name at least one".to_owned());
    }
    let parse = |name: &String| {
        let algorithm = name.parse::<Algorithm>().map_err(|_| {
            let known = <Algorithm as strum::VariantNames>::VARIANTS.join(", ");
            format!("algorithms must be of {known}, but there is {name:?}")
        })?;
        if key_use == KeyUse::JwtSvid && !algorithm.is_of_svids() {
            return Err(format!("algorithms: no JWT-SVID is signed by {algorithm}; remove it"));
        }
        Ok(algorithm)
    };
    names.iter().map(parse).collect()
}

/// Where the keys are: `jwks_url`, `jwks_file`, or what the issuer itself names.
fn keys(entry: &mut Fields, key_use: KeyUse, issuer: Option<&str>) -> Option<KeySource> {
    let (url, file) = (entry.optional::<String>("jwks_url"), entry.optional::<PathBuf>("jwks_file"));
    let source = match (url, file, key_use) {
        (Some(_), Some(_), _) => Err("expected jwks_url or jwks_file, not both; remove one".to_owned()),
        (None, Some(file), _) => Ok(KeySource::File(file)),
        (Some(url), None, _) => address(&url).map(KeySource::Url).map_err(|what| format!("jwks_url {what}")),
        // What is of the wrong type is reported already.
        (None, None, _) if entry.has("jwks_url") || entry.has("jwks_file") => return None,
        (None, None, KeyUse::JwtSvid) => {
            Err("jwks_file is missing; add it, with the trust domain's bundle, or jwks_url".to_owned())
        }
        (None, None, KeyUse::Signature) => {
            let found = address(issuer?).map(KeySource::Discovery);
            found.map_err(|what| format!("issuer {what}; or say where its keys are by jwks_url or jwks_file"))
        }
    };
    let source = source.and_then(|source| {
        check_file(&source, key_use).map_err(|what| format!("jwks_file: {what}"))?;
        Ok(source)
    });
    source.map_err(|what| entry.problem(what)).ok()
}

fn address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("cannot be read as an address: {error}"))?;
    check_address(&url).map_err(|what| what.to_string())?;
    Ok(url)
}

pub(super) fn shown(tokens: &TokenSettings) -> Vec<(&'static str, String)> {
    let algorithms: Vec<_> = tokens.algorithms.iter().map(ToString::to_string).collect();
    let keys = match &tokens.keys {
        KeySource::Discovery(_) => None,
        KeySource::Url(url) => Some(("jwks_url", url.to_string().to_toml())),
        KeySource::File(path) => Some(("jwks_file", path.to_toml())),
    };
    let mut shown = vec![
        ("audience", tokens.audience.to_toml()),
        ("algorithms", algorithms.to_toml()),
        ("max_life", tokens.max_life.to_toml()),
    ];
    shown.extend(keys);
    shown.extend(tokens.bearer_file.as_ref().map(|path| ("bearer_file", path.to_toml())));
    shown.extend(tokens.ca.as_ref().map(|path| ("ca", path.to_toml())));
    shown
}
