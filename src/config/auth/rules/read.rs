//! Reads and prints `[[auth.rules]]`.

use std::str::FromStr;

use strum::VariantNames;

use super::{
    super::{
        EntryNames,
        who::{Who, parse_workloads, show_workloads},
    },
    Right, Rule,
};
use crate::{ToolPattern, Toolset, Toolsets, fields::Fields, reader::Reader, value::Value};
use toolwire_contract::near::did_you_mean;
use toolwire_identity::SpiffePattern;

impl Rule {
    pub(in crate::auth) fn read_all(
        reader: &mut Reader,
        issuers: &EntryNames,
        toolsets: &Toolsets,
    ) -> Vec<Self> {
        let mut rules = Vec::new();
        for mut entry in reader.list("auth.rules") {
            let rule = Self::read(&mut entry, issuers, toolsets);
            if reader.end(entry) {
                rules.extend(rule);
            }
        }
        for rule in &rules {
            reader.show_entry("[[auth.rules]]", &rule.shown());
        }
        rules
    }

    fn read(entry: &mut Fields, issuers: &EntryNames, known: &Toolsets) -> Option<Self> {
        let who = entry.required::<Vec<String>>("who");
        let tools = entry.optional::<Vec<ToolPattern>>("tools");
        let tags = entry.optional::<Vec<String>>("tags");
        let category = words_of(entry, "category");
        let consequence_at_most = entry.optional::<String>("consequence_at_most");
        let toolsets = toolsets(entry, known);
        let scope = entry.optional::<String>("scope");
        let via = via(entry);
        let effect = entry.optional::<String>("effect");
        let may = entry.optional::<Vec<String>>("may");

        let consequence_at_most = consequence_at_most.map(|word| {
            words("consequence_at_most", &[word]).map(|words| words[0]).map_err(|what| entry.problem(what))
        });
        let narrows = tags.is_some()
            || ["category", "consequence_at_most", "toolsets"].iter().any(|name| entry.has(name));
        let who = who.and_then(|who| all_of(&who, issuers).map_err(|what| entry.problem(what)).ok());
        let denies = denies(entry, effect.as_deref());
        let is_narrow = |tools: &Vec<ToolPattern>| !tools.iter().any(ToolPattern::is_everything);
        let is_narrow = narrows || tools.as_ref().is_some_and(is_narrow);
        let may = may.map_or_else(|| Ok(implied_rights(denies, is_narrow)), |names| words("may", &names));
        let may = may.map_err(|what| entry.problem(what)).ok();
        if denies {
            report_conditions_of_denial(entry, scope.is_some(), consequence_at_most.is_some());
        }
        if scope.as_deref().is_some_and(|scope| !is_scope(scope)) {
            entry.problem("scope must be one word of visible ASCII without \" and \\, such as tools");
        }
        if tools.is_none() && !narrows && !entry.has("tools") {
            entry.problem(
                "tools is missing: name at least one, or say which by tags, category, consequence_at_most or toolsets",
            );
        }
        if tools.as_ref().is_some_and(Vec::is_empty) {
            entry.problem("tools must name at least one, such as \"shop_*\"");
        }
        if tags.as_ref().is_some_and(|tags| tags.is_empty() || tags.iter().any(String::is_empty)) {
            entry.problem("tags must name at least one, of which a tool has one");
        }
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
            toolsets: toolsets?,
            scope,
            via: via?,
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
        let toolsets: Vec<_> = self.toolsets.iter().map(|it| it.name.to_string()).collect();
        let via: Vec<_> = self.via.iter().map(show_workloads).collect();
        let lists = [("tags", &self.tags), ("category", &category), ("toolsets", &toolsets), ("via", &via)];
        shown.extend(lists.into_iter().filter(|(_, it)| !it.is_empty()).map(|(key, it)| (key, it.to_toml())));
        let at_most = self.consequence_at_most.map(|it| it.into_str().to_owned());
        shown.extend(at_most.map(|it| ("consequence_at_most", it.to_toml())));
        shown.extend(self.scope.as_ref().map(|it| ("scope", it.to_toml())));
        shown.extend([("effect", effect.to_owned().to_toml()), ("may", may.to_toml())]);
        shown
    }
}

fn denies(entry: &mut Fields, effect: Option<&str>) -> bool {
    match effect {
        None | Some("allow") => false,
        Some("deny") => true,
        Some(_) => {
            entry.problem("effect must be allow or deny");
            false
        }
    }
}

