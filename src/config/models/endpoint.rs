//! Where a model is asked.

use url::{Host, Url};

use super::Provider;
use toolwire_outgoing::names_link_local_or_metadata;

/// The address that is set, if one is. A key goes over TLS, or does not leave this machine.
pub(super) fn of(provider: Provider, address: Option<&str>, sends_key: bool) -> Result<Option<Url>, String> {
    let Some(address) = address else {
        return match provider {
            Provider::Compatible => {
                Err("endpoint is missing; add the address that stands before /chat/completions".to_owned())
            }
            _ => Ok(None),
        };
    };
    parse_endpoint(address, !sends_key).map(Some).map_err(|what| format!("endpoint {what}"))
}

/// An address to which secrets may be sent; of one to which none is, any of the web.
pub(super) fn parse_endpoint(address: &str, is_open: bool) -> Result<Url, String> {
    let url = Url::parse(address).map_err(|error| format!("cannot be read: {error}"))?;
    let has_more = url.query().is_some() || url.fragment().is_some();
    if has_more || !url.username().is_empty() || url.password().is_some() {
        return Err("must be an address alone: without user, password, ? and #".to_owned());
    }
    if names_link_local_or_metadata(&url) {
        return Err("must not be a link-local address or a metadata service".to_owned());
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_open || is_here(&url) => Ok(url),
        "http" => {
            Err("must be https://…, since a key is sent there; http:// only on this machine".to_owned())
        }
        _ => Err("must be https://… or http://…".to_owned()),
    }
}

fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
