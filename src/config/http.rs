//! Settings of the HTTP listener.

use std::{net::SocketAddr, time::Duration};

use super::{
    reader::Reader,
    settings::{positive, settings},
};

settings! {
    /// The HTTP listener, for browsers and scripts: `[http]`. Users, bounds, TLS and the drain are those of `[server]`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Http in "http" then check {
        /// Where to listen; port 0 takes a free one. Without an address there is no listener.
        listen: Option<SocketAddr> = None, "TOOLWIRE_HTTP", "--http", as Reader::optional;
        /// Whether tools are served as REST.
        rest: bool = true, "TOOLWIRE_HTTP_REST";
        /// Whether agents are served by AG-UI.
        agui: bool = true, "TOOLWIRE_HTTP_AGUI";
        /// The names by which requests may call this server, with a port or for all; any if there is none. Without
        /// credentials it is always localhost. In the variable with commas, in the file a list.
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
}

/// A scheme, a host and perhaps a port, and nothing else.
fn is_origin(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(is_host)
}

/// A name or an address, perhaps with a port.
fn is_host(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    !text.is_empty() && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_and_hosts_are_told_from_what_they_are_not() {
        assert!(is_origin("https://app.example") && is_origin("http://localhost:3000"));
        for text in ["app.example", "https://", "https://app.example/", "*", "null", "https://a@b"] {
            assert!(!is_origin(text), "{text:?}");
        }
        assert!(is_host("tools.example") && is_host("[::1]:50080"));
        assert!(!is_host("") && !is_host("http://tools.example") && !is_host("*"));
    }
}
