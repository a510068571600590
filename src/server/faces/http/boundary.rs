//! The boundary between a listener and browsers: the host that a request names, and the origin of the page that makes
//! it.

use http::{HeaderMap, Uri};

use super::{
    host::{BadHost, Hosts},
    origin::{Origins, Page},
};
use toolwire_config::{self as config, Config};

#[derive(Clone, Debug)]
pub struct Boundary {
    hosts: Hosts,
    origins: Origins,
}

/// Why a request may not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::faces) enum Foreign {
    Host(BadHost),
    Origin,
}

impl Boundary {
    /// Of the listener for users. Where their credentials come by themselves, a request must name this server, and no
    /// page of another origin makes it.
    pub fn of_users(config: &Config) -> Self {
        let is_behind_proxy = !config.auth.trusted_proxies.is_empty();
        let is_ambient = config.has_ambient_credentials();
        Self::new(&config.http, !config.auth.is_open(), is_ambient, is_behind_proxy)
    }

    /// Of the listener for operators, which takes no credentials: probes and Prometheus come by addresses too, which no
    /// page can have as its name.
    pub(in crate::faces) fn of_operators(config: &config::Http, needs_credentials: bool) -> Self {
        let of_users = Self::new(config, needs_credentials, false, false);
        match of_users.hosts {
            Hosts::Any => of_users,
            _ => Self { hosts: Hosts::AllowedOrAddress(config.hosts()), ..of_users },
        }
    }

    fn new(config: &config::Http, needs_credentials: bool, is_ambient: bool, is_behind_proxy: bool) -> Self {
        let hosts = if !needs_credentials {
            Hosts::Loopback
        } else if config.allowed_hosts.is_empty() && !is_ambient {
            Hosts::Any
        } else {
            Hosts::Allowed(config.hosts())
        };
        let origins = Origins::new(config.origins(), is_behind_proxy);
        // Without credentials every page on this machine has those of its user.
        let is_ambient = is_ambient || !needs_credentials;
        Self { hosts, origins: if is_ambient { origins.with_ambient_credentials() } else { origins } }
    }

    /// The origin of the page that makes a request, if it may and the request names this server.
    pub(in crate::faces) fn page(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
        is_encrypted: bool,
    ) -> Result<Page, Foreign> {
        let named = self.hosts.check(uri, headers).map_err(Foreign::Host)?;
        match self.origins.page(headers, is_encrypted, &named) {
            Page::Foreign => Err(Foreign::Origin),
            page => Ok(page),
        }
    }
}
