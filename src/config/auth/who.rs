//! The users and groups that rules and quotas name.

use std::fmt;

use toolwire_identity::{Issuer, written_group_id, written_user_id};
use toolwire_tool::context::{User, UserId};

/// The user or the group that a rule or a quota is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// A user, by the id.
    User(String),
    /// A group of an issuer, or of workloads, by the id.
    Group(String),
}

impl Who {
    /// Whether the user is meant, or is of the group that is.
    pub fn means(&self, user: &User) -> bool {
        match self {
            Self::User(id) => user.id.as_str() == id,
            Self::Group(id) => {
                user.grant.as_deref().is_some_and(|grant| grant.groups.iter().any(|it| it == id))
            }
        }
    }

    /// A user or a group as it is written: what no id can hold is found by its digest, as it is in tokens and
    /// records.
    pub fn parse(text: &str, issuers: &[Issuer]) -> Result<Self, String> {
        let known = |name: &str| {
            let found = issuers.iter().any(|issuer| issuer.name == name);
            found.then_some(()).ok_or(format!("{text:?} is of an issuer that [[auth.issuers]] does not name"))
        };
        match text.split_once(':') {
            Some(("user", id)) => match id.split_once(':') {
                Some((issuer, claim)) => {
                    known(issuer).map(|()| Self::User(written_user_id(issuer, claim).as_str().to_owned()))
                }
                None => match id.parse::<UserId>() {
                    Ok(id) => Ok(Self::User(id.as_str().to_owned())),
                    // An id with letters that look like others would be the id of no user.
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
            _ => Err(format!("who must be user:… or group:…, but there is {text:?}")),
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(id) => write!(f, "user:{id}"),
            Self::Group(id) => write!(f, "group:{id}"),
        }
    }
}
