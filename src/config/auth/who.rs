//! The users, groups and workloads that a rule or a quota is for.

use std::fmt;

use toolwire_identity::{Issuer, SpiffeId, SpiffePattern, written_group_id, written_user_id};
use toolwire_tool::context::{User, UserId};

/// Before the id of a workload in a rule.
const SPIFFE: &str = "spiffe:";

/// The users that a rule or a quota is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// A user, by the id.
    User(String),
    /// A group of an issuer, or of workloads, by the id.
    Group(String),
    /// The users that these workloads are by their certificates alone, or by their tokens.
    Workload(SpiffePattern),
}

impl Who {
    /// Whether the user is meant, or is of the group that is.
    pub fn means(&self, user: &User) -> bool {
        match self {
            Self::User(id) => user.id.as_str() == id,
            Self::Group(id) => {
                user.grant.as_deref().is_some_and(|grant| grant.groups.iter().any(|it| it == id))
            }
            // Beside a token the certificate proves the peer, and the user is the token's.
            Self::Workload(pattern) => is_one_of(user.own_workload(), pattern),
        }
    }

    /// The id of the user or of the group, or the pattern of the workloads.
    pub fn id(&self) -> &str {
        match self {
            Self::User(id) | Self::Group(id) => id,
            Self::Workload(pattern) => pattern.as_str(),
        }
    }

    /// A user, a group or workloads as they are written: what no id can hold is found by its digest, as it is in
    /// tokens and records.
    pub fn parse(text: &str, issuers: &[Issuer]) -> Result<Self, String> {
        Self::parse_among(text, |name| issuers.iter().any(|issuer| issuer.name == name))
    }

    /// The same, where an issuer may be one whose entry cannot be used.
    pub(crate) fn parse_among(text: &str, is_issuer: impl Fn(&str) -> bool) -> Result<Self, String> {
        let known = |name: &str| {
            let found = is_issuer(name);
            found.then_some(()).ok_or(format!("{text:?} is of an issuer that [[auth.issuers]] does not name"))
        };
        match text.split_once(':') {
            Some(("user", id)) => match id.split_once(':') {
                Some((issuer, claim)) => {
                    known(issuer).map(|()| Self::User(written_user_id(issuer, claim).as_str().to_owned()))
                }
                None => match id.parse::<UserId>() {
                    Ok(id) => Ok(Self::User(id.as_str().to_owned())),
                    // Letters that look like others would match no user.
                    Err(what) => Err(format!("{text:?} names no user: the id {what}")),
                },
            },
            Some(("group", id)) => match id.split_once('/') {
                Some((issuer, claim)) if !claim.is_empty() => {
                    known(issuer).map(|()| Self::Group(written_group_id(issuer, claim)))
                }
                // Of workloads.
                None if !id.is_empty() => Ok(Self::Group(id.to_owned())),
                _ => Err(format!("{text:?} names no group, such as group:corp/support")),
            },
            Some(("spiffe", _)) => parse_workloads(text).map(Self::Workload),
            _ => Err(format!("who must be user:…, group:… or spiffe:…, but there is {text:?}")),
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(id) => write!(f, "user:{id}"),
            Self::Group(id) => write!(f, "group:{id}"),
            Self::Workload(pattern) => f.write_str(&show_workloads(pattern)),
        }
    }
}

/// Reads a pattern of workloads: `spiffe:example.org/…`, or as the id itself is written.
pub(super) fn parse_workloads(text: &str) -> Result<SpiffePattern, String> {
    let id = text.strip_prefix(SPIFFE).ok_or_else(|| format!("{text:?} must begin with {SPIFFE}"))?;
    let id = id.strip_prefix("//").unwrap_or(id);
    format!("{SPIFFE}//{id}").parse().map_err(|what| format!("{text:?} names no workload: {what}"))
}

/// A pattern of workloads as rules have it.
pub(super) fn show_workloads(pattern: &SpiffePattern) -> String {
    pattern.as_str().replacen("//", "", 1)
}

/// Whether the peer of the user's connection proved to be one of these workloads, beside a token or alone.
pub(super) fn is_peer(user: &User, workloads: &SpiffePattern) -> bool {
    is_one_of(user.workload.as_deref(), workloads)
}

fn is_one_of(id: Option<&str>, workloads: &SpiffePattern) -> bool {
    id.and_then(|id| id.parse::<SpiffeId>().ok()).is_some_and(|id| workloads.matches(&id))
}
