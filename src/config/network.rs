//! Networks as people write them: `10.0.0.0/8`, or one address.

use std::{fmt, net::IpAddr, str::FromStr};

use ipnet::IpNet;

use super::{
    raw_value::RawValue,
    value::{Value, quote},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network(IpNet);

impl Network {
    /// Whether an address is one of the network's, also as an IPv4 address in IPv6 form.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let one = || text.parse::<IpAddr>().map(IpNet::from);
        let expected = "expected an address or a network such as \"10.0.0.0/8\"";
        text.parse().or_else(|_| one()).map(Self).map_err(|_| format!("{expected}, but found {text:?}"))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Value for Network {
    fn read(found: &RawValue) -> Result<Self, String> {
        String::read(found)?.parse()
    }

    fn to_toml(&self) -> String {
        quote(&self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_a_prefix_or_one_address() {
        let contains = |network: &str, address: &str| {
            network.parse::<Network>().unwrap().contains(address.parse().unwrap())
        };
        assert!(contains("10.0.0.0/8", "10.200.3.4") && !contains("10.0.0.0/8", "11.0.0.1"));
        assert!(contains("127.0.0.1", "127.0.0.1") && contains("127.0.0.1", "::ffff:127.0.0.1"));
        assert!(contains("2001:db8::/32", "2001:db8::7") && !contains("2001:db8::/32", "192.0.2.7"));
        assert!("10.0.0.0/33".parse::<Network>().unwrap_err().contains("10.0.0.0/8"));
    }
}
