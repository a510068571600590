//! Settings of the HTTP listener.

use std::{net::SocketAddr, time::Duration};

use secrecy::SecretString;
use url::Url;

use super::{
    reader::Reader,
    sealing_keys,
    settings::{positive, settings, within},
};

settings! {
    /// The HTTP listener, for browsers and scripts: `[http]`. Users, bounds, TLS and the drain are those of `[server]`.
    #[derive(Clone, Debug)]
    pub struct Http in "http" then check {
        /// Where to listen; port 0 takes a free one. Without an address there is no listener.
        listen: Option<SocketAddr> = None, "TOOLWIRE_HTTP", "--http", as Reader::optional;
        /// Whether tools are served as REST.
        rest: bool = true, "TOOLWIRE_HTTP_REST";
        /// Whether agents are served by AG-UI.
        agui: bool = true, "TOOLWIRE_HTTP_AGUI";
        /// Whether tools are served by MCP, at `/mcp`.
        mcp: bool = true, "TOOLWIRE_HTTP_MCP";
        /// Whether the console is served, a page at `/`.
        console: bool = true, "TOOLWIRE_HTTP_CONSOLE";
        /// Tools on a page of MCP's list. Many clients read the first page only.
        mcp_page: usize = 1_000, "TOOLWIRE_HTTP_MCP_PAGE", as positive;
        /// The most tokens of a result over MCP. A larger one is kept, and `read_result` reads on in it.
        mcp_max_result_tokens: u32 = 25_000, "TOOLWIRE_HTTP_MCP_MAX_RESULT_TOKENS", as within(256..=1_000_000);
        /// The keys by which MCP seals what clients carry from one round of a call to the next: each at least 32 bytes.
        /// The first seals, all open. Without keys each process has a random one, and clients of another one, or of one
        /// before a restart, start over. In the variable with commas, in the file a list.
        state_keys: Vec<SecretString> = Vec::new(), "TOOLWIRE_HTTP_STATE_KEYS", as Reader::values;
        /// The origin by which clients know this server, such as `https://tools.example`. Its host joins
        /// `allowed_hosts`, and it `allowed_origins`.
        public_url: Option<String> = None, "TOOLWIRE_HTTP_PUBLIC_URL", as Reader::optional;
        /// The names by which requests may call this server, with a port or for all; any if there is none. Without
        /// credentials it is always localhost, and with client certificates a name is required. In the variable with
        /// commas, in the file a list.
        allowed_hosts: Vec<String> = Vec::new(), "TOOLWIRE_HTTP_ALLOWED_HOSTS", as Reader::values;
        /// The origins whose pages may call, beside its own, such as `https://app.example`. In the variable with
        /// commas, in the file a list.
        allowed_origins: Vec<String> = Vec::new(), "TOOLWIRE_HTTP_ALLOWED_ORIGINS", as Reader::values;
        /// Connections at once; fewer if the limit of open files wants it. Of one peer the share of them that it has
        /// elsewhere.
        max_connections: usize = 1_000, "TOOLWIRE_HTTP_MAX_CONNECTIONS", as positive;
        /// How long the headers of a request may take over HTTP/1.
        header_timeout: Duration = Duration::from_secs(5), "TOOLWIRE_HTTP_HEADER_TIMEOUT", as positive;
        /// How long a connection may have no request under way.
        idle_timeout: Duration = Duration::from_mins(1), "TOOLWIRE_HTTP_IDLE_TIMEOUT", as positive;
        /// How long a reader of events without an end may take nothing while more of them wait.
        stall_timeout: Duration = Duration::from_secs(30), "TOOLWIRE_HTTP_STALL_TIMEOUT", as positive;
    }
}

impl Http {
    /// Where `--http` listens that names no address.
    pub const USUAL: &str = "127.0.0.1:50080";

