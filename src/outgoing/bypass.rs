//! What is asked without the proxy: an entry of `NO_PROXY`.

use std::{fmt, net::IpAddr, str::FromStr};

use ipnet::IpNet;

/// What is never asked through the proxy: this machine, and the short names of metadata services. Other networks have
/// other servers by those names, so they are resolved here and their addresses checked.
pub(crate) const NEVER_PROXIED: [&str; 5] = ["localhost", "127.0.0.0/8", "::1", "metadata", "instance-data"];

/// A name with all names below it, an address, a network, or `*` for everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bypass(String);

/// A text is no entry of `NO_PROXY`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a name such as corp.example, which stands for those below it too, an address or a network such as 10.0.0.0/8, without a port, but found {0:?}"
)]
pub struct InvalidBypass(String);

impl Bypass {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Bypass {
    type Err = InvalidBypass;

    fn from_str(text: &str) -> Result<Self, InvalidBypass> {
        let entry = text.trim();
        let bare = entry.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(entry);
        if entry == "*" || bare.parse::<IpAddr>().is_ok() || bare.parse::<IpNet>().is_ok() {
            return Ok(Self(bare.to_owned()));
        }
        // Written in three ways: `corp.example`, `.corp.example`, `*.corp.example`.
        let name = entry.strip_prefix('*').unwrap_or(entry).trim_start_matches('.');
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        // What looks like an address and is none would match nothing.
        let is_numeric = name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let is_name = !name.is_empty() && name.bytes().all(fits) && !is_numeric;
        if is_name { Ok(Self(name.to_owned())) } else { Err(InvalidBypass(text.to_owned())) }
    }
}

impl fmt::Display for Bypass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_entry_is_a_name_an_address_a_network_or_everything() {
        for (text, entry) in [
            ("corp.example", "corp.example"),
            (" .corp.example", "corp.example"),
            ("*.corp.example", "corp.example"),
            ("internal", "internal"),
            ("10.0.0.7", "10.0.0.7"),
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("[fd00::7]", "fd00::7"),
            ("fd00::/8", "fd00::/8"),
            ("*", "*"),
        ] {
            assert_eq!(text.parse::<Bypass>().map(|it| it.to_string()), Ok(entry.to_owned()), "{text}");
        }
        for bad in [
            "",
            " ",
            ".",
            "corp.example:8080",
            "10.0.0.0/33",
            "10.0.0",
            "http://corp.example",
            "a b",
            "*corp*",
        ] {
            assert!(bad.parse::<Bypass>().is_err(), "{bad}");
        }
    }

    proptest! {
        /// What is printed is read again, and no entry holds the comma that separates entries.
        #[test]
        fn an_entry_is_read_as_it_is_shown(text in ".{0,40}") {
            if let Ok(entry) = text.parse::<Bypass>() {
                prop_assert!(!entry.as_str().contains(','));
                prop_assert_eq!(entry.to_string().parse::<Bypass>(), Ok(entry));
            }
        }
    }
}
