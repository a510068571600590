//! What a server says of where to sign in for it: the challenge to a request without a token, and the document that
//! this names (RFC 9728).

use reqwest::StatusCode;
use serde_json::{Value, json};
use url::Url;

use super::web::{Web, may_lead};
use toolwire_base::words::one_line;
use toolwire_server::console::Failure;

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// A server that tokens of authorization servers open.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Resource {
    /// Where it was asked: its URL of MCP.
    pub(super) url: Url,
    /// The name by which tokens are for it.
    pub(super) name: String,
    /// The authorization servers whose tokens it accepts.
    pub(super) issuers: Vec<String>,
    /// The scopes to request, separated by spaces; empty if it names none.
    pub(super) scope: String,
}

impl Resource {
    /// Asks the server at its URL of MCP, which without a path is below `/mcp`. Its address of gRPC says which port of
    /// it speaks HTTP.
    pub(super) async fn discover(web: &Web, url: &Url) -> Result<Self, Failure> {
        let mut url = url.clone();
        if url.path() == "/" {
            url.set_path("/mcp");
        }
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        let mut answer = web.post_json(&url, &ping).await?;
        if let Some(port) = port_of_http(&answer.words)
            && url.set_port(Some(port)).is_ok()
        {
            answer = web.post_json(&url, &ping).await?;
        }
        if answer.status != StatusCode::UNAUTHORIZED {
            let words = if answer.words.is_empty() { String::new() } else { format!(" ({})", answer.words) };
            return Err(Failure::Failed(format!(
                "{url} answers {}{words} and lets nobody sign in. Name the server by its URL of MCP, such as \
                 https://tools.example/mcp: `toolwire login URL`, or `toolwire mcp --login URL`",
                answer.status
            )));
        }
        let challenge = answer.challenge.unwrap_or_default();
        let at = parameter(&challenge, "resource_metadata").and_then(|it| it.parse().ok());
        let at = at.unwrap_or_else(|| well_known(&url));
        if !may_lead(&url, &at) {
            return Err(Failure::Failed(format!(
                "{url} says where to sign in at {at}, which must be https://"
            )));
        }
        let document = web.get(&at).await?;
        if document.status != StatusCode::OK {
            return Err(Failure::Failed(format!(
                "{url} does not say where to sign in: {at} answers {}. Its operator sets `public_url` in [http] and an \
                 issuer in [[auth.issuers]]",
                document.status
            )));
        }
        let scope = parameter(&challenge, "scope");
        Self::read(&document.body, &url, scope).map_err(|what| Failure::Failed(format!("{at} {what}")))
    }

    fn read(document: &Value, url: &Url, scope: Option<&str>) -> Result<Self, String> {
        let name = document["resource"].as_str().unwrap_or_default();
        if !name.parse::<Url>().is_ok_and(|named| is_of(&named, url)) {
            // A server that names another one would get a token for that.
            return Err(format!("is of the resource {name:?}, and tokens for that are not for {url}"));
        }
        // They are compared and shown as they are written.
        let may_be_asked = |issuer: &&str| {
            one_line(issuer) == **issuer && issuer.parse().is_ok_and(|address| may_lead(url, &address))
        };
        let issuers = texts(&document["authorization_servers"]).filter(may_be_asked);
        let issuers: Vec<_> = issuers.map(str::to_owned).collect();
        if issuers.is_empty() {
            let named: Vec<_> = texts(&document["authorization_servers"]).map(one_line).collect();
            let named = if named.is_empty() { "none".to_owned() } else { named.join(", ") };
            return Err(format!("names no authorization server over https:// but {named}"));
        }
        let supported = || texts(&document["scopes_supported"]).collect::<Vec<_>>().join(" ");
        let scope = scope.map_or_else(supported, str::to_owned);
        Ok(Self { url: url.clone(), name: name.to_owned(), issuers, scope })
    }
}

