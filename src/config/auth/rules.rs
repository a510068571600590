//! What users may: `[[auth.rules]]`, by user or group and by the names of tools. A rule that denies wins over all that
//! allow.
//!
//! Not here: rights of a user's own entry in `[[auth.users]]`.

use std::fmt;

use crate::{Problem, ToolPattern, fields::Fields, reader::Reader, value::Value};
use toolwire_identity::{Issuer, group_id, user_id};
use toolwire_tool::context::User;

/// What some users may do, or may not, with some tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Where it stands, such as `toolwire.toml:12: auth.rules.0`.
    pub at: String,
    pub who: Vec<Who>,
    pub tools: Vec<ToolPattern>,
    /// The scope that the token must have for an allowing rule to hold.
    pub scope: Option<String>,
    pub denies: bool,
    pub may: Vec<Right>,
}

/// The user or the group that a rule is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// A user, by the id.
    User(String),
    /// A group of an issuer, by the id.
    Group(String),
}

/// What a user may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Right {
    /// Calling the tools.
    Call,
    /// Deciding on calls of the tools.
    Approve,
    /// Seeing all users' confirmations and calls.
    Observe,
}

impl Rule {
    pub(super) fn read_all(reader: &mut Reader, issuers: &[Issuer]) -> Vec<Self> {
        let mut rules = Vec::new();
        for mut entry in reader.list("auth.rules") {
            let rule = Self::read(&mut entry, issuers);
            if reader.end(entry) {
                rules.extend(rule);
            }
        }
        for rule in &rules {
            reader.show_entry("[[auth.rules]]", &rule.shown());
        }
        rules
    }

    fn read(entry: &mut Fields, issuers: &[Issuer]) -> Option<Self> {
        let who = entry.required::<Vec<String>>("who");
        let tools = entry.required::<Vec<ToolPattern>>("tools");
        let scope = entry.optional::<String>("scope");
        let effect = entry.optional::<String>("effect");
        let may = entry.optional::<Vec<String>>("may");

        let may = may.map_or(Ok(vec![Right::Call]), |names| rights(&names));
        let may = may.map_err(|what| entry.problem(what)).ok();
        let who = who.and_then(|who| all_of(&who, issuers).map_err(|what| entry.problem(what)).ok());
        let denies = match effect.as_deref() {
            None | Some("allow") => false,
            Some("deny") => true,
            Some(_) => {
                entry.problem("effect must be allow or deny");
                false
            }
        };
        if denies && scope.is_some() {
            entry.problem(
                "scope has no meaning where effect is deny: a client would leave the scope out; remove it",
            );
        }
        if scope.as_deref().is_some_and(|scope| scope.is_empty() || scope.contains(char::is_whitespace)) {
            entry.problem("scope must be one word, such as tools");
        }
        if tools.as_ref().is_some_and(Vec::is_empty) {
            entry.problem("tools must name at least one, such as \"shop_*\"");
        }
        let is_narrow = |tools: &Vec<ToolPattern>| !tools.iter().any(ToolPattern::is_everything);
        if may.iter().flatten().any(|it| *it == Right::Observe) && tools.as_ref().is_some_and(is_narrow) {
            entry.problem("observe is of all tools; write tools = [\"*\"], or leave observe out");
        }
        Some(Self { at: entry.problem_here("").at, who: who?, tools: tools?, scope, denies, may: may? })
    }

    fn shown(&self) -> Vec<(&'static str, String)> {
        let who: Vec<_> = self.who.iter().map(ToString::to_string).collect();
        let may: Vec<_> = self.may.iter().map(|it| <&str>::from(*it).to_owned()).collect();
        let effect = if self.denies { "deny" } else { "allow" };
        let mut shown = vec![("who", who.to_toml()), ("tools", self.tools.to_toml())];
        shown.extend(self.scope.as_ref().map(|it| ("scope", it.to_toml())));
        shown.extend([("effect", effect.to_owned().to_toml()), ("may", may.to_toml())]);
        shown
    }

    /// Whether the rule says anything of this right of the user. An allowing one says nothing without its scope.
    pub(super) fn is_of(&self, user: &User, right: Right) -> bool {
        self.may.contains(&right) && self.is_for(user)
    }

    /// Whether the rule is for the user, with the scopes that the token has.
    pub(super) fn is_for(&self, user: &User) -> bool {
        let grant = user.grant.as_deref();
        let has_scope = |scope: &String| grant.is_some_and(|grant| grant.scopes.iter().any(|it| it == scope));
        let is_meant = |who: &Who| match who {
            Who::User(id) => user.id.as_str() == id,
            Who::Group(id) => grant.is_some_and(|grant| grant.groups.iter().any(|it| it == id)),
        };
        self.who.iter().any(is_meant) && self.scope.as_ref().is_none_or(has_scope)
    }

    pub(super) fn names(&self, tool: &str) -> bool {
        self.tools.iter().any(|pattern| pattern.matches(tool))
    }

    pub(super) fn names_all(&self) -> bool {
        self.tools.iter().any(ToolPattern::is_everything)
    }
}

fn rights(names: &[String]) -> Result<Vec<Right>, String> {
    let known = <Right as strum::VariantNames>::VARIANTS.join(", ");
    if names.is_empty() {
        return Err(format!("may must name at least one of {known}"));
    }
    let parse =
        |name: &String| name.parse().map_err(|_| format!("may must be of {known}, but there is {name:?}"));
    names.iter().map(parse).collect()
}

fn all_of(who: &[String], issuers: &[Issuer]) -> Result<Vec<Who>, String> {
    if who.is_empty() {
        return Err("who must name at least one, such as \"group:corp/support\"".to_owned());
    }
    who.iter().map(|text| Who::parse(text, issuers)).collect()
}

impl Who {
    /// A user or a group as it is written: what no id can hold is found by its digest, as it is in tokens.
    pub fn parse(text: &str, issuers: &[Issuer]) -> Result<Self, String> {
        let known = |name: &str| {
            let found = issuers.iter().any(|issuer| issuer.name == name);
            found.then_some(()).ok_or(format!("{text:?} is of an issuer that [[auth.issuers]] does not name"))
        };
        match text.split_once(':') {
            Some(("user", id)) => match id.split_once(':') {
                Some((issuer, claim)) => {
                    known(issuer).map(|()| Self::User(user_id(issuer, claim).as_str().to_owned()))
                }
                None if !id.is_empty() => Ok(Self::User(id.to_owned())),
                None => Err(format!("{text:?} names no user")),
            },
            Some(("group", id)) => match id.split_once('/') {
                Some((issuer, claim)) if !claim.is_empty() => {
                    known(issuer).map(|()| Self::Group(group_id(issuer, claim)))
                }
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

/// The users of rules that nothing configures: most are mistyped.
pub(super) fn unknown_users(rules: &[Rule], users: &[super::AuthUser]) -> Vec<Problem> {
    let is_unknown = |who: &&Who| match who {
        Who::User(id) => !id.contains(':') && users.iter().all(|user| user.user_id.as_str() != id),
        Who::Group(_) => false,
    };
    let of_rule = |rule: &Rule| {
        let unknown = rule.who.iter().filter(is_unknown);
        let problem =
            |who: &Who| Problem::new(rule.at.clone(), format!("{who} is no user of [[auth.users]]"));
        unknown.map(problem).collect::<Vec<_>>()
    };
    rules.iter().flat_map(of_rule).collect()
}
