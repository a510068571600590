//! What a client that signs in by itself learns of this server (RFC 9728): the challenge of a refused request, and the
//! document that it names. Not here: which tokens are accepted, and the routes of the document.

use std::{collections::BTreeSet, sync::Arc};

use http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};
use serde_json::json;

use toolwire_config::Config;

/// Where the document is; below it, the path of the resource.
pub(in crate::faces) const ROOT: &str = "/.well-known/oauth-protected-resource";
pub(in crate::faces) const OF_MCP: &str = "/.well-known/oauth-protected-resource/mcp";
const MCP: &str = "/mcp";
/// The scope to request where no rule demands another.
const USUAL_SCOPE: &str = "tools";

/// This server as a resource that the tokens of identity providers open.
#[derive(Debug)]
pub struct ProtectedResource {
    document: String,
    of_mcp: Challenges,
    elsewhere: Challenges,
}

#[derive(Debug)]
struct Challenges {
    /// The address of the document.
    document: String,
    without_token: HeaderValue,
    of_wrong_token: HeaderValue,
}

impl ProtectedResource {
    /// `None` unless clients know the server by a URL, and an issuer to sign in at.
    pub fn of(config: &Config) -> Option<Arc<Self>> {
        let url = config.http.public_url.as_deref()?;
        let issuers: Vec<_> = config.auth.issuers.iter().map(|it| it.issuer.as_str()).collect();
        if issuers.is_empty() {
            return None;
        }
        let mut scopes: BTreeSet<_> = config.auth.rules.iter().filter_map(|it| it.scope.as_deref()).collect();
        if scopes.is_empty() {
            scopes.insert(USUAL_SCOPE);
        }
        let document = json!({
            "resource": format!("{url}{MCP}"),
            "authorization_servers": issuers,
            "scopes_supported": scopes,
            "bearer_methods_supported": ["header"],
            "resource_name": "Toolwire",
        });
        let least = if scopes.contains(USUAL_SCOPE) { BTreeSet::from([USUAL_SCOPE]) } else { scopes };
        let challenges = |path: &str| Challenges::of(&format!("{url}{path}"), &least);
        Some(Arc::new(Self {
            document: document.to_string(),
            of_mcp: challenges(OF_MCP),
            elsewhere: challenges(ROOT),
        }))
    }

    /// The document, as JSON. It is the same for every reader.
    pub(super) fn document(&self) -> String {
        self.document.clone()
    }
}

impl Challenges {
    fn of(document: &str, scopes: &BTreeSet<&str>) -> Self {
        let scopes: Vec<_> = scopes.iter().copied().collect();
        let text = format!("Bearer resource_metadata=\"{document}\", scope=\"{}\"", scopes.join(" "));
        let value = |text: &str| HeaderValue::from_str(text).expect("urls and scopes are visible ASCII");
        Self {
            document: document.to_owned(),
            without_token: value(&text),
            of_wrong_token: value(&format!("{text}, error=\"invalid_token\"")),
        }
    }

    /// A challenge with the address of the document.
    fn with(&self, challenge: &HeaderValue) -> Option<HeaderValue> {
        let parameters = challenge.to_str().ok()?.strip_prefix("Bearer ")?;
        format!("Bearer resource_metadata=\"{}\", {parameters}", self.document).try_into().ok()
    }
}

/// The challenge that a request gets if it is refused for its credentials.
#[derive(Clone, Debug)]
pub(super) struct Challenge {
    resource: Arc<ProtectedResource>,
    is_of_mcp: bool,
    has_token: bool,
}

impl Challenge {
    pub(super) fn of(resource: &Arc<ProtectedResource>, request: &Parts) -> Self {
        let below = request.uri.path().strip_prefix(MCP);
        Self {
            resource: Arc::clone(resource),
            is_of_mcp: below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
            has_token: request.headers.contains_key(header::AUTHORIZATION),
        }
    }

    /// Adds the challenge to a refusal. One that is there already, of a token of too little scope, gets the address of
    /// the document.
    pub(super) fn add_to(&self, status: StatusCode, headers: &mut HeaderMap) {
        let Self { resource, is_of_mcp, has_token } = self;
        let of_path = if *is_of_mcp { &resource.of_mcp } else { &resource.elsewhere };
        let value = match status {
            StatusCode::UNAUTHORIZED if *has_token => Some(of_path.of_wrong_token.clone()),
            StatusCode::UNAUTHORIZED => Some(of_path.without_token.clone()),
            StatusCode::FORBIDDEN => headers.get(header::WWW_AUTHENTICATE).and_then(|own| of_path.with(own)),
            _ => None,
        };
        if let Some(value) = value {
            headers.insert(header::WWW_AUTHENTICATE, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_config::{Flags, testing::load_text};

    fn resource(file: &str) -> Option<Arc<ProtectedResource>> {
        ProtectedResource::of(&load_text(file, &[], Flags::default(), &[]).expect("a configuration").config)
    }

    const ISSUER: &str =
        "[[auth.issuers]]\nname = 'corp'\nissuer = 'https://login.example'\naudience = ['toolwire']\n";
    const URL: &str = "[http]\npublic_url = 'https://tools.example'\n";

    #[test]
    fn without_a_url_or_an_issuer_there_is_nothing_to_sign_in_for() {
        assert!(resource(URL).is_none() && resource(ISSUER).is_none());
        assert!(resource(&format!("{URL}{ISSUER}")).is_some());
    }

    #[test]
    fn the_scopes_are_those_that_rules_demand() {
        let rule = |scope: &str| {
            format!("[[auth.rules]]\nwho = ['group:corp/support']\ntools = ['a_*']\nscope = '{scope}'\n")
        };
        for (scopes, all, least) in [
            (&[][..], r#"["tools"]"#, "tools"),
            (&["shop"], r#"["shop"]"#, "shop"),
            (&["shop", "pay"], r#"["pay","shop"]"#, "pay shop"),
            (&["shop", "tools"], r#"["shop","tools"]"#, "tools"),
        ] {
            let rules: String = scopes.iter().map(|it| rule(it)).collect();
            let resource = resource(&format!("{URL}{ISSUER}{rules}")).expect("a resource");
            assert!(resource.document.contains(&format!("\"scopes_supported\":{all}")), "{resource:?}");
            let challenge = resource.of_mcp.without_token.to_str().unwrap();
            assert!(challenge.ends_with(&format!("/mcp\", scope=\"{least}\"")), "{challenge}");
        }
    }
}
