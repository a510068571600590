//! The addresses that may be asked for keys and tokens, and the origin of one, safe within a header.

use std::fmt;

use url::{Host, Url};

use toolwire_outgoing::names_link_local_or_metadata;

/// Why an address is never asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("must be https://…, or http://… on this machine")]
    NotSecure,
    #[error("must not be a link-local address or a metadata service")]
    LinkLocal,
    #[error("must not hold a user or a password")]
    Credentials,
}

/// Checks an address of keys. Names are checked when they are resolved.
pub fn check_address(url: &Url) -> Result<(), AddressError> {
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match url.scheme() {
        _ if !url.username().is_empty() || url.password().is_some() => Err(AddressError::Credentials),
        _ if names_link_local_or_metadata(url) => Err(AddressError::LinkLocal),
        "https" => Ok(()),
        "http" if is_local => Ok(()),
        _ => Err(AddressError::NotSecure),
    }
}

/// The scheme, host and port of an address: https, or http on this machine. It has no character that means something
/// in a Content-Security-Policy, such as `*` or `;`, both of which a host of an address may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// The origin of an address; `None` where browsers must not be sent there.
    pub fn of(url: &Url) -> Option<Self> {
        check_address(url).ok()?;
        let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '.' | '_');
        let is_safe = match url.host()? {
            Host::Domain(name) => !name.is_empty() && name.chars().all(is_plain),
            Host::Ipv4(_) | Host::Ipv6(_) => true,
        };
        is_safe.then(|| Self(url.origin().ascii_serialization()))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_nothing_of_the_address_but_scheme_host_and_port() {
        for (url, origin) in [
            ("https://oauth2.example/token?a=b#c", "https://oauth2.example"),
            ("https://oauth2.example:443/token", "https://oauth2.example"),
            ("https://oauth2.example:8443/;script-src *", "https://oauth2.example:8443"),
            ("https://b\u{fc}cher.example/token", "https://xn--bcher-kva.example"),
            ("http://127.0.0.1:8080/token", "http://127.0.0.1:8080"),
            ("http://[::1]:8080/token", "http://[::1]:8080"),
            ("http://localhost/token", "http://localhost"),
        ] {
            assert_eq!(Origin::of(&url.parse().unwrap()).unwrap().to_string(), origin, "{url}");
        }
    }

    #[test]
    fn what_would_change_a_policy_or_lead_elsewhere_has_no_origin() {
        for url in [
            "https://*/token",
            "https://*.example/token",
            "https://a.example;sandbox/token",
            "https://a.example,b.example/token",
            "https://'self'/token",
            "https://a$b.example/token",
            "http://oauth2.example/token",
            "https://user:secret@oauth2.example/token",
            "https://169.254.169.254/token",
            "data:text/plain,token",
            "file:///token",
            "blob:https://oauth2.example/token",
            "javascript:alert(1)",
        ] {
            // Some of these are no address at all.
            let origin = url.parse().ok().and_then(|url| Origin::of(&url));
            assert_eq!(origin, None, "{url}");
        }
    }
}
