//! Settings of the HTTP listener.

use std::{net::SocketAddr, time::Duration};

use super::{reader::Reader, setting::Setting};

/// The HTTP listener, for browsers and scripts: `[http]`. Users, bounds, TLS and the drain are those of `[server]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Http {
    /// Where to listen; port 0 takes a free one. `--http`, `TOOLWIRE_HTTP`, default none: no listener.
    pub listen: Option<SocketAddr>,
    /// Whether tools are served as REST. `TOOLWIRE_HTTP_REST`, default `true`.
    pub rest: bool,
    /// Whether agents are served by AG-UI. `TOOLWIRE_HTTP_AGUI`, default `true`.
    pub agui: bool,
    /// The names by which requests may call this server, with a port or for all. Without credentials it is always
    /// localhost. `TOOLWIRE_HTTP_ALLOWED_HOSTS` with commas, in the file a list, default any.
    pub allowed_hosts: Vec<String>,
    /// Whose pages may call, beside its own: origins such as `https://app.example`.
    /// `TOOLWIRE_HTTP_ALLOWED_ORIGINS` with commas, in the file a list, default none.
    pub allowed_origins: Vec<String>,
    /// Connections at once; fewer if the limit of open files wants it. Of one peer the share of them that it has
    /// elsewhere. `TOOLWIRE_HTTP_MAX_CONNECTIONS`, default 1000.
    pub max_connections: usize,
    /// How long the headers of a request may take over HTTP/1. `TOOLWIRE_HTTP_HEADER_TIMEOUT`, default `5s`.
    pub header_timeout: Duration,
    /// How long a connection may have no request under way. `TOOLWIRE_HTTP_IDLE_TIMEOUT`, default `1m`.
    pub idle_timeout: Duration,
    /// How long a reader of events without an end may take nothing while more of them wait.
    /// `TOOLWIRE_HTTP_STALL_TIMEOUT`, default `30s`.
    pub stall_timeout: Duration,
}

impl Default for Http {
    fn default() -> Self {
        Self {
            listen: None,
            rest: true,
            agui: true,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            max_connections: 1_000,
            header_timeout: Duration::from_secs(5),
            idle_timeout: Duration::from_mins(1),
            stall_timeout: Duration::from_secs(30),
        }
    }
}

impl Http {
    /// Where `--http` listens that names no address.
    pub const USUAL: &str = "127.0.0.1:50080";

    pub(super) fn read(reader: &mut Reader) -> Self {
        let default = Self::default();
        let listen = Setting::new("http.listen", "TOOLWIRE_HTTP").flag("--http");
        let rest = Setting::new("http.rest", "TOOLWIRE_HTTP_REST");
        let agui = Setting::new("http.agui", "TOOLWIRE_HTTP_AGUI");
        let allowed_hosts = Setting::new("http.allowed_hosts", "TOOLWIRE_HTTP_ALLOWED_HOSTS");
        let allowed_origins = Setting::new("http.allowed_origins", "TOOLWIRE_HTTP_ALLOWED_ORIGINS");
        let max_connections = Setting::new("http.max_connections", "TOOLWIRE_HTTP_MAX_CONNECTIONS");
        let header_timeout = Setting::new("http.header_timeout", "TOOLWIRE_HTTP_HEADER_TIMEOUT");
        let idle_timeout = Setting::new("http.idle_timeout", "TOOLWIRE_HTTP_IDLE_TIMEOUT");
        let stall_timeout = Setting::new("http.stall_timeout", "TOOLWIRE_HTTP_STALL_TIMEOUT");
        let http = Self {
            listen: reader.optional(listen, None),
            rest: reader.value(rest, default.rest),
            agui: reader.value(agui, default.agui),
            allowed_hosts: reader.values(allowed_hosts, default.allowed_hosts),
            allowed_origins: reader.values(allowed_origins, default.allowed_origins),
            max_connections: reader.value(max_connections, default.max_connections),
            header_timeout: reader.value(header_timeout, default.header_timeout),
            idle_timeout: reader.value(idle_timeout, default.idle_timeout),
            stall_timeout: reader.value(stall_timeout, default.stall_timeout),
        };
        for (name, is_zero) in [
            ("http.max_connections", http.max_connections == 0),
            ("http.header_timeout", http.header_timeout.is_zero()),
            ("http.idle_timeout", http.idle_timeout.is_zero()),
            ("http.stall_timeout", http.stall_timeout.is_zero()),
        ] {
            if is_zero {
                reader.problem(name, "must be more than zero: nothing could be served");
            }
        }
        for origin in http.allowed_origins.iter().filter(|origin| !is_origin(origin)) {
            let what = format!("{origin:?} is not an origin; write one such as https://app.example");
            reader.problem("http.allowed_origins", what);
        }
        for host in http.allowed_hosts.iter().filter(|host| !is_host(host)) {
            let what =
                format!("{host:?} is not a host; write a name such as tools.example, or one with a port");
            reader.problem("http.allowed_hosts", what);
        }
        http
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
