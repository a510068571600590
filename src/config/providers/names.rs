//! The names under which the tools of a server are offered: those that an operator gives them, or their own in small
//! letters, with `_` in place of `-`, `.` and `/`. Two that would have one name have none.

use std::collections::BTreeMap;

use crate::value::quote;
use toolwire_contract::ToolName;

/// The name that stands for all tools that an operator does not name.
pub(super) const OTHERS: &str = "*";

/// The longest name of a server that a proposal shows, in bytes.
const LONGEST: usize = 256;

/// What an operator says of names, by the server's own: the name of a tool, or `None` where it is not offered.
pub type Renames = BTreeMap<String, Option<ToolName>>;

/// Why a tool has no name here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unnamed {
    /// The operator does not want it.
    Hidden,
    /// Its own cannot be one here.
    NoName,
    /// Another tool would have the same.
    Shared { name: ToolName, with: String },
}

/// The name of each tool, in their order.
pub fn name_tools<'a>(listed: &[&'a str], renames: &Renames) -> Vec<Result<ToolName, Unnamed>> {
    let mut named: BTreeMap<ToolName, Vec<&'a str>> = BTreeMap::new();
    for its in listed.iter().filter(|its| !renames.contains_key(**its) && !is_hidden(its, renames)) {
        if let Some(ours) = by_rule(its) {
            named.entry(ours).or_default().push(its);
        }
    }
    let name = |its: &&'a str| match renames.get(*its) {
        Some(ours) => ours.clone().ok_or(Unnamed::Hidden),
        None if is_hidden(its, renames) => Err(Unnamed::Hidden),
        None => {
            let ours = by_rule(its).ok_or(Unnamed::NoName)?;
            let given = renames.iter().find(|(_, given)| given.as_ref() == Some(&ours));
            let given = given.map(|(other, _)| other.as_str()).filter(|other| listed.contains(other));
            let alike = named[&ours].iter().copied().find(|other| other != its);
            match given.or(alike) {
                Some(other) => Err(Unnamed::Shared { name: ours, with: other.to_owned() }),
                None => Ok(ours),
            }
        }
    };
    listed.iter().map(name).collect()
}

/// The setting that gives names to the tools that have none, beside those that it gives already, ready to be pasted.
/// `None` if all have one.
pub fn propose_names(listed: &[&str], renames: &Renames) -> Option<String> {
    let named = name_tools(listed, renames);
    let mut taken: Vec<ToolName> = named.iter().flatten().cloned().collect();
    taken.extend(renames.values().flatten().cloned());
    let mut proposed = renames.clone();
    for (its, name) in listed.iter().zip(&named).filter(|(its, _)| its.len() <= LONGEST) {
        if matches!(name, Err(Unnamed::NoName | Unnamed::Shared { .. })) {
            let ours = free(its, &taken)?;
            taken.push(ours.clone());
            proposed.insert((*its).to_owned(), Some(ours));
        }
    }
    (proposed.len() > renames.len()).then(|| format!("tools = {}", show(&proposed)))
}

/// The table as TOML, in one line.
pub(super) fn show(renames: &Renames) -> String {
    let pair = |(its, ours): (&String, &Option<ToolName>)| match ours {
        Some(ours) => format!("{} = \"{ours}\"", key(its)),
        None => format!("{} = false", key(its)),
    };
    format!("{{ {} }}", renames.iter().map(pair).collect::<Vec<_>>().join(", "))
}

fn is_hidden(its: &str, renames: &Renames) -> bool {
    renames.contains_key(OTHERS) && !renames.contains_key(its)
}

/// The name by the rule. `None` if it cannot be one here.
fn by_rule(its: &str) -> Option<ToolName> {
    if let Ok(name) = its.parse() {
        return Some(name);
    }
    let of_rule = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    its.bytes().all(of_rule).then(|| words(its))?.parse().ok()
}

/// The words of a text by `_`: those of `listIssues`, `API-post-search` and `getURLText` too.
fn words(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut words = String::with_capacity(text.len() + 8);
    for (at, &character) in characters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| characters[at]);
        let is_next_small = characters.get(at + 1).is_some_and(char::is_ascii_lowercase);
        let begins_word = before.is_some_and(|before| {
            before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || (before.is_ascii_uppercase() && is_next_small)
        });
        if character.is_ascii_uppercase() && begins_word {
            words.push('_');
        }
        words.push(if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '_' });
    }
    words
}

