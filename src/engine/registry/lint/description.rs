//! Checks the description as a routing contract: what the tool does, when to use it, when not, and which
//! tool to use instead.

use super::super::{definition::Definition, problem::Report};

/// Verbs that a description may begin with, in the imperative; the third person is recognised too.
const VERBS: &str = "add analyse analyze answer append approve ask browse build calculate call cancel check combine \
    compare compute convert copy count create delegate delete describe draft edit explain export extract fail fetch \
    filter find forward generate get give hand import inspect list load log look match measure move notify open \
    panic plan post predict publish put query rank read recommend record refresh register remove rename reply report \
    request reset resolve retrieve return route run save schedule score search send set show sleep sort start stop \
    store stream subscribe suggest summarise summarize sync tell test think track transfer translate update upload \
    validate verify wait watch write";

/// Words of a name that do not name a resource.
const FILLERS: &[&str] =
    &["and", "by", "for", "from", "in", "list", "of", "on", "or", "the", "to", "with", "tool"];

/// Checks the description of one tool. If it has `siblings`, with which it could be confused, it must name one of the
/// `others`.
pub(super) fn check(definition: &Definition, siblings: &[&str], others: &[&Definition], report: &mut Report) {
    if says_only_the_name(definition) {
        let text =
            "the description only repeats the name; say what the tool does, when to use it and when not";
        return report.add("/description", "description-is-name", text);
    }
    let description = definition.description.to_lowercase();
    for (rule, is_met, fix) in rules(definition, &description, siblings, others) {
        if !is_met {
            report.add("/description", rule, fix);
        }
    }
}

fn rules(
    definition: &Definition,
    description: &str,
    siblings: &[&str],
    others: &[&Definition],
) -> [(&'static str, bool, String); 5] {
    let sentences: Vec<_> = description.split(". ").map(str::trim).collect();
    let first = sentences.first().copied().unwrap_or_default();
    let says_when = |sentence: &&str| {
        sentence.starts_with("use ") && [" when", " for ", " to "].iter().any(|word| sentence.contains(word))
    };
    let says_when_not =
        ["do not use", "don't use", "not for"].iter().any(|words| description.contains(words));
    let names_other =
        siblings.is_empty() || others.iter().any(|other| description.contains(other.name.as_str()));
    [
        (
            "description-verb",
            first.split_whitespace().next().is_some_and(is_verb),
            "begin the first sentence with a verb, such as `Returns`".to_owned(),
        ),
        (
            "description-resource",
            names_resource(&definition.name, first),
            format!("name in the first sentence what `{}` is about", definition.name),
        ),
        (
            "description-when",
            sentences.iter().any(says_when),
            "say when to use it: `Use when …`, `Use it for …` or `Use it to …`".to_owned(),
        ),
        ("description-when-not", says_when_not, "say when not to: `Do not use …` or `Not for …`".to_owned()),
        (
            "description-sibling",
            names_other,
            format!("name the tool to use instead: one of {}", siblings.join(", ")),
        ),
    ]
}

fn says_only_the_name(definition: &Definition) -> bool {
    let plain = |text: &str| text.to_lowercase().replace('_', " ").trim_end_matches('.').to_owned();
    plain(&definition.description) == plain(&definition.name)
        || plain(&definition.description) == plain(&definition.title)
}

fn is_verb(word: &str) -> bool {
    let verbs = || VERBS.split_whitespace();
    let third_person = |verb: &str| {
        word == format!("{verb}s")
            || word == format!("{verb}es")
            || verb.strip_suffix('y').is_some_and(|root| word == format!("{root}ies"))
    };
    verbs().any(|verb| word == verb || third_person(verb))
}

/// Whether the sentence contains one of the name's nouns, in singular or plural.
fn names_resource(name: &str, sentence: &str) -> bool {
    let is_noun = |(index, word): &(usize, &str)| !(FILLERS.contains(word) || *index == 0 && is_verb(word));
    let mut nouns = name.split('_').enumerate().filter(is_noun).map(|(_, word)| stem(word)).peekable();
    let words: Vec<_> = sentence.split(|c: char| !c.is_alphanumeric()).map(stem).collect();
    nouns.peek().is_none() || nouns.any(|noun| words.contains(&noun))
}

fn stem(word: &str) -> &str {
    let word = word.strip_suffix('s').unwrap_or(word);
    let word = word.strip_suffix("ie").unwrap_or(word);
    word.strip_suffix('y').or_else(|| word.strip_suffix('e')).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_known_in_both_forms() {
        for word in ["returns", "search", "searches", "queries", "get", "ranks"] {
            assert!(is_verb(word), "{word}");
        }
        for word in ["the", "positions", "this", "tool"] {
            assert!(!is_verb(word), "{word}");
        }
    }

    #[test]
    fn a_resource_is_found_in_singular_and_plural() {
        assert!(names_resource("get_quotes", "returns the quote of one symbol"));
        assert!(names_resource("get_activity", "lists the activities of an account"));
        assert!(names_resource("search", "searches everything"));
        assert!(!names_resource("get_positions_list", "returns a list of things"));
    }
}
