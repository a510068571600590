//! The boundary between a listener and browsers: the host that a request names, and the origin of the page that makes
//! it.

use http::{HeaderMap, Uri};

use super::{
    host::{BadHost, Hosts},
    origin::{Origins, Page},
};
use toolwire_config as config;

#[derive(Clone, Debug)]
pub(in crate::faces) struct Boundary {
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
    /// Of the listener for users.
    pub(super) fn new(config: &config::Http, needs_credentials: bool) -> Self {
        let hosts = match (needs_credentials, &*config.allowed_hosts) {
            (false, _) => Hosts::Loopback,
            (true, []) => Hosts::Any,
            (true, names) => Hosts::Allowed(names.to_vec()),
        };
        Self { hosts, origins: Origins::new(&config.allowed_origins) }
    }

    /// Of the listener for operators: probes and Prometheus come by addresses too, which no page can have as its name.
    pub(in crate::faces) fn of_operators(config: &config::Http, needs_credentials: bool) -> Self {
        let of_users = Self::new(config, needs_credentials);
        match of_users.hosts {
            Hosts::Any => of_users,
            _ => Self { hosts: Hosts::AllowedOrAddress(config.allowed_hosts.clone()), ..of_users },
        }
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
