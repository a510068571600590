//! Addresses that are never requested: link-local ones, and those of the metadata services of clouds, which hand out
//! credentials to any process on the machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Metadata services that are not link-local: Alibaba Cloud, Oracle Cloud, Azure.
const METADATA_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(192, 0, 0, 192), Ipv4Addr::new(168, 63, 129, 16)];

/// The same over IPv6: AWS, Google Cloud.
const METADATA_V6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)];

/// The names under which the networks of clouds know their metadata services: behind a proxy, the name is all there is
/// to check.
const METADATA_NAMES: [&str; 6] = [
    "metadata.google.internal",
    "metadata.goog",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
    "metadata.packet.net",
    "instance-data.ec2.internal",
];

/// Whether an address is link-local, or that of a metadata service, in whichever form it is written.
pub fn is_link_local_or_metadata(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_v4(address),
        IpAddr::V6(address) => {
            address.is_unicast_link_local()
                || METADATA_V6.contains(&address)
                || embedded(address).is_some_and(is_v4)
        }
    }
}

/// Whether a URL has such an address for a host, or the name of a metadata service. Which addresses another name leads
/// to is known when it is resolved, which is here unless a proxy is asked for it.
pub fn names_link_local_or_metadata(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => is_link_local_or_metadata(address.into()),
        Some(Host::Ipv6(address)) => is_link_local_or_metadata(address.into()),
        Some(Host::Domain(name)) => METADATA_NAMES.contains(&name.trim_end_matches('.')),
        None => false,
    }
}

fn is_v4(address: Ipv4Addr) -> bool {
    address.is_link_local() || METADATA_V4.contains(&address)
}

/// The IPv4 address that gateways find in an IPv6 address: compatible, translated, NAT64 or 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0, 0, 0, 0, 0 | 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x64, 0xff9b, 1, _, _, _, high, low]
        | [0x2002, high, low, ..] => Some(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(host: &str) -> Url {
        format!("https://{host}/hook").parse().unwrap()
    }

    #[test]
    fn they_are_known_in_every_form() {
        for host in [
            "169.254.169.254",
            "169.254.0.1",
            "169.254.169.254.",
            "2852039166",
            "0xa9fea9fe",
            "0251.0376.0251.0376",
            "169.254.43518",
            "100.100.100.200",
            "192.0.0.192",
            "168.63.129.16",
            "[fe80::1]",
            "[febf::1]",
            "[fd00:ec2::254]",
            "[fd20:ce::254]",
            "[::ffff:169.254.169.254]",
            "[::ffff:100.100.100.200]",
            "[::169.254.169.254]",
            "[::ffff:0:169.254.169.254]",
            "[64:ff9b::169.254.169.254]",
            "[64:ff9b:1::169.254.169.254]",
            "[2002:a9fe:a9fe::1]",
            "metadata.google.internal",
            "Metadata.Google.Internal.",
            "instance-data.ec2.internal",
        ] {
            assert!(names_link_local_or_metadata(&url(host)), "{host}");
        }
    }

    #[test]
    fn private_loopback_and_public_addresses_are_others() {
        for host in [
            "127.0.0.1",
            "10.0.0.7",
            "192.168.1.1",
            "172.16.0.1",
            "100.64.0.1",
            "1.1.1.1",
            "[::1]",
            "[fd00:ec2::253]",
            "[2606:4700::1111]",
            "localhost",
            "metadata.example",
            "google.internal",
        ] {
            assert!(!names_link_local_or_metadata(&url(host)), "{host}");
        }
    }
}
