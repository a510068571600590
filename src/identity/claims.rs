//! The claims of a token whose signature holds: that it is an access token or a JWT-SVID for this server, valid now,
//! and whose it is.
//!
//! Not here: `iss`, by which the issuer was found.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde_json::{Map, Value};

use crate::{
    ClaimPath, HostClaims, Issuer, Principal, Refusal, Resource, Signer, SpiffeId, Subject, TrustDomain,
    group_id, principal::fresh_until, refusal::Quoted, user_id,
};
use toolwire_tool::context::Grant;

/// By how much the clocks of an issuer and of this server may differ.
pub(crate) const LEEWAY: Duration = Duration::from_secs(30);
/// The longest e-mail address (RFC 5321), in bytes.
const MAX_EMAIL: usize = 254;

type Claims = Map<String, Value>;

/// Returns what the claims prove for the resource, by the rules of their signer. Those of `hosts` prove no user.
pub(crate) fn check(
    signer: &Signer,
    hosts: &[HostClaims],
    resource: &Resource,
    claims: &Claims,
    now: SystemTime,
) -> Result<Principal, Refusal> {
    check_kind(signer, claims)?;
    let audiences = texts(claims.get("aud")).unwrap_or_default();
    let is_for_resource = audiences.iter().any(|it| resource.is_audience(it));
    let acceptance = signer.acceptance(if is_for_resource { &[] } else { &audiences });
    if !is_for_resource && acceptance.audiences.is_empty() {
        let accepted = signer.tokens().audience.iter().map(String::as_str).chain(resource.url());
        return Err(Refusal::WrongAudience {
            named: Quoted::all(audiences.iter().map(String::as_str)),
            accepted: Quoted::all(accepted),
        });
    }
    let ends_at = check_times(claims, signer.tokens().max_life, now)?;
    let scopes = scopes(claims)?;
    let (subject, email, groups) = match signer {
        Signer::TrustDomain(domain) => (Subject::Workload(workload(domain, claims)?), None, Vec::new()),
        Signer::Issuer(issuer) => {
            if let Some(host) = hosts.iter().find(|it| is_host(it, issuer, claims)) {
                (Subject::Host(Arc::clone(&host.provider)), None, Vec::new())
            } else {
                let user = user_id(&issuer.name, user(issuer, claims)?);
                (Subject::User(user), email(issuer, claims), groups(issuer, claims)?)
            }
        }
    };
    Ok(Principal {
        subject,
        email,
        bound_to: resource.bound_to(&audiences, &scopes),
        audiences,
        fresh_until: fresh_until(ends_at, now),
        grant: Arc::new(Grant { groups, scopes, ends_at: Some(ends_at), acceptance: Some(acceptance) }),
    })
}

/// Refuses ID, logout and refresh tokens by the claims that access tokens do not have, and tokens that prove their user
/// only together with a key of the client's. A trust domain signs none of the former.
fn check_kind(signer: &Signer, claims: &Claims) -> Result<(), Refusal> {
    let is_other = |name: &str, access: &str| {
        claims.get(name).is_some_and(|it| it.as_str().is_none_or(|it| !it.eq_ignore_ascii_case(access)))
    };
    let tells_of_session =
        ["nonce", "at_hash", "c_hash", "s_hash", "events"].iter().any(|name| claims.contains_key(*name));
    let is_other = tells_of_session || is_other("token_use", "access") || is_other("typ", "Bearer");
    if is_other && matches!(signer, Signer::Issuer(_)) {
        return Err(Refusal::NotAccessToken);
    }
    if claims.contains_key("cnf") { Err(Refusal::Bound) } else { Ok(()) }
}

/// When the token ends, with the leeway.
fn check_times(claims: &Claims, max_life: Duration, now: SystemTime) -> Result<SystemTime, Refusal> {
    let (now, leeway) =
        (now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(), LEEWAY.as_secs_f64());
    let expires = time(claims, "exp")?.ok_or(Refusal::NoExpiry)?;
    if expires + leeway <= now {
        return Err(Refusal::Expired);
    }
    if time(claims, "nbf")?.is_some_and(|not_before| not_before > now + leeway) {
        return Err(Refusal::NotYetValid);
    }
    let issued = time(claims, "iat")?;
    if issued.is_some_and(|issued| issued > now + leeway) {
        return Err(Refusal::IssuedInFuture);
    }
    // One that does not say when it was issued lives from now on, at least.
    let life = expires - issued.unwrap_or(now);
    if life > max_life.as_secs_f64() + leeway {
        let life = Duration::try_from_secs_f64(life.round()).unwrap_or(Duration::MAX);
        return Err(Refusal::LivesTooLong { life, max_life });
    }
    Duration::try_from_secs_f64(expires + leeway)
        .ok()
        .and_then(|end| UNIX_EPOCH.checked_add(end))
        .ok_or(Refusal::Malformed)
}

