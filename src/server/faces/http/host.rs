//! Validates the host of a request.
//!
//! Without required credentials, only names of the loopback interface are accepted. Otherwise a page could act as the
//! user of this machine by a name of its own that resolves to it (DNS rebinding). With credentials any name is
//! accepted, or those that are configured.

use std::net::{IpAddr, Ipv6Addr};

use http::{HeaderMap, Uri, header::HOST, uri::Authority};

/// The hosts that requests may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Hosts {
    Loopback,
    /// Names of the loopback interface, these names, and any address.
    AllowedOrAddress(Vec<String>),
    /// These names, with or without a port.
    Allowed(Vec<String>),
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::faces) enum BadHost {
    /// It is absent, ambiguous, or no name.
    Malformed,
    /// It is no name of this server.
    Foreign,
}

impl Hosts {
    /// The host that a request names, if it may.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<Authority, BadHost> {
        let named = authority(uri, headers).ok_or(BadHost::Malformed)?;
        if self.allow(&named) { Ok(named) } else { Err(BadHost::Foreign) }
    }

    fn allow(&self, named: &Authority) -> bool {
        match self {
            Self::Any => true,
            Self::Loopback => is_loopback(named.host()),
            Self::Allowed(list) => is_listed(list, named),
            Self::AllowedOrAddress(list) => {
                is_loopback(named.host()) || address(named.host()).is_some() || is_listed(list, named)
            }
        }
    }
}

/// `:authority` over HTTP/2, `Host` over HTTP/1; if both are there they are the same.
pub(in crate::faces) fn authority(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (None, _) => None,
        (Some(host), None) => Some(host.to_str().ok()?.parse::<Authority>().ok()?),
        (Some(_), Some(_)) => return None,
    };
    let named = match (uri.authority().cloned(), host) {
        (Some(authority), Some(host)) if authority != host => return None,
        (Some(authority), _) => authority,
        (None, host) => host?,
    };
    // `user@host` is not accepted as a host, since different readers read it differently.
    let is_host = !named.as_str().contains('@') && is_host(named.host());
    (is_host && has_valid_port(&named)).then_some(named)
}

/// Needed since `http` accepts any text in brackets as an address.
fn is_host(host: &str) -> bool {
    match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').is_some_and(|address| address.parse::<Ipv6Addr>().is_ok()),
        None => !host.is_empty(),
    }
}

/// Needed since `http` accepts any text behind a colon as a port.
fn has_valid_port(named: &Authority) -> bool {
    let behind = &named.as_str()[named.host().len()..];
    let Some(port) = behind.strip_prefix(':') else { return behind.is_empty() };
    port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
}

/// Whether a list has the name, alone or with the port.
fn is_listed(list: &[String], named: &Authority) -> bool {
    let is_name =
        |name: &String| name.eq_ignore_ascii_case(named.as_str()) || name.eq_ignore_ascii_case(named.host());
    list.iter().any(is_name)
}

fn address(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    bare.parse().ok()
}

/// A name or an address of the loopback interface.
fn is_loopback(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    if let Some(address) = address(host) {
        return address.to_canonical().is_loopback();
    }
    let host = host.to_ascii_lowercase();
    host == "localhost" || host.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(hosts: &Hosts, host: &str) -> Result<(), BadHost> {
        let headers = HeaderMap::from_iter([(HOST, host.parse().unwrap())]);
        hosts.check(&Uri::from_static("/v1/tools"), &headers).map(drop)
    }

    #[test]
    fn without_credentials_only_this_machine_is_named() {
        for ours in [
            "localhost",
            "LOCALHOST:50080",
            "localhost.:50080",
            "a.localhost:1",
            "127.0.0.1:50080",
            "127.0.0.1:80",
            "127.3.2.1",
            "[::1]:1",
            "[0:0:0:0:0:0:0:1]",
            "[::ffff:127.0.0.1]",
        ] {
            assert_eq!(check(&Hosts::Loopback, ours), Ok(()), "{ours}");
        }
        for foreign in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.nip.io",
            "127.1",
            "127.1:50080",
            "host.docker.internal",
            "10.0.0.7",
            "0.0.0.0",
            "[::]:1",
            "notlocalhost",
        ] {
            assert_eq!(check(&Hosts::Loopback, foreign), Err(BadHost::Foreign), "{foreign}");
        }
    }

    #[test]
    fn probes_come_by_addresses_and_pages_by_names() {
        let hosts = Hosts::AllowedOrAddress(vec!["toolwire.internal".into()]);
        for ours in ["localhost:1", "127.0.0.1", "10.0.0.7:9464", "[fd00::7]:1", "toolwire.internal:9464"] {
            assert_eq!(check(&hosts, ours), Ok(()), "{ours}");
        }
        for foreign in ["evil.example", "10.0.0.7.nip.io", "10.1"] {
            assert_eq!(check(&hosts, foreign), Err(BadHost::Foreign), "{foreign}");
        }
    }

    #[test]
    fn a_list_is_of_names_with_any_port_or_the_one_that_it_has() {
        let hosts = Hosts::Allowed(vec!["tools.example".into(), "api.example:8443".into()]);
        for ours in ["tools.example", "Tools.Example:1", "api.example:8443"] {
            assert_eq!(check(&hosts, ours), Ok(()), "{ours}");
        }
        for foreign in ["api.example", "api.example:1", "x.tools.example", "localhost"] {
            assert_eq!(check(&hosts, foreign), Err(BadHost::Foreign), "{foreign}");
        }
    }
}