    fn check(self, reader: &mut Reader) -> Self {
        sealing_keys::check(reader, "http.state_keys", &self.state_keys);
        if self.public_url.as_deref().is_some_and(|url| !is_origin(url) || host_of(url).is_none()) {
            let what = "must be a scheme, a host and perhaps a port, such as https://tools.example";
            reader.problem("http.public_url", what);
        }
        for origin in self.allowed_origins.iter().filter(|origin| !is_origin(origin)) {
            let what = format!("{origin:?} is not an origin; write one such as https://app.example");
            reader.problem("http.allowed_origins", what);
        }
        for host in self.allowed_hosts.iter().filter(|host| !is_host(host)) {
            let what =
                format!("{host:?} is not a host; write a name such as tools.example, or one with a port");
            reader.problem("http.allowed_hosts", what);
        }
        self
    }

    /// The names by which requests may call this server, if that matters: those of `allowed_hosts` and `public_url`.
    pub fn hosts(&self) -> Vec<String> {
        self.allowed_hosts.iter().cloned().chain(self.public_url.as_deref().and_then(host_of)).collect()
    }

    /// The origins whose pages may call, beside that which a request names.
    pub fn origins(&self) -> impl Iterator<Item = &str> {
        self.allowed_origins.iter().chain(&self.public_url).map(String::as_str)
    }
}

/// A scheme, a host and perhaps a port, and nothing else.
fn is_origin(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(is_host)
}

/// The host of an origin, with its port unless that is the usual one.
fn host_of(origin: &str) -> Option<String> {
    let url = Url::parse(origin).ok()?;
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// A name or an address, perhaps with a port.
fn is_host(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    !text.is_empty() && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flags, print, testing::load_text, value::HIDDEN};

    #[test]
    fn origins_and_hosts_are_told_from_what_they_are_not() {
        assert!(is_origin("https://app.example") && is_origin("http://localhost:3000"));
        for text in ["app.example", "https://", "https://app.example/", "*", "null", "https://a@b"] {
            assert!(!is_origin(text), "{text:?}");
        }
        assert!(is_host("tools.example") && is_host("[::1]:50080"));
        assert!(!is_host("") && !is_host("http://tools.example") && !is_host("*"));
    }

    #[test]
    fn the_public_url_is_an_origin_whose_host_and_origin_are_allowed() {
        let read = |url: &str| {
            let file = format!("[http]\npublic_url = '{url}'\nallowed_hosts = ['a.example']");
            load_text(&file, &[], Flags::default(), &[]).map(|loaded| loaded.config.http)
        };
        for (url, host) in [
            ("https://tools.example", "tools.example"),
            ("https://tools.example:443", "tools.example"),
            ("https://Tools.example:8443", "tools.example:8443"),
            ("http://[::1]:50080", "[::1]:50080"),
        ] {
            let http = read(url).expect("an origin");
            assert_eq!(http.hosts(), ["a.example", host]);
            assert_eq!(http.origins().collect::<Vec<_>>(), [url]);
        }
        for wrong in [
            "tools.example",
            "https://",
            "https://tools.example/mcp",
            "https://a:x",
            "ftp://a",
            "https://a@b",
        ] {
            let error = read(wrong).expect_err(wrong).to_string();
            assert!(error.contains("http.public_url: must be a scheme, a host"), "{error}");
        }
    }

    #[test]
    fn keys_of_states_are_long_distinct_and_never_shown() {
        let (one, two) = ("k".repeat(32), "l".repeat(40));
        let keys = |keys: &[&str]| {
            let file = format!("[http]\nstate_keys = {}", serde_json::json!(keys));
            load_text(&file, &[], Flags::default(), &[])
        };
        let loaded = keys(&[&one, &two]).expect("two keys");
        let printed = print(&loaded);
        assert!(printed.contains("[hidden]") && !printed.contains(&one), "{printed}");
        for bad in [vec!["short"], vec![one.as_str(), one.as_str()], vec![HIDDEN]] {
            assert!(keys(&bad).is_err(), "{bad:?}");
        }
    }
}
