//! What a client that signs in by itself learns of this server (RFC 9728): the challenge of a refused request, and the
//! document that it names. Not here: which tokens are accepted, and the routes of the document.

use std::{collections::BTreeSet, sync::Arc};

use http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};
use serde_json::json;

use toolwire_base::current::Current;
use toolwire_config::{Auth, Toolsets};
use toolwire_tool::context::ToolsetName;

/// Where the document is; below it, the path of the resource.
pub(in crate::faces) const ROOT: &str = "/.well-known/oauth-protected-resource";
pub(in crate::faces) const OF_MCP: &str = "/.well-known/oauth-protected-resource/mcp";
pub(in crate::faces) const OF_TOOLSET: &str = "/.well-known/oauth-protected-resource/mcp/{toolset}";
const MCP: &str = "/mcp";
/// The scope to request where no rule demands another.
const USUAL_SCOPE: &str = "tools";

/// This server as a resource that the tokens of identity providers open, and each of its toolsets. Issuers, scopes and
/// toolsets are those of the moment.
#[derive(Debug)]
pub struct ProtectedResource {
    url: String,
    sign_in: Current<SignIn>,
    toolsets: Current<Toolsets>,
}

/// Where a client signs in, and which scopes it may request.
#[derive(Debug)]
pub struct SignIn {
    issuers: Vec<String>,
    scopes: BTreeSet<String>,
}

impl SignIn {
    pub fn of(auth: &Auth) -> Self {
        let mut scopes: BTreeSet<_> = auth.rules.iter().filter_map(|it| it.scope.clone()).collect();
        if scopes.is_empty() {
            scopes.insert(USUAL_SCOPE.to_owned());
        }
        Self { issuers: auth.issuers.iter().map(|it| it.issuer.clone()).collect(), scopes }
    }

    /// The identity providers at which users sign in.
    pub fn issuers(&self) -> &[String] {
        &self.issuers
    }

    /// The scopes that may be requested, in order of name.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.scopes.iter().map(String::as_str)
    }

    /// A client is asked for the usual scope, or where rules demand others alone, for all of them.
    fn challenge(&self, document: &str, has_token: bool) -> HeaderValue {
        let all = || self.scopes.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        let least = if self.scopes.contains(USUAL_SCOPE) { USUAL_SCOPE.to_owned() } else { all() };
        let error = if has_token { ", error=\"invalid_token\"" } else { "" };
        let text = format!("Bearer resource_metadata=\"{document}\", scope=\"{least}\"{error}");
        HeaderValue::try_from(text).expect("urls and scopes are visible ASCII")
    }
}

impl ProtectedResource {
    /// Clients know the server by `url`.
    pub fn new(url: String, sign_in: Current<SignIn>, toolsets: Current<Toolsets>) -> Self {
        Self { url, sign_in, toolsets }
    }

    /// The document of the whole, as JSON, if there is an issuer to sign in at. It is the same for every reader.
    pub(super) fn document(&self) -> Option<String> {
        self.document_at(MCP)
    }

    /// The document of a toolset, if there is such a one.
    pub(super) fn document_of(&self, toolset: &ToolsetName) -> Option<String> {
        self.has(toolset).then(|| self.document_at(&format!("{MCP}/{toolset}"))).flatten()
    }

    /// What is said of the resource at a path of this server.
    fn document_at(&self, path: &str) -> Option<String> {
        let sign_in = self.can_sign_in()?;
        let document = json!({
            "resource": format!("{}{path}", self.url),
            "authorization_servers": sign_in.issuers,
            "scopes_supported": sign_in.scopes,
            "bearer_methods_supported": ["header"],
            "resource_name": "Toolwire",
        });
        Some(document.to_string())
    }

    /// How a client signs in; `None` without an issuer.
    fn can_sign_in(&self) -> Option<Arc<SignIn>> {
        Some(self.sign_in.load_full()).filter(|it| !it.issuers.is_empty())
    }

    fn has(&self, toolset: &ToolsetName) -> bool {
        self.toolsets.load().get(toolset).is_some()
    }

