//! What users may: `[[auth.rules]]`, by user or group and by tools. A rule that denies wins over all that allow.
//!
//! Not here: rights of a user's own entry in `[[auth.users]]`.

use std::str::FromStr;

use strum::VariantNames;

use super::{Auth, RuleTarget, ToolCategory, Who, scopes::is_scope};
use crate::{Consequence, Problem, ToolPattern, fields::Fields, reader::Reader, value::Value};
use toolwire_identity::Issuer;
use toolwire_tool::context::User;

/// What some users may do, or may not, with some tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Where it stands, such as `toolwire.toml:12: auth.rules.0`.
    pub at: String,
    pub who: Vec<Who>,
    pub tools: Vec<ToolPattern>,
    /// The tags of which a tool must have one; empty if that does not matter.
    pub tags: Vec<String>,
    /// The categories of which a tool must be one; empty if that does not matter.
    pub category: Vec<ToolCategory>,
    pub consequence_at_most: Option<Consequence>,
    /// The scope that the token must have for an allowing rule to hold.
    pub scope: Option<String>,
    pub denies: bool,
    pub may: Vec<Right>,
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
    /// Reading the arguments and results of other users' calls where those are seen.
    ReadRecords,
}

impl Right {
    pub const ALL: [Self; 4] = [Self::Call, Self::Approve, Self::Observe, Self::ReadRecords];
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
        let tools = entry.optional::<Vec<ToolPattern>>("tools");
        let tags = entry.optional::<Vec<String>>("tags");
        let category = words_of(entry, "category");
        let consequence_at_most = entry.optional::<String>("consequence_at_most");
        let scope = entry.optional::<String>("scope");
        let effect = entry.optional::<String>("effect");
        let may = entry.optional::<Vec<String>>("may");

        let may = may.map_or(Ok(vec![Right::Call]), |names| words("may", &names));
        let may = may.map_err(|what| entry.problem(what)).ok();
        let consequence_at_most = consequence_at_most.map(|word| {
            words("consequence_at_most", &[word]).map(|words| words[0]).map_err(|what| entry.problem(what))
        });
        let narrows = tags.is_some() || entry.has("category") || entry.has("consequence_at_most");
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
        if scope.as_deref().is_some_and(|scope| !is_scope(scope)) {
            entry.problem("scope must be one word of visible ASCII without \" and \\, such as tools");
        }
        if denies && consequence_at_most.is_some() {
            entry.problem(
                "consequence_at_most is for what is allowed: where effect is deny it would deny the less harmful tools \
                 alone; name the tools, their tags or category",
            );
        }
        if tools.is_none() && !narrows && !entry.has("tools") {
            entry.problem(
                "tools is missing: name at least one, or say which by tags, category or consequence_at_most",
            );
        }
        if tools.as_ref().is_some_and(Vec::is_empty) {
            entry.problem("tools must name at least one, such as \"shop_*\"");
        }
        if tags.as_ref().is_some_and(|tags| tags.is_empty() || tags.iter().any(String::is_empty)) {
            entry.problem("tags must name at least one, of which a tool has one");
        }
        let is_narrow = |tools: &Vec<ToolPattern>| !tools.iter().any(ToolPattern::is_everything);
        let is_narrow = narrows || tools.as_ref().is_some_and(is_narrow);
        if may.iter().flatten().any(|it| *it == Right::Observe) && is_narrow {
            entry.problem("observe is of all tools; write tools = [\"*\"] alone, or leave observe out");
        }
        Some(Self {
            at: entry.problem_here("").at,
            who: who?,
            tools: tools.unwrap_or_else(ToolPattern::everything),
            tags: tags.unwrap_or_default(),
            category: category?,
            consequence_at_most: consequence_at_most.transpose().ok()?,
            scope,
            denies,
            may: may?,
        })
    }

    fn shown(&self) -> Vec<(&'static str, String)> {
        let who: Vec<_> = self.who.iter().map(ToString::to_string).collect();
        let may: Vec<_> = self.may.iter().map(|it| <&str>::from(*it).to_owned()).collect();
        let effect = if self.denies { "deny" } else { "allow" };
        let mut shown = vec![("who", who.to_toml()), ("tools", self.tools.to_toml())];
        let category: Vec<_> = self.category.iter().map(|it| <&str>::from(*it).to_owned()).collect();
        let lists = [("tags", &self.tags), ("category", &category)];
        shown.extend(lists.into_iter().filter(|(_, it)| !it.is_empty()).map(|(key, it)| (key, it.to_toml())));
        let at_most = self.consequence_at_most.map(|it| it.into_str().to_owned());
        shown.extend(at_most.map(|it| ("consequence_at_most", it.to_toml())));
        shown.extend(self.scope.as_ref().map(|it| ("scope", it.to_toml())));
        shown.extend([("effect", effect.to_owned().to_toml()), ("may", may.to_toml())]);
        shown
    }

    /// Whether the rule says anything of this right of the user. An allowing one says nothing without its scope.
    pub(super) fn is_of(&self, user: &User, right: Right) -> bool {
        self.may.contains(&right) && self.is_for(user)
    }

    /// The same whatever scopes the token has.
    pub(super) fn names(&self, user: &User, right: Right) -> bool {
        self.may.contains(&right) && self.who.iter().any(|who| who.means(user))
    }

    /// Whether the rule is for the user, with the scopes that the token has.
    pub(super) fn is_for(&self, user: &User) -> bool {
        let has_scope = |scope| user.grant.as_deref().is_some_and(|grant| grant.scopes.contains(scope));
        self.who.iter().any(|who| who.means(user)) && self.scope.as_ref().is_none_or(has_scope)
    }

    /// Whether the tool is one of those that the rule is about. Of a tool that is not offered nothing is known but its
    /// name: a rule by other things allows nothing of it, and denies it, so that a refusal does not reveal whether
    /// there is such a tool.
    pub(super) fn covers(&self, tool: RuleTarget<'_>) -> bool {
        let is_named = self.tools.iter().any(|pattern| pattern.matches(tool.name));
        let is_meant = || match tool.facts {
            None => self.denies,
            Some(facts) => {
                (self.tags.is_empty() || self.tags.iter().any(|tag| facts.tags.contains(tag)))
                    && (self.category.is_empty() || self.category.contains(&facts.category))
                    && self.consequence_at_most.is_none_or(|most| facts.consequence <= most)
            }
        };
        is_named && (!self.is_conditional() || is_meant())
    }

    pub(super) fn covers_all(&self) -> bool {
        self.tools.iter().any(ToolPattern::is_everything) && !self.is_conditional()
    }

    /// Whether more than the name of a tool matters.
    pub fn is_conditional(&self) -> bool {
        !self.tags.is_empty() || !self.category.is_empty() || self.consequence_at_most.is_some()
    }
}

