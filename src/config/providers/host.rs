//! What hosts of a provider prove themselves by: a token in a variable, the id of a workload, a token of an issuer, or
//! any of these.

use serde_json::{Map, Value as Json};

use super::Token;
use crate::{
    ToolPattern, auth::EntryNames, conditions::to_toml, fields::Fields, reader::Reader, value::Value,
};
use toolwire_contract::near::did_you_mean;
use toolwire_identity::{ClaimPath, HostClaims, SpiffePattern};

/// The credentials of hosts, at least one.
#[derive(Clone, Debug)]
pub struct HostCredentials {
    pub(super) token: Option<Token>,
    /// The SPIFFE id of their client certificates or JWT-SVIDs, or a pattern of ids: `spiffe`.
    pub(super) spiffe: Option<SpiffePattern>,
    /// The tokens of an issuer: `issuer` with its name, and `claim`, a table of claims and the texts that they equal.
    pub(super) claims: Option<HostClaims>,
}

impl HostCredentials {
    pub(super) fn read(
        name: &str,
        entry: &mut Fields,
        reader: &mut Reader,
        issuers: &EntryNames,
    ) -> Option<Self> {
        let (token_env, spiffe) = (entry.optional::<String>("token_env"), entry.optional::<String>("spiffe"));
        let (issuer, claims) = (entry.optional::<String>("issuer"), claims(entry, reader));
        if !["token_env", "spiffe", "issuer", "claim"].iter().any(|key| entry.has(key)) {
            entry.problem(
                "token_env is missing; add it, or spiffe with the SPIFFE id of the hosts, or issuer and claim for \
                 tokens of an issuer",
            );
        }
        match (entry.has("issuer"), entry.has("claim")) {
            (true, false) => entry.problem(
                "claim is missing: without it every token of the issuer would be a host's; say which claim equals \
                 which text, such as claim = { sub = \"shop-host\" }",
            ),
            (false, true) => entry.problem("claim is of tokens of an issuer; add issuer with its name"),
            _ => {}
        }
        if let Some(issuer) = issuer.as_ref().filter(|it| !issuers.has(it)) {
            let near = did_you_mean(issuer, issuers.iter());
            entry.problem(format!(
                "issuer names {issuer:?}, which [[auth.issuers]] does not; add it there{near}"
            ));
        }
        let token = token_env.and_then(|env| Token::read(env, entry, reader));
        let spiffe =
            spiffe.and_then(|id| id.parse().map_err(|what| entry.problem(format!("spiffe: {what}"))).ok());
        let claims =
            issuer.zip(claims).map(|(issuer, claims)| HostClaims { provider: name.into(), issuer, claims });
        let has_some = token.is_some() || spiffe.is_some() || claims.is_some();
        has_some.then_some(Self { token, spiffe, claims })
    }

    pub(super) fn to_pairs(&self, tools: &Vec<ToolPattern>) -> Vec<(&'static str, String)> {
        let mut pairs = vec![("kind", "host".to_owned().to_toml())];
        pairs.extend(self.token.as_ref().map(|it| ("token_env", it.env.to_toml())));
        pairs.extend(self.spiffe.as_ref().map(|it| ("spiffe", it.to_string().to_toml())));
        if let Some(HostClaims { issuer, claims, .. }) = &self.claims {
            let claims = claims.iter().map(|(path, text)| (path.as_str().to_owned(), text.as_str().into()));
            pairs.extend([("issuer", issuer.to_toml()), ("claim", to_toml(&Json::Object(claims.collect())))]);
        }
        pairs.push(("tools", tools.to_toml()));
        pairs
    }
}

/// Whether no token fits both: one of the claims must equal different texts.
pub(super) fn are_apart(one: &HostClaims, other: &HostClaims) -> bool {
    let differ = |(path, text): &(ClaimPath, String)| {
        other.claims.iter().any(|(other_path, other_text)| path == other_path && text != other_text)
    };
    one.issuer != other.issuer || one.claims.iter().any(differ)
}

/// Reads `claim`.
fn claims(entry: &mut Fields, reader: &mut Reader) -> Option<Vec<(ClaimPath, String)>> {
    let mut table = entry.table("claim")?;
    let mut claims = Vec::new();
    let found = flatten("", &table.take_json());
    if found.is_empty() {
        table.problem("claim must name at least one claim, such as claim = { sub = \"shop-host\" }");
    }
    for (path, text) in found {
        match (path.parse::<ClaimPath>(), text) {
            (Ok(path), Json::String(text)) if !text.is_empty() => claims.push((path, text)),
            (Ok(_), _) => table.problem(format!("{path} must equal a text that is not empty")),
            (Err(what), _) => table.problem(format!("{path:?}: {what}")),
        }
    }
    reader.end(table).then_some(claims)
}

/// The claims of a table by their paths, `a.b` of a table within it.
fn flatten(parent: &str, table: &Map<String, Json>) -> Vec<(String, Json)> {
    let paths = table.iter().flat_map(|(name, value)| {
        let path = if parent.is_empty() { name.clone() } else { format!("{parent}.{name}") };
        match value {
            Json::Object(inner) if !inner.is_empty() => flatten(&path, inner),
            value => vec![(path, value.clone())],
        }
    });
    paths.collect()
}