/// Reports what would let a client evade a rule that denies, or turn it around.
fn report_conditions_of_denial(entry: &mut Fields, has_scope: bool, has_consequence: bool) {
    if has_scope {
        entry.problem(
            "scope has no meaning where effect is deny: a client would leave the scope out; remove it",
        );
    }
    if entry.has("via") {
        entry.problem(
            "via has no meaning where effect is deny: a client would come without the certificate; remove it",
        );
    }
    if has_consequence {
        entry.problem(
            "consequence_at_most is for what is allowed: where effect is deny it would deny the less harmful tools \
             alone; name the tools, their tags or category",
        );
    }
}

/// The rights of a rule that names none. One that denies takes all of them, as for a user who leaves; observing is of
/// all tools, so that a rule about some does not end it.
fn implied_rights(denies: bool, is_narrow: bool) -> Vec<Right> {
    let is_implied = |right: &Right| match right {
        Right::Call => true,
        Right::Approve | Right::ReadRecords => denies,
        Right::Observe => denies && !is_narrow,
    };
    Right::ALL.into_iter().filter(is_implied).collect()
}

/// The toolsets that a rule names; none if it names none.
fn toolsets(entry: &mut Fields, known: &Toolsets) -> Option<Vec<Toolset>> {
    let find = |name: &String| {
        let found = known.iter().find(|it| it.name.as_str() == name).cloned();
        found.ok_or_else(|| {
            let near = did_you_mean(name, known.iter().map(|it| it.name.as_str()));
            format!("toolsets names {name:?}, but there is no [toolsets.{name}]{near}")
        })
    };
    entries_of(entry, "toolsets", "one of [toolsets]", find)
}

/// The workloads of which one must have brought the request; none if that does not matter.
fn via(entry: &mut Fields) -> Option<Vec<SpiffePattern>> {
    let parse = |text: &String| parse_workloads(text).map_err(|what| format!("via: {what}"));
    entries_of(entry, "via", "one workload, such as \"spiffe:example.org/ns/*/sa/agent\"", parse)
}

/// The words of a list; none if it is absent.
fn words_of<T: FromStr + VariantNames>(entry: &mut Fields, key: &'static str) -> Option<Vec<T>> {
    let known = T::VARIANTS.join(", ");
    entries_of(entry, key, &format!("one of {known}"), |name| word(key, name))
}

/// What the texts of a list stand for, of which there is `least` at least; none if the list is absent.
fn entries_of<T>(
    entry: &mut Fields,
    key: &'static str,
    least: &str,
    read: impl Fn(&String) -> Result<T, String>,
) -> Option<Vec<T>> {
    match entry.optional::<Vec<String>>(key) {
        // What is no list of texts is reported already.
        None if entry.has(key) => None,
        None => Some(Vec::new()),
        Some(texts) if texts.is_empty() => {
            entry.problem(format!("{key} must name at least {least}"));
            None
        }
        Some(texts) => {
            let all: Result<Vec<_>, _> = texts.iter().map(read).collect();
            all.map_err(|what| entry.problem(what)).ok()
        }
    }
}

fn words<T: FromStr + VariantNames>(key: &str, names: &[String]) -> Result<Vec<T>, String> {
    if names.is_empty() {
        return Err(format!("{key} must name at least one of {}", T::VARIANTS.join(", ")));
    }
    names.iter().map(|name| word(key, name)).collect()
}

fn word<T: FromStr + VariantNames>(key: &str, name: &str) -> Result<T, String> {
    let known = || T::VARIANTS.join(", ");
    name.parse().map_err(|_| format!("{key} must be of {}, but there is {name:?}", known()))
}

fn all_of(who: &[String], issuers: &EntryNames) -> Result<Vec<Who>, String> {
    if who.is_empty() {
        return Err("who must name at least one, such as \"group:corp/support\"".to_owned());
    }
    who.iter().map(|text| Who::parse_among(text, |name| issuers.has(name))).collect()
}

/// Whether a text is a scope as requests and challenges hold it (RFC 6749 §3.3).
fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_one_word_that_a_challenge_can_hold() {
        assert!(is_scope("tools:shop") && is_scope("https://a.example/b"));
        for other in ["", "a b", "a\"b", "a\\b", "zoë", "a\tb"] {
            assert!(!is_scope(other), "{other:?}");
        }
    }
}
