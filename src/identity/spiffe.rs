//! The names of workloads: SPIFFE ids, `spiffe://<trust domain>/<path>`, and the patterns by which they are configured.
//!
//! An id is read strictly, by the SPIFFE standard: in lower case where that is required, without escapes, dots or empty
//! segments, so that each workload has one spelling.

use std::{fmt, str::FromStr, sync::Arc};

/// Maximum length of a trust domain, and of an id, by the standard.
const LONGEST_TRUST_DOMAIN: usize = 255;
const LONGEST: usize = 2_048;
/// The segment of a pattern that matches any one segment.
const ANY: &str = "*";

/// The id of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SpiffeId(Arc<str>);

/// A pattern of ids: `*` stands for one segment of the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpiffePattern(String);

/// A text is no id or no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a SPIFFE id such as spiffe://example.org/ns/shop/sa/agent, with a path of a-z, A-Z, 0-9, _, . and - \
     between slashes{0}"
)]
pub struct InvalidSpiffeId(&'static str);

impl SpiffeId {
    /// What every id begins with.
    pub const SCHEME: &str = "spiffe://";

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    pub fn trust_domain(&self) -> &str {
        parts(&self.0).0
    }
}

impl SpiffePattern {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn trust_domain(&self) -> &str {
        parts(&self.0).0
    }

    pub fn matches(&self, id: &SpiffeId) -> bool {
        self.agrees(&id.0, |own, other| own == ANY || own == other)
    }

    /// Whether some id matches both.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.agrees(&other.0, |own, other| own == ANY || other == ANY || own == other)
    }

    /// Whether the trust domain is the other's, and each segment agrees with the other's.
    fn agrees(&self, other: &str, agree: impl Fn(&str, &str) -> bool) -> bool {
        let ((own_domain, own), (other_domain, other)) = (parts(&self.0), parts(other));
        let count = |path: &str| path.split('/').count();
        own_domain == other_domain
            && count(own) == count(other)
            && own.split('/').zip(other.split('/')).all(|(own, other)| agree(own, other))
    }
}

impl FromStr for SpiffeId {
    type Err = InvalidSpiffeId;

    fn from_str(text: &str) -> Result<Self, InvalidSpiffeId> {
        check(text, is_segment).map(|()| Self(text.into())).ok_or(InvalidSpiffeId(""))
    }
}

impl FromStr for SpiffePattern {
    type Err = InvalidSpiffeId;

    fn from_str(text: &str) -> Result<Self, InvalidSpiffeId> {
        let is_segment = |segment: &str| segment == ANY || is_segment(segment);
        let read = check(text, is_segment).map(|()| Self(text.to_owned()));
        read.ok_or(InvalidSpiffeId(", or * for one whole segment"))
    }
}

impl fmt::Display for SpiffeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for SpiffePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The trust domain and the path of an id.
fn parts(id: &str) -> (&str, &str) {
    id[SpiffeId::SCHEME.len()..].split_once('/').expect("an id has a path")
}

/// Whether a text is the name of a trust domain, such as `example.org`.
pub fn is_trust_domain(text: &str) -> bool {
    (1..=LONGEST_TRUST_DOMAIN).contains(&text.len()) && text.bytes().all(is_of_trust_domain)
}

fn check(text: &str, is_segment: impl Fn(&str) -> bool) -> Option<()> {
    let (trust_domain, path) = text.strip_prefix(SpiffeId::SCHEME)?.split_once('/')?;
    let is_fine = text.len() <= LONGEST && is_trust_domain(trust_domain) && path.split('/').all(is_segment);
    is_fine.then_some(())
}

fn is_of_trust_domain(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-_".contains(&byte)
}

fn is_segment(segment: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    !matches!(segment, "" | "." | "..") && segment.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern(text: &str) -> SpiffePattern {
        text.parse().unwrap()
    }

    #[test]
    fn an_id_has_one_spelling() {
        let id: SpiffeId = "spiffe://example.org/ns/shop/sa/agent".parse().unwrap();
        assert_eq!(
            (id.trust_domain(), id.as_str()),
            ("example.org", "spiffe://example.org/ns/shop/sa/agent")
        );
        for wrong in [
            "",
            "spiffe://",
            "spiffe://example.org",
            "spiffe://example.org/",
            "spiffe:///ns/shop",
            "spiffe://example.org//shop",
            "spiffe://example.org/ns/",
            "spiffe://example.org/./shop",
            "spiffe://example.org/../shop",
            "spiffe://example.org/a%20b",
            "spiffe://example.org/a?b",
            "spiffe://example.org/a#b",
            "spiffe://example.org/*",
            "spiffe://example.org/аgent",
            "spiffe://Example.org/a",
            "spiffe://example.org:8443/a",
            "spiffe://user@example.org/a",
            "SPIFFE://example.org/a",
            "https://example.org/a",
            " spiffe://example.org/a",
            &format!("spiffe://{}/a", "a".repeat(256)),
            &format!("spiffe://a/{}", "a".repeat(2_048)),
        ] {
            assert!(wrong.parse::<SpiffeId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_star_matches_one_whole_segment_of_the_path() {
        let any = pattern("spiffe://example.org/ns/*/sa/agent");
        for (id, matches) in [
            ("spiffe://example.org/ns/shop/sa/agent", true),
            ("spiffe://example.org/ns/x/sa/agent", true),
            ("spiffe://example.org/ns/x/y/sa/agent", false),
            ("spiffe://example.org/ns/sa/agent", false),
            ("spiffe://example.org/ns/shop/sa/agent/x", false),
            ("spiffe://example.org/ns/shop/sa/Agent", false),
            ("spiffe://example.com/ns/shop/sa/agent", false),
            ("spiffe://example.org.evil.org/ns/shop/sa/agent", false),
        ] {
            assert_eq!(any.matches(&id.parse().unwrap()), matches, "{id}");
        }
        for wrong in ["spiffe://*/a", "spiffe://example.org/a*", "spiffe://example.org/**", "example.org/a"] {
            assert!(wrong.parse::<SpiffePattern>().is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn patterns_overlap_where_an_id_matches_both(
            left in "spiffe://[ab](/([ab]|\\*)){1,3}",
            right in "spiffe://[ab](/([ab]|\\*)){1,3}",
            id in "spiffe://[ab](/[ab]){1,3}",
        ) {
            let (left, right) = (pattern(&left), pattern(&right));
            let id: SpiffeId = id.parse().unwrap();
            prop_assert_eq!(left.overlaps(&right), right.overlaps(&left));
            prop_assert!(!(left.matches(&id) && right.matches(&id)) || left.overlaps(&right));
            // The id that has the one's segments where the other has a star is of both.
            if left.overlaps(&right) {
                let of = |pattern: &SpiffePattern| pattern.as_str().split('/').map(str::to_owned).collect::<Vec<_>>();
                let met = of(&left).into_iter().zip(of(&right)).map(|(one, other)| if one == ANY { other } else { one });
                let met: SpiffeId = met.collect::<Vec<_>>().join("/").replace('*', "a").parse().unwrap();
                prop_assert!(left.matches(&met) && right.matches(&met));
            }
        }
    }
}
