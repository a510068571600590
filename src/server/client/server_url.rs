//! The address of a server, as it is written on the command line.

use std::str::FromStr;

/// The address of a server, `http://host:port` or `https://host:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerUrl(pub(super) String);

/// A text is not a valid server address.
#[derive(Debug, thiserror::Error)]
#[error("expected http://HOST:PORT or https://HOST:PORT, such as http://127.0.0.1:50051")]
pub struct InvalidUrl;

impl std::fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl ServerUrl {
    /// The same server at another port.
    pub(super) fn at(&self, port: u16) -> Option<Self> {
        let uri: http::Uri = self.0.parse().ok()?;
        Some(Self(format!("{}://{}:{port}", uri.scheme_str()?, uri.host()?)))
    }

    /// Whether the server speaks TLS.
    pub fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }
}

impl FromStr for ServerUrl {
    type Err = InvalidUrl;

    fn from_str(text: &str) -> Result<Self, InvalidUrl> {
        let url = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let uri: http::Uri = url.parse().map_err(|_| InvalidUrl)?;
        // Credentials are a token of their own; these would show wherever the address does.
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(InvalidUrl);
        }
        match (uri.scheme_str(), uri.host()) {
            (Some("http" | "https"), Some(host)) if !host.is_empty() => Ok(Self(url)),
            _ => Err(InvalidUrl),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_may_be_left_out() {
        let url = |text: &str| text.parse::<ServerUrl>().map(|url| url.0).ok();
        assert_eq!(url("127.0.0.1:50051").as_deref(), Some("http://127.0.0.1:50051"));
        assert_eq!(url("http://tools:1").as_deref(), Some("http://tools:1"));
        assert_eq!(url("https://tools:1").as_deref(), Some("https://tools:1"));
        let other = "https://[::1]:1".parse::<ServerUrl>().unwrap().at(2).unwrap();
        assert_eq!(other.to_string(), "https://[::1]:2");
        for bad in ["", "ftp://x", "http://", "a b", "http://user:secret@tools:1"] {
            assert_eq!(url(bad), None, "{bad:?}");
        }
    }
}
