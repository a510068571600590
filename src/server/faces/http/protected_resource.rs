//! What a client that signs in by itself learns of this server (RFC 9728): the challenge of a refused request, and the
//! document that it names. Not here: which tokens are accepted, and the routes of the document.

use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

use http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};
use serde_json::json;

use toolwire_base::current::Current;
use toolwire_config::{Config, Toolsets};
use toolwire_tool::context::ToolsetName;

/// Where the document is; below it, the path of the resource.
pub(in crate::faces) const ROOT: &str = "/.well-known/oauth-protected-resource";
pub(in crate::faces) const OF_MCP: &str = "/.well-known/oauth-protected-resource/mcp";
pub(in crate::faces) const OF_TOOLSET: &str = "/.well-known/oauth-protected-resource/mcp/{toolset}";
const MCP: &str = "/mcp";
/// The scope to request where no rule demands another.
const USUAL_SCOPE: &str = "tools";

/// This server as a resource that the tokens of identity providers open, and each of its toolsets.
#[derive(Debug)]
pub struct ProtectedResource {
    url: String,
    issuers: Vec<String>,
    scopes: BTreeSet<String>,
    toolsets: Current<Toolsets>,
    of_mcp: Challenges,
    elsewhere: Challenges,
}

#[derive(Clone, Debug)]
struct Challenges {
    /// The address of the document.
    document: String,
    without_token: HeaderValue,
    of_wrong_token: HeaderValue,
}

impl ProtectedResource {
    /// `None` unless clients know the server by a URL, and an issuer to sign in at. Of toolsets those of the moment
    /// count.
    pub fn of(config: &Config, toolsets: Current<Toolsets>) -> Option<Arc<Self>> {
        let url = config.http.public_url.clone()?;
        let issuers: Vec<_> = config.auth.issuers.iter().map(|it| it.issuer.clone()).collect();
        if issuers.is_empty() {
            return None;
        }
        let mut scopes: BTreeSet<_> = config.auth.rules.iter().filter_map(|it| it.scope.clone()).collect();
        if scopes.is_empty() {
            scopes.insert(USUAL_SCOPE.to_owned());
        }
        let of_mcp = Challenges::of(&format!("{url}{OF_MCP}"), &scopes);
        let elsewhere = Challenges::of(&format!("{url}{ROOT}"), &scopes);
        Some(Arc::new(Self { url, issuers, scopes, toolsets, of_mcp, elsewhere }))
    }

    /// The document of the whole, as JSON. It is the same for every reader.
    pub(super) fn document(&self) -> String {
        self.document_at(MCP)
    }

    /// The document of a toolset, if there is such a one.
    pub(super) fn document_of(&self, toolset: &ToolsetName) -> Option<String> {
        self.has(toolset).then(|| self.document_at(&format!("{MCP}/{toolset}")))
    }

    /// What is said of the resource at a path of this server.
    fn document_at(&self, path: &str) -> String {
        let document = json!({
            "resource": format!("{}{path}", self.url),
            "authorization_servers": self.issuers,
            "scopes_supported": self.scopes,
            "bearer_methods_supported": ["header"],
            "resource_name": "Toolwire",
        });
        document.to_string()
    }

    fn has(&self, toolset: &ToolsetName) -> bool {
        self.toolsets.load().get(toolset).is_some()
    }

    fn challenges(&self, place: &Place) -> Cow<'_, Challenges> {
        match place {
            Place::Toolset(name) if self.has(name) => {
                Cow::Owned(Challenges::of(&format!("{}{OF_MCP}/{name}", self.url), &self.scopes))
            }
            Place::Mcp | Place::Toolset(_) => Cow::Borrowed(&self.of_mcp),
            Place::Elsewhere => Cow::Borrowed(&self.elsewhere),
        }
    }
}

