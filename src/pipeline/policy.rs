//! Who may call what, as the configuration says it.

use std::collections::HashMap;

use super::Policy;
use crate::context::{User, UserId};

/// Everybody may call everything: the mode without credentials, on loopback only.
#[derive(Clone, Copy, Debug)]
pub struct AllowAll;

/// Each user may call the tools that match one of the user's patterns: a name, or the beginning of one before `*`.
#[derive(Clone, Debug, Default)]
pub struct AllowList(HashMap<UserId, Vec<String>>);

impl AllowList {
    /// The patterns of each user.
    pub fn new(patterns: impl IntoIterator<Item = (UserId, Vec<String>)>) -> Self {
        Self(patterns.into_iter().collect())
    }
}

impl Policy for AllowAll {
    fn may_call(&self, _user: &User, _tool: &str) -> bool {
        true
    }
}

impl Policy for AllowList {
    fn may_call(&self, user: &User, tool: &str) -> bool {
        self.0.get(&user.id).is_some_and(|patterns| patterns.iter().any(|pattern| matches(pattern, tool)))
    }
}

fn matches(pattern: &str, tool: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == tool, |beginning| tool.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_may_call_what_the_patterns_name_and_nothing_else() {
        let id: UserId = "riley".parse().expect("valid");
        let policy = AllowList::new([(id.clone(), vec!["get_*".to_owned(), "rank_portfolio".to_owned()])]);
        let riley = User::new(id);
        assert!(policy.may_call(&riley, "get_quotes"));
        assert!(policy.may_call(&riley, "rank_portfolio"));
        assert!(!policy.may_call(&riley, "rank_portfolios"));
        assert!(!policy.may_call(&riley, "debug_sleep"));
        assert!(!policy.may_call(&User::new("other".parse().expect("valid")), "get_quotes"));
    }
}
