//! The DNS resolver. Names of sources may resolve to public addresses only, so that no request reaches this network.
//!
//! Not here: addresses written out as such, which only the configuration can hold (redirects stay within an origin, or
//! are not followed), and which it checks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::net::lookup_host;

use toolwire_outgoing::is_link_local_or_metadata;

/// Asks the system for addresses and leaves out those that are not public.
///
/// `localhost` is what it says: only a base that an operator configured can name it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PublicOnly;

/// A name leads to addresses of this network alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name leads to no public address")]
pub(super) struct NotPublic;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let name = name.as_str();
            let found: Vec<_> = lookup_host((name, 0)).await?.collect();
            Ok(filter_public(name, &found).map(|addresses| Box::new(addresses.into_iter()) as Addrs)?)
        })
    }
}

fn filter_public(name: &str, found: &[SocketAddr]) -> Result<Vec<SocketAddr>, NotPublic> {
    let may = |address: &&SocketAddr| {
        if is_local(name) { address.ip().is_loopback() } else { is_public(address.ip()) }
    };
    let allowed: Vec<_> = found.iter().filter(may).copied().collect();
    if allowed.is_empty() && !found.is_empty() { Err(NotPublic) } else { Ok(allowed) }
}

fn is_local(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

fn is_public(address: IpAddr) -> bool {
    if is_link_local_or_metadata(address) {
        return false;
    }
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast();
    let is_reserved = match address.octets() {
        // This network; shared by carriers; protocol assignments; benchmarks; reserved, with broadcast.
        [0 | 240..=255, ..] | [100, 64..=127, ..] | [192, 0, 0, _] | [198, 18 | 19, ..] => true,
        _ => false,
    };
    !is_special && !is_reserved
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        // NAT64 and 6to4 carry an IPv4 address.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => embedded(high, low),
        // Teredo, ORCHID and other assignments; documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // Global unicast; everything else is local, multicast or not assigned.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_network_are_not_public() {
        for local in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "198.18.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "240.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "::ffff:127.0.0.1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "2002:a00:1::",
            "2001:db8::1",
            "2001::1",
            "fec0::1",
            "100::1",
        ] {
            assert!(!is_public(local.parse().unwrap()), "{local}");
        }
    }

    #[test]
    fn addresses_of_others_are_public() {
        for public in [
            "1.1.1.1",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "64:ff9b::808:808",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[tokio::test]
    async fn the_resolver_gives_public_addresses_only() {
        // The system's resolver takes it for 127.0.0.1; an address in a URL is spelled out before it comes here.
        let Err(error) = PublicOnly.resolve("127.1".parse().unwrap()).await else { panic!("refused") };
        assert!(error.is::<NotPublic>(), "{error}");
        assert!(PublicOnly.resolve("localhost".parse().unwrap()).await.is_ok());
    }

    #[test]
    fn a_name_leads_to_its_public_addresses_only() {
        let found = ["10.0.0.1:0", "1.1.1.1:0", "[::1]:0"].map(|address| address.parse().unwrap());
        assert_eq!(filter_public("example.com", &found), Ok(vec![found[1]]));
        assert_eq!(filter_public("example.com", &found[..1]), Err(NotPublic));
        assert_eq!(filter_public("LocalHost.", &found), Ok(vec![found[2]]));
        assert_eq!(filter_public("localhost.example.com", &found[2..]), Err(NotPublic));
    }
}
