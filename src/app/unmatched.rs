//! Patterns of tools in users' rights that match nothing that is offered: most are mistyped, and give no access.
//!
//! Reported rather than refused: a tool may come with a reload, and a pattern may be meant for diagnostics that are
//! off.

use super::App;
use crate::{
    config::{Auth, Problem, ToolPattern},
    contract::near::did_you_mean,
};

impl App {
    /// The patterns that match nothing as the tools stand now.
    pub fn unmatched_patterns(&self, auth: &Auth) -> Vec<Problem> {
        let snapshot = self.registry.snapshot();
        let names: Vec<_> = snapshot.tools().map(|tool| tool.definition.name.as_str()).collect();
        unmatched(auth, &names)
    }
}

/// One problem for each such pattern of each user, with near names.
fn unmatched(auth: &Auth, offered: &[&str]) -> Vec<Problem> {
    let is_unmatched =
        |pattern: &&ToolPattern| !offered.iter().any(|name| pattern.matches(name)) && pattern.as_str() != "*";
    let problem = |user: &str, key: &str, pattern: &ToolPattern| {
        let near = did_you_mean(pattern.as_str(), offered.iter().copied());
        let what = format!("{:?} of {user} matches no tool that is offered{near}", pattern.as_str());
        Problem::new(format!("auth.users: {key}"), what)
    };
    let of_users = auth.users.iter().flat_map(|user| {
        let unmatched = [("tools", &user.tools), ("approve", &user.approve)].into_iter();
        let unmatched =
            unmatched.flat_map(|(key, of)| of.iter().filter(is_unmatched).map(move |it| (key, it)));
        unmatched.map(move |(key, pattern)| problem(user.user_id.as_str(), key, pattern))
    });
    of_users.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::AuthUser;

    #[test]
    fn a_pattern_that_matches_nothing_is_told_with_the_near_name() {
        let pattern = |text: &str| ToolPattern::try_from(text.to_owned()).unwrap();
        let mut user = AuthUser::new("riley".parse().unwrap(), "a-token".into());
        user.tools = ["get_*", "*", "get_prics", "write_*"].map(pattern).into();
        let problems = unmatched(&Auth { users: vec![user] }, &["get_prices", "get_news"]);
        let texts: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(texts[0].contains("\"get_prics\" of riley") && texts[0].contains("Did you mean get_prices"));
        assert!(texts[1].contains("\"write_*\""), "{texts:?}");
    }
}
