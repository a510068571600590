//! Patterns of tools, in users' rights and in the settings of domains, that match nothing that is offered: most are
//! mistyped, and give no access.
//!
//! Reported rather than refused: a tool may come with a reload, and a pattern may be meant for diagnostics that are
//! off.

use super::App;
use crate::domain::SettingPattern;
use toolwire_config::{Auth, AuthUser, Config, Problem, ToolPattern};
use toolwire_contract::near::did_you_mean;

impl App {
    /// The patterns that match nothing as the tools stand now.
    pub fn unmatched_patterns(&self, config: &Config) -> Vec<Problem> {
        let snapshot = self.registry.snapshot();
        let names: Vec<_> = snapshot.tools().map(|tool| tool.definition.name.as_str()).collect();
        of_users(&config.auth)
            .iter()
            .chain(&self.attached.patterns)
            .filter_map(|it| problem(it, &names))
            .collect()
    }
}

fn of_users(auth: &Auth) -> Vec<SettingPattern> {
    let of_user = |user: &AuthUser| {
        let pattern = |key: &str, pattern: &ToolPattern| SettingPattern {
            setting: format!("auth.users: {key}"),
            of: user.user_id.to_string(),
            pattern: pattern.clone(),
        };
        let tools = user.tools.iter().map(|it| pattern("tools", it));
        tools.chain(user.approve.iter().map(|it| pattern("approve", it))).collect::<Vec<_>>()
    };
    auth.users.iter().flat_map(of_user).collect()
}

/// The problem of a pattern that matches nothing, with near names.
fn problem(it: &SettingPattern, offered: &[&str]) -> Option<Problem> {
    let SettingPattern { setting, of, pattern } = it;
    if pattern.is_everything() || offered.iter().any(|name| pattern.matches(name)) {
        return None;
    }
    let near = did_you_mean(pattern.as_str(), offered.iter().copied());
    let what = format!("{:?} of {of} matches no tool that is offered{near}", pattern.as_str());
    Some(Problem::new(setting.clone(), what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_matches_nothing_is_told_with_the_near_name() {
        let pattern = |text: &str| ToolPattern::try_from(text.to_owned()).unwrap();
        let mut user = AuthUser::new("riley".parse().unwrap(), "a-token".into());
        user.tools = ["get_*", "*", "get_prics", "write_*"].map(pattern).into();
        let offered = ["get_prices", "get_news"];
        let patterns = of_users(&Auth { users: vec![user] });
        let problems = patterns.iter().filter_map(|it| problem(it, &offered));
        let texts: Vec<_> = problems.map(|problem| problem.to_string()).collect();
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(texts[0].contains("\"get_prics\" of riley") && texts[0].contains("Did you mean get_prices"));
        assert!(texts[1].contains("\"write_*\""), "{texts:?}");
    }
}
