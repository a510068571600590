//! What hosts of a provider prove themselves by: a token, the certificate of a workload, or either of both.

use super::Token;
use crate::{ToolPattern, fields::Fields, reader::Reader, value::Value};
use toolwire_identity::SpiffePattern;

/// The credentials of hosts, at least one.
#[derive(Clone, Debug)]
pub struct HostCredentials {
    pub(super) token: Option<Token>,
    /// The SPIFFE id of their client certificates, or a pattern of ids: `spiffe`.
    pub(super) spiffe: Option<SpiffePattern>,
}

impl HostCredentials {
    pub(super) fn read(entry: &mut Fields, reader: &mut Reader) -> Option<Self> {
        let (token_env, spiffe) = (entry.optional::<String>("token_env"), entry.optional::<String>("spiffe"));
        if !entry.has("token_env") && !entry.has("spiffe") {
            entry.problem(
                "token_env is missing; add it, or spiffe with the SPIFFE id of the hosts' certificates",
            );
        }
        let token = token_env.and_then(|env| Token::read(env, entry, reader));
        let spiffe =
            spiffe.and_then(|id| id.parse().map_err(|what| entry.problem(format!("spiffe: {what}"))).ok());
        (token.is_some() || spiffe.is_some()).then_some(Self { token, spiffe })
    }

    pub(super) fn to_pairs(&self, tools: &Vec<ToolPattern>) -> Vec<(&'static str, String)> {
        let mut pairs = vec![("kind", "host".to_owned().to_toml())];
        pairs.extend(self.token.as_ref().map(|it| ("token_env", it.env.to_toml())));
        pairs.extend(self.spiffe.as_ref().map(|it| ("spiffe", it.to_string().to_toml())));
        pairs.push(("tools", tools.to_toml()));
        pairs
    }
}
