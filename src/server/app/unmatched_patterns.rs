//! Patterns of tools, in the rights of users, in toolsets and in the settings of domains and providers, that match
//! nothing that is offered or may be: most are mistyped, and give no access.
//!
//! Reported rather than refused: a tool may come with a reload, and a pattern may be meant for diagnostics that are
//! off.

use std::collections::BTreeSet;

use super::App;
use crate::domain::SettingPattern;
use toolwire_config::{
    Auth, AuthUser, Config, ConfiguredProvider, Problem, ProviderFloor, ProviderKind, Rule, ToolPattern,
    Toolset, Toolsets,
};
use toolwire_contract::near::did_you_mean;

impl App {
    /// The patterns that match nothing as the tools stand now, and that no provider may own.
    pub fn unmatched_patterns(&self, config: &Config) -> Vec<Problem> {
        let snapshot = self.registry.snapshot();
        let names: Vec<_> = snapshot.tools().map(|tool| tool.definition.name.as_str()).collect();
        let owned: Vec<_> = config.providers.0.iter().flat_map(|it| &it.floor.tools).collect();
        let (of_users, of_rules) = (of_users(&config.auth), of_rules(&config.auth));
        let of_toolsets = of_toolsets(&config.toolsets);
        let patterns = of_users.iter().chain(&of_rules).chain(&of_toolsets).chain(&self.attached.patterns);
        let may_come = |it: &SettingPattern| owned.iter().any(|owned| owned.overlaps(&it.pattern));
        let unmatched = patterns.filter(|it| !may_come(it)).filter_map(|it| problem(it, &names));
        let own = snapshot.tools().map(|tool| &tool.definition).filter(|it| it.provider().is_none());
        let own: Vec<_> = own.map(|it| it.name.as_str()).collect();
        let tags: BTreeSet<_> =
            snapshot.tools().flat_map(|tool| &tool.definition.tags).map(String::as_str).collect();
        let of_toolsets = config.toolsets.iter().flat_map(|toolset| unknown_tags(toolset, &tags));
        // A tool of a provider may bring any tag.
        let rules = config.auth.rules.iter().filter(|_| config.providers.0.is_empty());
        let unmatched = unmatched.chain(rules.flat_map(|rule| unmatched_tags(rule, &tags)));
        let of_providers = config.providers.0.iter().flat_map(|it| of_provider(it, &own));
        let of_calls = config.calls.tools.0.keys().filter_map(|name| {
            let is_known = names.contains(&name.as_str()) || owned.iter().any(|it| it.matches(name));
            let near = did_you_mean(name, names.iter().copied());
            (!is_known)
                .then(|| Problem::new(format!("calls.tools.{name}"), format!("no tool has this name{near}")))
        });
        unmatched.chain(of_toolsets).chain(of_providers).chain(of_calls).collect()
    }
}