/// The port that speaks HTTP, as the port of gRPC says it to a client of HTTP.
fn port_of_http(words: &str) -> Option<u16> {
    let (_, port) = words.rsplit_once("is spoken on port ")?;
    port.trim_end_matches(|it: char| !it.is_ascii_digit()).parse().ok()
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Whether a URL is the resource or below it.
fn is_of(resource: &Url, url: &Url) -> bool {
    let above = resource.path().trim_end_matches('/');
    let below = url.path().strip_prefix(above);
    resource.origin() == url.origin() && below.is_some_and(|it| it.is_empty() || it.starts_with('/'))
}

fn well_known(url: &Url) -> Url {
    let mut at = url.clone();
    at.set_path(&format!("{WELL_KNOWN}{}", url.path()));
    at.set_query(None);
    at
}

/// The value of a parameter of a challenge, which is in quotes.
fn parameter<'a>(challenge: &'a str, name: &str) -> Option<&'a str> {
    let begins = format!("{name}=\"");
    let starts = challenge.match_indices(&begins).find(|(at, _)| {
        challenge[..*at].ends_with([' ', ',']) && challenge[..*at].matches('"').count().is_multiple_of(2)
    });
    challenge[starts?.0 + begins.len()..].split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_contract::status::wrong_port;

    #[test]
    fn a_challenge_is_read_by_its_parameters() {
        let challenge = "Bearer resource_metadata=\"https://a.example/d\", scope=\"tools pay\",error=\"x\"";
        assert_eq!(parameter(challenge, "resource_metadata"), Some("https://a.example/d"));
        assert_eq!(parameter(challenge, "scope"), Some("tools pay"));
        assert_eq!(parameter(challenge, "error"), Some("x"));
        assert_eq!(parameter("Bearer a=\" scope=\"", "scope"), None, "within another value");
        assert_eq!(parameter("Bearer", "scope"), None);
    }

    #[test]
    fn the_port_of_grpc_says_which_one_speaks_http() {
        let http_at = Some("127.0.0.1:50080".parse().unwrap());
        assert_eq!(port_of_http(&wrong_port::is_grpc(http_at)), Some(50_080));
        assert_eq!(port_of_http("This port speaks gRPC. HTTP/1.1 is spoken on port 8080."), Some(8_080));
        for words in [&*wrong_port::is_grpc(None), "", "is spoken on port 70000.", "is spoken on port x"] {
            assert_eq!(port_of_http(words), None, "{words}");
        }
    }

    #[test]
    fn a_document_of_another_resource_is_refused() {
        let url: Url = "https://tools.example/mcp".parse().unwrap();
        let read = |resource: &str| {
            let document = json!({"resource": resource, "authorization_servers": ["https://login.example"],
                                  "scopes_supported": ["a", "b"]});
            Resource::read(&document, &url, None)
        };
        for own in ["https://tools.example/mcp", "https://tools.example", "https://tools.example:443/mcp/"] {
            assert_eq!(read(own).unwrap().scope, "a b", "{own}");
        }
        for other in
            ["https://good.example/mcp", "http://tools.example/mcp", "https://tools.example/mc", "mcp", ""]
        {
            assert!(read(other).unwrap_err().contains("is of the resource"), "{other}");
        }
        let document = json!({"resource": "https://tools.example/mcp"});
        assert!(Resource::read(&document, &url, None).unwrap_err().contains("no authorization server"));
    }

    #[test]
    fn what_came_over_tls_leads_to_no_service_of_this_machine_and_to_no_other_line() {
        let read = |server: &str, issuer: &str| {
            let resource = format!("{server}/mcp");
            let document = json!({"resource": resource, "authorization_servers": [issuer]});
            Resource::read(&document, &resource.parse().unwrap(), None).map(|it| it.issuers)
        };
        for (server, issuer, is_asked) in [
            ("https://tools.example", "https://login.example", true),
            ("http://127.0.0.1:8080", "http://127.0.0.1:9000", true),
            ("http://127.0.0.1:8080", "https://login.example", true),
            ("https://tools.example", "http://127.0.0.1:9000", false),
            ("https://tools.example", "HTTP://localhost:9000", false),
            ("https://tools.example", "https://login.example/\nsigned in", false),
            ("https://tools.example", "login.example", false),
        ] {
            let asked = read(server, issuer);
            assert_eq!(asked.is_ok(), is_asked, "{server} {issuer:?}");
            assert!(
                asked.err().is_none_or(|it| it.ends_with(&format!(" but {}", one_line(issuer)))),
                "{issuer:?}"
            );
        }
    }

    #[test]
    fn without_an_address_in_the_challenge_the_document_is_at_the_well_known_one() {
        let at = well_known(&"https://tools.example/mcp/shop?mode=search".parse().unwrap());
        assert_eq!(at.as_str(), "https://tools.example/.well-known/oauth-protected-resource/mcp/shop");
    }
}