    /// The address of the document for a place.
    fn document_url(&self, place: &Place) -> String {
        let url = &self.url;
        match place {
            Place::Toolset(name) if self.has(name) => format!("{url}{OF_MCP}/{name}"),
            Place::Mcp | Place::Toolset(_) => format!("{url}{OF_MCP}"),
            Place::Elsewhere => format!("{url}{ROOT}"),
        }
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
        let value = match status {
            StatusCode::UNAUTHORIZED => self.of_credentials(),
            StatusCode::FORBIDDEN => headers.get(header::WWW_AUTHENTICATE).and_then(|own| self.of_scope(own)),
            _ => None,
        };
        if let Some(value) = value {
            headers.insert(header::WWW_AUTHENTICATE, value);
        }
    }

    fn of_credentials(&self) -> Option<HeaderValue> {
        let sign_in = self.resource.can_sign_in()?;
        Some(sign_in.challenge(&self.resource.document_url(&self.place), self.has_token))
    }

    /// A challenge with the address of the document.
    fn of_scope(&self, challenge: &HeaderValue) -> Option<HeaderValue> {
        self.resource.can_sign_in()?;
        let parameters = challenge.to_str().ok()?.strip_prefix("Bearer ")?;
        let document = self.resource.document_url(&self.place);
        format!("Bearer resource_metadata=\"{document}\", {parameters}").try_into().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_config::{Flags, testing::load_text};

    fn resource(file: &str) -> Arc<ProtectedResource> {
        let config = load_text(file, &[], Flags::default(), &[]).expect("a configuration").config;
        let (sign_in, toolsets) = (SignIn::of(&config.auth), config.toolsets);
        let url = "https://tools.example".to_owned();
        Arc::new(ProtectedResource::new(url, Current::new(sign_in), Current::new(toolsets)))
    }

    /// The challenge of a request for a path.
    fn challenge(resource: &Arc<ProtectedResource>, path: &str) -> Option<String> {
        let challenge =
            Challenge { resource: Arc::clone(resource), place: Place::of(path), has_token: false };
        let mut headers = HeaderMap::new();
        challenge.add_to(StatusCode::UNAUTHORIZED, &mut headers);
        Some(headers.get(header::WWW_AUTHENTICATE)?.to_str().unwrap().to_owned())
    }

    const ISSUER: &str =
        "[[auth.issuers]]\nname = 'corp'\nissuer = 'https://login.example'\naudience = ['toolwire']\n";
    const TOOLSET: &str = "[toolsets.shop]\ntools = ['shop_*']\n";

    #[test]
    fn what_a_client_learns_follows_the_issuers_and_rules_in_force() {
        let resource = resource(TOOLSET);
        let shop = "shop".parse().unwrap();
        assert_eq!((resource.document(), resource.document_of(&shop)), (None, None));
        assert_eq!(challenge(&resource, "/mcp"), None);
        let rule = "[[auth.rules]]\nwho = ['group:corp/support']\ntools = ['a_*']\nscope = 'pay'\n";
        let auth = load_text(&format!("{ISSUER}{rule}"), &[], Flags::default(), &[]).unwrap().config.auth;
        resource.sign_in.replace(SignIn::of(&auth));
        for document in [resource.document(), resource.document_of(&shop)] {
            let document = document.expect("an issuer to sign in at");
            assert!(document.contains(r#""authorization_servers":["https://login.example"]"#), "{document}");
            assert!(document.contains(r#""scopes_supported":["pay"]"#), "{document}");
        }
        assert!(challenge(&resource, "/mcp").expect("a challenge").ends_with("/mcp\", scope=\"pay\""));
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
            let resource = resource(&format!("{ISSUER}{rules}"));
            let document = resource.document().expect("a document");
            assert!(document.contains(&format!("\"scopes_supported\":{all}")), "{document}");
            let challenge = challenge(&resource, "/mcp").expect("a challenge");
            assert!(challenge.ends_with(&format!("/mcp\", scope=\"{least}\"")), "{challenge}");
        }
    }

    #[test]
    fn the_challenge_of_a_toolset_names_its_own_document() {
        let resource = resource(&format!("{ISSUER}{TOOLSET}"));
        let document_of = |path: &str| {
            let text = challenge(&resource, path).expect("a challenge");
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