/// A time as JSON Web Tokens have them: seconds since 1970, which may have a fraction.
fn time(claims: &Claims, name: &str) -> Result<Option<f64>, Refusal> {
    match claims.get(name) {
        None => Ok(None),
        Some(value) => value.as_f64().map(Some).ok_or(Refusal::Malformed),
    }
}

/// The workload of a JWT-SVID, which must be of the trust domain whose key signed it.
fn workload(domain: &TrustDomain, claims: &Claims) -> Result<SpiffeId, Refusal> {
    let subject = claims.get("sub").and_then(Value::as_str).ok_or(Refusal::NoUser)?;
    let named = || Quoted::new(subject);
    let id = subject.parse::<SpiffeId>().map_err(|_| Refusal::MalformedSpiffeId { named: named() })?;
    if id.trust_domain() == domain.name {
        Ok(id)
    } else {
        Err(Refusal::UnknownTrustDomain { named: named(), issuer: None })
    }
}

/// Whether the token is of a host of this provider.
fn is_host(host: &HostClaims, issuer: &Issuer, claims: &Claims) -> bool {
    let is_equal = |(path, text): &(ClaimPath, String)| {
        path.find(claims).is_some_and(|it| it == text.as_str()) && is_verified(path, claims)
    };
    host.issuer == issuer.name && host.claims.iter().all(is_equal)
}

fn user<'a>(issuer: &Issuer, claims: &'a Claims) -> Result<&'a str, Refusal> {
    let user = issuer.user.find(claims).and_then(Value::as_str).filter(|it| !it.is_empty());
    let user = user.ok_or(Refusal::NoUser)?;
    if is_verified(&issuer.user, claims) { Ok(user) } else { Err(Refusal::UnverifiedEmail) }
}

/// Whether a claim proves whose the token is. A user who may write any address into their profile would be its owner.
fn is_verified(path: &ClaimPath, claims: &Claims) -> bool {
    path.as_str() != "email" || is_true(claims.get("email_verified"))
}

fn email(issuer: &Issuer, claims: &Claims) -> Option<String> {
    let email = issuer.email.as_ref()?.find(claims)?.as_str()?;
    let is_verified = claims.get("email_verified").is_none_or(|it| is_true(Some(it)));
    let is_shown = email.len() <= MAX_EMAIL && !email.chars().any(|it| it.is_control() || it.is_whitespace());
    (is_verified && is_shown && !email.is_empty()).then(|| email.to_owned())
}

/// Some issuers write the flag as a text.
fn is_true(flag: Option<&Value>) -> bool {
    flag.is_some_and(|it| *it == true || *it == "true")
}

fn groups(issuer: &Issuer, claims: &Claims) -> Result<Vec<String>, Refusal> {
    let Some(path) = &issuer.groups else { return Ok(Vec::new()) };
    if are_left_out(path, claims) {
        return Err(Refusal::GroupsLeftOut);
    }
    let Some(found) = path.find(claims) else { return Ok(Vec::new()) };
    let names = texts_or_words(found).ok_or(Refusal::MalformedGroups)?;
    Ok(names.iter().map(|name| group_id(&issuer.name, name)).collect())
}

/// Whether the issuer says that it left the groups out: Entra by `hasgroups`, and all by distributed claims
/// (`OpenID` Connect Core §5.6.2).
fn are_left_out(path: &ClaimPath, claims: &Claims) -> bool {
    let is_elsewhere = |it: &Value| it.get(path.as_str()).or_else(|| it.get(path.first())).is_some();
    claims.get("_claim_names").is_some_and(is_elsewhere) || is_true(claims.get("hasgroups"))
}

/// `scope` of RFC 9068 and `scp` of others, each a text of words or a list. One that cannot be read may be what binds
/// the token.
fn scopes(claims: &Claims) -> Result<Vec<String>, Refusal> {
    let found = ["scope", "scp"].iter().filter_map(|name| claims.get(*name)).filter(|it| !it.is_null());
    let scopes = found.map(texts_or_words).collect::<Option<Vec<_>>>().ok_or(Refusal::MalformedScope)?;
    Ok(scopes.concat())
}

/// A list of texts, or the words of a text.
fn texts_or_words(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(text.split_ascii_whitespace().map(str::to_owned).collect()),
        list => texts(Some(list)),
    }
}

/// A text, or a list of texts.
fn texts(value: Option<&Value>) -> Option<Vec<String>> {
    match value? {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(items) => items.iter().map(|it| it.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}
