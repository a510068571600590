//! Names of tools, parameters and types as identifiers of Python: whatever they are, each becomes another one.
//!
//! A name that is an identifier already stays as it is, whichever others there are. Identifiers are ASCII, since Python
//! takes several texts of Unicode for one.

use std::collections::BTreeMap;

/// Words that no identifier may be.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];
/// Types that the hints of a class name, where a method or a member of the same name would hide them.
const TYPES: [&str; 6] = ["bool", "dict", "float", "int", "list", "str"];
/// What a method takes besides, or its body uses.
const OF_METHODS: [&str; 6] = ["cast", "request_id", "self", "task_id", "timeout", "wait_for_approval"];

/// The longest name of a class, in characters: those of members deep within others are cut.
const LONGEST: usize = 80;

/// Names that are taken, with the number that the next equal one is tried with.
#[derive(Debug)]
pub(super) struct Names(BTreeMap<String, u32>);

impl Names {
    pub(super) fn new<'a>(taken: impl IntoIterator<Item = &'a str>) -> Self {
        Self(taken.into_iter().map(|name| (name.to_owned(), 2)).collect())
    }

    /// Takes the name, with a number if another has it.
    pub(super) fn take(&mut self, name: &str) -> String {
        let mut free = name.to_owned();
        while self.0.contains_key(&free) {
            let number = self.0.entry(name.to_owned()).or_insert(2);
            free = format!("{name}{number}");
            *number += 1;
        }
        self.0.insert(free.clone(), 2);
        free
    }
}

/// The methods of tools, in their order.
pub(super) fn methods<'a>(tools: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    apart(tools, |name| !KEYWORDS.contains(&name) && !TYPES.contains(&name))
}

/// The parameters of a method, in their order.
pub(super) fn parameters<'a>(properties: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    apart(properties, |name| is_member(name) && !OF_METHODS.contains(&name))
}

/// Whether a class may have a member of this name: no hint within means another thing by it, and Python does not
/// replace it.
pub(super) fn is_member(name: &str) -> bool {
    is_plain(name) && !name.starts_with("__") && !KEYWORDS.contains(&name) && !TYPES.contains(&name)
}

/// The name of the class of a part of something: words in capitals.
pub(super) fn class(of: &str, part: &str) -> String {
    let words = part.split(|it: char| !it.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words: String = words.map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect();
    let lead =
        if of.is_empty() && !words.starts_with(|it: char| it.is_ascii_uppercase()) { "Tool" } else { of };
    (lead.to_owned() + &words).chars().take(LONGEST).collect()
}

/// An identifier that begins as no class and no type does.
fn is_plain(name: &str) -> bool {
    name.starts_with(|it: char| it.is_ascii_lowercase() || it == '_')
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

/// An identifier for each name: the name itself where it may be one.
fn apart<'a>(names: impl Iterator<Item = &'a str> + Clone, may_be: impl Fn(&str) -> bool) -> Vec<String> {
    let is_good = |name: &str| is_plain(name) && !name.starts_with('_') && may_be(name);
    let mut taken = Names::new(names.clone().filter(|name| is_good(name)));
    names.map(|name| if is_good(name) { name.to_owned() } else { taken.take(&mangled(name)) }).collect()
}

/// What is no identifier in it becomes `_`.
fn mangled(name: &str) -> String {
    let fits = |it: char| if it.is_ascii_alphanumeric() { it } else { '_' };
    let name: String = name.chars().map(fits).collect();
    let lead = if name.starts_with(|it: char| it.is_ascii_lowercase()) { "" } else { "arg_" };
    format!("{lead}{}_", name.trim_start_matches('_').trim_end_matches('_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_an_identifier_stays_and_every_other_becomes_one() {
        let names =
            ["a", "class", "class_", "größe", "1st", "Order", "_x", "__x", "", "a-b", "a.b", "self", "list"];
        let expected = [
            "a",
            "class_2",
            "class_",
            "gr__e_",
            "arg_1st_",
            "arg_Order_",
            "arg_x_",
            "arg_x_2",
            "arg__",
            "a_b_",
            "a_b_2",
            "self_",
            "list_",
        ];
        assert_eq!(parameters(names.into_iter()), expected);
        assert_eq!(
            methods(["call", "class", "list", "self", "timeout"].into_iter()),
            ["call", "class_", "list_", "self", "timeout"]
        );
    }

    #[test]
    fn classes_are_named_by_words_and_numbered_where_two_are_equal() {
        assert_eq!(class("", "get_quotes"), "GetQuotes");
        assert_eq!(class("GetQuotes", "größe-2"), "GetQuotesGrE2");
        assert_eq!(class("A", &"b".repeat(200)).len(), LONGEST);
        let mut names = Names::new(["Any"]);
        assert_eq!([names.take("Any"), names.take("Any"), names.take("Of")], ["Any2", "Any3", "Of"]);
    }
}
