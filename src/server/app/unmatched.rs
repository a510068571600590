//! Patterns of tools, in users' rights and of roles, that match nothing that is offered: most are mistyped, and give no
//! access.
//!
//! Reported rather than refused: a tool may come with a reload, and a pattern may be meant for diagnostics that are
//! off.

use super::App;
use toolwire_config::{AgentRoles, Auth, Config, Problem, ToolPattern};
use toolwire_contract::near::did_you_mean;

impl App {
    /// The patterns that match nothing as the tools stand now.
    pub fn unmatched_patterns(&self, config: &Config) -> Vec<Problem> {
        let snapshot = self.registry.snapshot();
        let names: Vec<_> = snapshot.tools().map(|tool| tool.definition.name.as_str()).collect();
        [of_users(&config.auth, &names), of_roles(&config.agent_roles, &names)].concat()
    }
}

/// One problem for each such pattern of each user, with near names.
fn of_users(auth: &Auth, offered: &[&str]) -> Vec<Problem> {
    let problems = auth.users.iter().flat_map(|user| {
        [("tools", &user.tools), ("approve", &user.approve)]
            .into_iter()
            .flat_map(|(key, patterns)| patterns.iter().map(move |pattern| (key, pattern)))
            .filter(|(_, pattern)| is_unmatched(pattern, offered))
            .map(|(key, pattern)| {
                let what = words(pattern, &format!("of {}", user.user_id), offered);
                Problem::new(format!("auth.users: {key}"), what)
            })
    });
    problems.collect()
}

/// One problem for each such pattern of each role, with near names.
fn of_roles(roles: &AgentRoles, offered: &[&str]) -> Vec<Problem> {
    let problems = roles.0.iter().flat_map(|role| {
        let patterns = role.tools.iter().flatten().filter(|pattern| is_unmatched(pattern, offered));
        patterns.map(|pattern| {
            let what = words(pattern, &format!("of the role {}", role.name), offered);
            Problem::new(format!("agent.roles.{}: tools", role.name), what)
        })
    });
    problems.collect()
}

fn is_unmatched(pattern: &ToolPattern, offered: &[&str]) -> bool {
    !pattern.is_everything() && !offered.iter().any(|name| pattern.matches(name))
}

fn words(pattern: &ToolPattern, whose: &str, offered: &[&str]) -> String {
    let near = did_you_mean(pattern.as_str(), offered.iter().copied());
    format!("{:?} {whose} matches no tool that is offered{near}", pattern.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_config::{AgentRole, AuthUser};

    #[test]
    fn a_pattern_that_matches_nothing_is_told_with_the_near_name() {
        let pattern = |text: &str| ToolPattern::try_from(text.to_owned()).unwrap();
        let mut user = AuthUser::new("riley".parse().unwrap(), "a-token".into());
        user.tools = ["get_*", "*", "get_prics", "write_*"].map(pattern).into();
        let offered = ["get_prices", "get_news"];
        let problems = of_users(&Auth { users: vec![user] }, &offered);
        let texts: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(texts[0].contains("\"get_prics\" of riley") && texts[0].contains("Did you mean get_prices"));
        assert!(texts[1].contains("\"write_*\""), "{texts:?}");
        let tools = Some(vec![pattern("get_new"), pattern("get_*")]);
        let role = AgentRole { name: "analyst".to_owned(), prompt: None, tools, model: None };
        let texts: Vec<_> =
            of_roles(&AgentRoles(vec![role]), &offered).iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), 1, "{texts:?}");
        assert!(texts[0].contains("\"get_new\" of the role analyst") && texts[0].contains("get_news"));
    }
}