/// What a provider's settings say of tools that it may not own: they have no effect. And names that it may own by
/// themselves, which the server's own tools have: what it offers under them is refused.
fn of_provider(it: &ConfiguredProvider, own: &[&str]) -> Vec<Problem> {
    let ProviderFloor { tools, approve, conditions, .. } = &it.floor;
    let read = match &it.kind {
        ProviderKind::Mcp(server) => &*server.read,
        ProviderKind::Host(_) => &[],
    };
    let is_owned = |pattern: &ToolPattern| tools.iter().any(|tool| tool.overlaps(pattern));
    let names: Vec<_> = tools.iter().map(ToolPattern::as_str).collect();
    let not_owned = |key: &str, text: &str| {
        let near = did_you_mean(text, names.iter().copied());
        let what = format!("{text:?} is no name that this provider may own, which `tools` says{near}");
        Problem::new(format!("providers.{}: {key}", it.name), what)
    };
    let patterns = [("approve", &**approve), ("read", read)].into_iter();
    let patterns = patterns.flat_map(|(key, all)| all.iter().map(move |pattern| (key, pattern)));
    let unowned = patterns.filter(|(_, pattern)| !is_owned(pattern));
    let unowned = unowned.map(|(key, pattern)| not_owned(key, pattern.as_str()));
    let conditions = conditions.keys().filter(|name| !tools.iter().any(|tool| tool.matches(name)));
    let conditions = conditions.map(|name| not_owned("conditions", name));
    let taken = names.iter().filter(|name| own.contains(name));
    let taken = taken.map(|name| {
        let what = format!("a tool of this server is called {name:?}, so that an offer of it is refused");
        Problem::new(format!("providers.{}: tools", it.name), what)
    });
    unowned.chain(conditions).chain(taken).collect()
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

fn of_rules(auth: &Auth) -> Vec<SettingPattern> {
    let of_rule = |rule: &Rule| {
        let pattern = |pattern: &ToolPattern| SettingPattern {
            setting: "auth.rules: tools".to_owned(),
            of: rule.at.clone(),
            pattern: pattern.clone(),
        };
        rule.tools.iter().map(pattern).collect::<Vec<_>>()
    };
    auth.rules.iter().flat_map(of_rule).collect()
}

/// The tags of a rule that no tool has.
fn unmatched_tags(rule: &Rule, offered: &BTreeSet<&str>) -> Vec<Problem> {
    let unmatched = rule.tags.iter().filter(|tag| !offered.contains(tag.as_str()));
    let problem = |tag: &String| {
        let near = did_you_mean(tag, offered.iter().copied());
        Problem::new(
            "auth.rules: tags",
            format!("{tag:?} of {} is a tag of no tool that is offered{near}", rule.at),
        )
    };
    unmatched.map(problem).collect()
}

fn of_toolsets(toolsets: &Toolsets) -> Vec<SettingPattern> {
    let of_toolset = |toolset: &Toolset| {
        let pattern = |pattern: &ToolPattern| SettingPattern {
            setting: format!("toolsets.{}: tools", toolset.name),
            of: "the toolset".to_owned(),
            pattern: pattern.clone(),
        };
        toolset.tools.iter().map(pattern).collect::<Vec<_>>()
    };
    toolsets.iter().flat_map(of_toolset).collect()
}

/// The tags of a toolset that no tool has.
fn unknown_tags(toolset: &Toolset, offered: &BTreeSet<&str>) -> Vec<Problem> {
    let problem = |tag: &String| {
        Problem::new(
            format!("toolsets.{}: tags", toolset.name),
            format!("no tool that is offered has the tag {tag:?}"),
        )
    };
    toolset.tags.iter().filter(|tag| !offered.contains(tag.as_str())).map(problem).collect()
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
    use toolwire_config::{Flags, testing};

    #[test]
    fn a_pattern_that_matches_nothing_is_told_with_the_near_name() {
        let pattern = |text: &str| ToolPattern::try_from(text.to_owned()).unwrap();
        let mut user = AuthUser::new("riley".parse().unwrap(), "a-token".into());
        user.tools = ["get_*", "*", "get_prics", "write_*"].map(pattern).into();
        let offered = ["get_prices", "get_news"];
        let patterns = of_users(&Auth { users: vec![user], ..Auth::default() });
        let problems = patterns.iter().filter_map(|it| problem(it, &offered));
        let texts: Vec<_> = problems.map(|problem| problem.to_string()).collect();
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(texts[0].contains("\"get_prics\" of riley") && texts[0].contains("Did you mean get_prices"));
        assert!(texts[1].contains("\"write_*\""), "{texts:?}");
    }

    #[test]
    fn what_a_rule_names_and_nothing_has_is_told_with_its_place() {
        let file = "[[auth.users]]\nuser_id = 'riley'\ntoken = 'a-long-enough-t0ken'\n\
                    [[auth.rules]]\nwho = ['user:riley']\ntools = ['get_prics']\n\
                    [[auth.rules]]\nwho = ['user:riley']\ntags = ['prices', 'quots']\n";
        let auth = testing::load_text(file, &[], Flags::default(), &[]).unwrap().config.auth;
        let tools = of_rules(&auth);
        let [tool] = &tools.iter().filter_map(|it| problem(it, &["get_prices"])).collect::<Vec<_>>()[..]
        else {
            panic!("one")
        };
        assert!(
            tool.what.contains("auth.rules.0") && tool.what.contains("Did you mean get_prices"),
            "{tool}"
        );
        let [tag] = &unmatched_tags(&auth.rules[1], &BTreeSet::from(["prices", "quotes"]))[..] else {
            panic!("one")
        };
        assert!(tag.what.contains("auth.rules.1") && tag.what.contains("Did you mean quotes"), "{tag}");
    }
}