/// The words of a list; none if it is absent.
fn words_of<T: FromStr + VariantNames>(entry: &mut Fields, key: &'static str) -> Option<Vec<T>> {
    match entry.optional::<Vec<String>>(key) {
        // What is no list of texts is reported already.
        None if entry.has(key) => None,
        None => Some(Vec::new()),
        Some(names) => words(key, &names).map_err(|what| entry.problem(what)).ok(),
    }
}

fn words<T: FromStr + VariantNames>(key: &str, names: &[String]) -> Result<Vec<T>, String> {
    let known = T::VARIANTS.join(", ");
    if names.is_empty() {
        return Err(format!("{key} must name at least one of {known}"));
    }
    let parse =
        |name: &String| name.parse().map_err(|_| format!("{key} must be of {known}, but there is {name:?}"));
    names.iter().map(parse).collect()
}

fn all_of(who: &[String], issuers: &[Issuer]) -> Result<Vec<Who>, String> {
    if who.is_empty() {
        return Err("who must name at least one, such as \"group:corp/support\"".to_owned());
    }
    who.iter().map(|text| Who::parse(text, issuers)).collect()
}

/// The users of rules that nothing configures: most are mistyped.
pub(super) fn unknown_users(auth: &Auth) -> Vec<Problem> {
    let is_known = |id: &str| {
        let mut workloads = auth.workloads.iter().map(|it| &it.user);
        auth.users.iter().any(|it| it.user_id.as_str() == id) || workloads.any(|user| user.as_str() == id)
    };
    let is_unknown = |who: &Who| matches!(who, Who::User(id) if !id.contains(':') && !is_known(id));
    problems(&auth.rules, is_unknown, "is no user of [[auth.users]] or [[auth.spiffe]]")
}

/// The groups of rules that are of no issuer, and of no workload.
pub(super) fn unknown_groups(auth: &Auth) -> Vec<Problem> {
    let is_known = |id: &String| auth.workloads.iter().any(|it| it.groups.contains(id));
    let is_unknown = |who: &Who| matches!(who, Who::Group(id) if !id.contains('/') && !is_known(id));
    let what = "names no group of [[auth.spiffe]]; one of an issuer is written group:corp/support";
    problems(&auth.rules, is_unknown, what)
}

fn problems(rules: &[Rule], is_unknown: impl Fn(&Who) -> bool, what: &str) -> Vec<Problem> {
    let of_rule = |rule: &Rule| {
        let unknown = rule.who.iter().filter(|who| is_unknown(who));
        unknown.map(|who| Problem::new(rule.at.clone(), format!("{who} {what}"))).collect::<Vec<_>>()
    };
    rules.iter().flat_map(of_rule).collect()
}
