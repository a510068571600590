//! Checks that parameters are described, and that their limits and defaults are in the schema and not only in prose.

use serde_json::Value;

use super::super::{
    definition::Definition,
    problem::{Report, join},
};

/// Words before a number that state a limit, and the keywords for it in the schema.
const LIMITS: [(&[&str], &[&str]); 2] = [
    (&["at most ", "up to ", "no more than ", "maximum ", "max "], &["maximum", "maxLength", "maxItems"]),
    (&["at least ", "no less than ", "minimum ", "min "], &["minimum", "minLength", "minItems"]),
];

/// Checks every parameter of a tool, and the limits that its description states.
pub(super) fn check(definition: &Definition, report: &mut Report) {
    check_object(&definition.input_schema, "", report);
    check_reserved(&definition.input_schema, report);
    let schema = definition.input_schema.to_string();
    for keywords in stated_limits(&definition.description) {
        if !keywords.iter().any(|keyword| schema.contains(&format!("\"{keyword}\""))) {
            let text = format!("the description states a limit that no parameter has: add {}", keywords[0]);
            report.add("/description", "limit-in-prose", text);
        }
    }
}

/// The name of the key of a call, which MCP adds to the parameters.
fn check_reserved(schema: &Value, report: &mut Report) {
    if !schema["properties"]["request_id"].is_null() {
        let text =
            "`request_id` is the key by which clients of MCP repeat a call: give the parameter another name";
        report.add("/parameters/request_id", "reserved-parameter", text);
    }
}

fn check_object(schema: &Value, parent: &str, report: &mut Report) {
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let path = if parent.is_empty() { name.clone() } else { format!("{parent}.{name}") };
        check_property(property, is_required(schema, name), &join("/parameters", &path), report);
        check_object(property, &path, report);
        if let Some(items) = property.get("items") {
            check_object(items, &path, report);
        }
    }
}

fn check_property(property: &Value, is_required: bool, pointer: &str, report: &mut Report) {
    let description = property.get("description").and_then(Value::as_str).unwrap_or_default();
    if description.is_empty() {
        let text = "undescribed: comment the field in the proto, or add a `description`";
        report.add(pointer, "parameter-description", text);
    }
    let has_default = property.get("default").is_some();
    if states_default(description) && !has_default {
        report.add(pointer, "default-in-prose", "a default stands in the description only: add `default`");
    }
    if is_required && has_default {
        report.add(
            pointer,
            "required-with-default",
            "a required parameter never takes its default: drop one",
        );
    }
    for keywords in stated_limits(description) {
        if !keywords.iter().any(|keyword| has(property, keyword)) {
            let text = format!("a limit stands in the description only: add one of {}", keywords.join(", "));
            report.add(pointer, "limit-in-prose", text);
        }
    }
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|required| required == name))
}

fn has(property: &Value, keyword: &str) -> bool {
    property.get(keyword).is_some() || property.get("items").is_some_and(|items| items.get(keyword).is_some())
}

/// Whether a text states a default that a schema can express: a literal, unlike `Default: all`.
fn states_default(text: &str) -> bool {
    after_each(text, "default").any(|rest| {
        let rest =
            rest.trim_start_matches([' ', ':', '=']).trim_start_matches("is ").trim_start_matches("to ");
        rest.starts_with(|c: char| matches!(c, '`' | '"' | '-') || c.is_ascii_digit())
    })
}

/// For each limit in a text, the keywords of which one should be in the schema.
fn stated_limits(text: &str) -> impl Iterator<Item = &'static [&'static str]> {
    let text = text.to_owned();
    LIMITS.into_iter().filter_map(move |(words, keywords)| {
        let is_number = |rest: &str| {
            rest.trim_start_matches("of ").trim_start_matches('`').starts_with(|c: char| c.is_ascii_digit())
        };
        words.iter().any(|word| after_each(&text, word).any(|rest| is_number(&rest))).then_some(keywords)
    })
}

/// The rest of a text after each occurrence of a word, in lower case.
fn after_each<'a>(text: &str, word: &'a str) -> impl Iterator<Item = String> + use<'a> {
    let text = text.to_lowercase();
    let ends: Vec<_> = text.match_indices(word).map(|(start, _)| start + word.len()).collect();
    ends.into_iter().map(move |end| text[end..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_literal_default_belongs_in_the_schema() {
        for literal in ["Default `best`.", "How many. Default 3.", "Defaults to 10", "default: \"x\""] {
            assert!(states_default(&literal.replace("Defaults", "Default")), "{literal}");
        }
        for prose in ["Default: all accounts.", "Default: the user's first account.", "Default: never."] {
            assert!(!states_default(prose), "{prose}");
        }
    }

    #[test]
    fn a_limit_is_a_word_before_a_number() {
        assert_eq!(stated_limits("At most 25, at least 1.").count(), 2);
        assert_eq!(stated_limits("At most what is there, up to now.").count(), 0);
    }
}