/// A name that a tool can have, which no other has.
fn free(its: &str, taken: &[ToolName]) -> Option<ToolName> {
    let words: Vec<String> = words(its).split('_').filter(|it| !it.is_empty()).map(str::to_owned).collect();
    let mut name = words.join("_");
    if !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        name.insert_str(0, "tool_");
    }
    name.truncate(56);
    let name = name.trim_end_matches('_');
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    std::iter::once(name.to_owned())
        .chain(numbered)
        .take(taken.len() + 2)
        .filter_map(|name| name.parse().ok())
        .find(|name| !taken.contains(name))
}

/// A text as a key of TOML. What could not be seen, or would move others, is escaped.
fn key(text: &str) -> String {
    let visible = |character: char| match character {
        ' '..='~' => character.to_string(),
        _ => format!("\\U{:08X}", u32::from(character)),
    };
    quote(text).chars().map(visible).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> ToolName {
        text.parse().expect("a name")
    }

    fn renames(pairs: &[(&str, Option<&str>)]) -> Renames {
        pairs.iter().map(|(its, ours)| ((*its).to_owned(), ours.map(name))).collect()
    }

    #[test]
    fn hyphens_and_capitals_are_mapped() {
        for (its, ours) in [
            ("create-pages", "create_pages"),
            ("API-post-search", "api_post_search"),
            ("listIssues", "list_issues"),
            ("getURLText", "get_url_text"),
            ("files.read/all", "files_read_all"),
            ("v2Search", "v2_search"),
            ("search", "search"),
            ("a__b", "a__b"),
        ] {
            assert_eq!(name_tools(&[its], &Renames::new()), [Ok(name(ours))], "{its}");
        }
        for its in ["", "search docs", "2fa-code", "-a", "_a", "größe", "a:b", &"a-".repeat(33)] {
            assert_eq!(name_tools(&[its], &Renames::new()), [Err(Unnamed::NoName)], "{its}");
        }
    }

    #[test]
    fn two_of_one_name_have_none_and_name_each_other() {
        let shared = |with: &str| Err(Unnamed::Shared { name: name("create_pages"), with: with.to_owned() });
        let listed = ["create-pages", "other", "create_pages"];
        assert_eq!(
            name_tools(&listed, &Renames::new()),
            [shared("create_pages"), Ok(name("other")), shared("create-pages")]
        );
        let proposed = propose_names(&listed, &Renames::new()).expect("proposed");
        assert_eq!(
            proposed,
            r#"tools = { "create-pages" = "create_pages", "create_pages" = "create_pages_2" }"#
        );
        // The operator has the last word.
        let given = renames(&[("other", Some("create_pages"))]);
        assert_eq!(
            name_tools(&["create-pages", "other"], &given),
            [shared("other"), Ok(name("create_pages"))]
        );
        assert_eq!(name_tools(&["create-pages"], &given), [Ok(name("create_pages"))], "it is not listed");
    }

    #[test]
    fn a_table_hides_what_it_says_and_nothing_else() {
        let given = renames(&[("a-b", Some("ab")), ("c", None)]);
        assert_eq!(
            name_tools(&["a-b", "c", "d"], &given),
            [Ok(name("ab")), Err(Unnamed::Hidden), Ok(name("d"))]
        );
        let only = renames(&[("a-b", Some("ab")), (OTHERS, None)]);
        assert_eq!(name_tools(&["a-b", "d"], &only), [Ok(name("ab")), Err(Unnamed::Hidden)]);
        assert_eq!(propose_names(&["a-b", "d e"], &only), None);
    }

    #[test]
    fn a_proposal_keeps_what_is_given_and_can_be_pasted() {
        let given = renames(&[("a-b", Some("ab")), ("c", None)]);
        let listed = ["a-b", "c", "d e", "d  e", "2fa", "\u{202e}x\"", "größe"];
        let proposed = propose_names(&listed, &given).expect("proposed");
        assert_eq!(
            proposed,
            r#"tools = { "2fa" = "tool_2fa", "a-b" = "ab", "c" = false, "d  e" = "d_e_2", "d e" = "d_e", "#
                .to_owned()
                + r#""gr\U000000F6\U000000DFe" = "gr_e", "\U0000202Ex\"" = "x" }"#
        );
        assert_eq!(propose_names(&["a", "b-c"], &Renames::new()), None);
    }
}