impl Challenges {
    /// A client is asked for the usual scope, or where rules demand others alone, for all of them.
    fn of(document: &str, scopes: &BTreeSet<String>) -> Self {
        let all = || scopes.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        let least = if scopes.contains(USUAL_SCOPE) { USUAL_SCOPE.to_owned() } else { all() };
        let text = format!("Bearer resource_metadata=\"{document}\", scope=\"{least}\"");
        let value = |text: &str| HeaderValue::from_str(text).expect("urls and scopes are visible ASCII");
        Self {
            document: document.to_owned(),
            without_token: value(&text),
            of_wrong_token: value(&format!("{text}, error=\"invalid_token\"")),
        }
    }

    fn value(&self, has_token: bool) -> HeaderValue {
        if has_token { self.of_wrong_token.clone() } else { self.without_token.clone() }
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
    place: Place,
    has_token: bool,
}

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Mcp,
    /// A toolset, whether or not there is such a one.
    Toolset(ToolsetName),
    Elsewhere,
}

impl Place {
    fn of(path: &str) -> Self {
        match path.strip_prefix(MCP) {
            Some("" | "/") => Self::Mcp,
            Some(rest) if rest.starts_with('/') => {
                rest.trim_matches('/').parse().map_or(Self::Mcp, Self::Toolset)
            }
            _ => Self::Elsewhere,
        }
    }
}

impl Challenge {
    pub(super) fn of(resource: &Arc<ProtectedResource>, request: &Parts) -> Self {
        Self {
            resource: Arc::clone(resource),
            place: Place::of(request.uri.path()),
            has_token: request.headers.contains_key(header::AUTHORIZATION),
        }
    }

    /// Adds the challenge to a refusal. One that is there already, of a token of too little scope, gets the address of
    /// the document.
    pub(super) fn add_to(&self, status: StatusCode, headers: &mut HeaderMap) {
        let of_place = || self.resource.challenges(&self.place);
        let value = match status {
            StatusCode::UNAUTHORIZED => Some(of_place().value(self.has_token)),
            StatusCode::FORBIDDEN => {
                headers.get(header::WWW_AUTHENTICATE).and_then(|own| of_place().with(own))
            }
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
        let config = load_text(file, &[], Flags::default(), &[]).expect("a configuration").config;
        ProtectedResource::of(&config, Current::new(config.toolsets.clone()))
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
            let document = resource.document();
            assert!(document.contains(&format!("\"scopes_supported\":{all}")), "{document}");
            let challenge = resource.of_mcp.without_token.to_str().unwrap();
            assert!(challenge.ends_with(&format!("/mcp\", scope=\"{least}\"")), "{challenge}");
        }
    }

    #[test]
    fn the_challenge_of_a_toolset_names_its_own_document() {
        let toolset = "[toolsets.shop]\ntools = ['shop_*']\n";
        let resource = resource(&format!("{URL}{ISSUER}{toolset}")).expect("a resource");
        let document_of = |path: &str| {
            let challenge =
                Challenge { resource: Arc::clone(&resource), place: Place::of(path), has_token: false };
            let mut headers = HeaderMap::new();
            challenge.add_to(StatusCode::UNAUTHORIZED, &mut headers);
            let text = headers[header::WWW_AUTHENTICATE].to_str().unwrap().to_owned();
            let named = text.split('"').nth(1).unwrap().to_owned();
            named.strip_prefix(&format!("https://tools.example{ROOT}")).unwrap().to_owned()
        };
        for (path, document) in [
            ("/mcp", "/mcp"),
            ("/mcp/", "/mcp"),
            ("/mcp/shop", "/mcp/shop"),
            ("/mcp/shop/", "/mcp/shop"),
            // There is no such document.
            ("/mcp/gone", "/mcp"),
            ("/mcp/Shop", "/mcp"),
            ("/mcp/shop/more", "/mcp"),
            ("/mcps", ""),
            ("/v1/tools", ""),
        ] {
            assert_eq!(document_of(path), document, "{path}");
        }
        let shop = resource.document_of(&"shop".parse().unwrap()).expect("a document");
        assert!(shop.contains(r#""resource":"https://tools.example/mcp/shop""#));
        assert_eq!(resource.document_of(&"gone".parse().unwrap()), None);
    }
}
