//! Adds a manifest's constraints to a field's schema, and reports those that no value, or not the manifest's own
//! values, can satisfy.

use serde_json::{Map, Value};

use super::compile;
use crate::registry::{
    field_declaration::FieldDeclaration,
    problem::{Report, join},
};
use toolwire_schema::{Schema, Work};

/// The keyword, the manifest's key, and the types to which it applies.
const APPLIES: [(&str, &str, &[&str]); 9] = [
    ("minimum", "minimum", &["integer", "number"]),
    ("maximum", "maximum", &["integer", "number"]),
    ("minLength", "min_length", &["string"]),
    ("maxLength", "max_length", &["string"]),
    ("pattern", "pattern", &["string"]),
    ("minItems", "min_items", &["array"]),
    ("maxItems", "max_items", &["array"]),
    ("contentEncoding", "content_encoding", &["string"]),
    ("contentMediaType", "content_media_type", &["string"]),
];

const RANGES: [(&str, &str, &str); 3] = [
    ("minimum", "maximum", "minimum"),
    ("minLength", "maxLength", "min_length"),
    ("minItems", "maxItems", "min_items"),
];

/// Adds the constraints, including those on the elements of a list.
pub(super) fn constrain(schema: &mut Map<String, Value>, declared: &FieldDeclaration, report: &mut Report) {
    if let Some(extract) = &declared.extract {
        extract.refuse_incomplete(&join(&declared.pointer, "extract"), report);
    }
    refuse_structure(schema, declared, report);
    refuse_inapplicable(schema, declared, report);
    schema.extend(declared.keywords.clone());
    // Without a message, the schema of the elements was derived from the manifest with its constraints.
    if let (Some(items), None) = (&declared.items, declared.kind)
        && let Some(Value::Object(element)) = schema.get_mut("items")
    {
        constrain(element, items, report);
        super::describe(element, items.description.as_deref());
    }
    let before = report.len();
    refuse_empty_ranges(schema, declared, report);
    if before == report.len() {
        refuse_unfit_values(schema, declared, report);
    }
}

fn type_of(schema: &Map<String, Value>) -> &str {
    schema.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn refuse_structure(schema: &Map<String, Value>, declared: &FieldDeclaration, report: &mut Report) {
    let structure = [
        ("items", declared.items.is_some(), "array"),
        ("properties", !declared.properties.is_empty(), "object"),
    ];
    for (key, is_given, kind) in structure {
        if is_given && type_of(schema) != kind {
            refuse(
                declared,
                key,
                "constraint-not-applicable",
                format!("`{key}` needs the type {kind}"),
                report,
            );
        }
    }
}

fn refuse_inapplicable(schema: &Map<String, Value>, declared: &FieldDeclaration, report: &mut Report) {
    let kind = type_of(schema);
    for (keyword, key, kinds) in APPLIES {
        if declared.keywords.contains_key(keyword) && !kind.is_empty() && !kinds.contains(&kind) {
            let text = format!("`{key}` does not apply to the type {kind}");
            refuse(declared, key, "constraint-not-applicable", text, report);
        }
    }
}

fn refuse_empty_ranges(schema: &Map<String, Value>, declared: &FieldDeclaration, report: &mut Report) {
    for (low, high, key) in RANGES {
        let bound = |keyword| schema.get(keyword).and_then(Value::as_f64);
        if let (Some(least), Some(most)) = (bound(low), bound(high))
            && least > most
        {
            let text = format!("nothing is at least {least} and at most {most}; correct one of the two");
            refuse(declared, key, "empty-range", text, report);
        }
    }
    if declared.keywords.get("enum").is_some_and(|words| words == &Value::Array(Vec::new())) {
        refuse(
            declared,
            "enum",
            "empty-enum",
            "an empty `enum` allows nothing; list the values, or remove it",
            report,
        );
    }
}

/// Explains why a pattern is invalid. The validator only reports that it is; its parser says why and where.
fn what_is_wrong(pattern: &str) -> Option<String> {
    use regex_syntax::Error::{Parse, Translate};
    let (what, span) = match regex_syntax::parse(pattern).err()? {
        Parse(error) => (error.kind().to_string(), *error.span()),
        Translate(error) => (error.kind().to_string(), *error.span()),
        _ => return None,
    };
    Some(format!("{what}, at character {}", span.start.column))
}

/// Each value of the enum must satisfy the other constraints; each example and the default must satisfy all. Compiling
/// is by far the most expensive step, so that only what something is checked against is compiled.
fn refuse_unfit_values(schema: &Map<String, Value>, declared: &FieldDeclaration, report: &mut Report) {
    let listed = |key| declared.keywords.get(key).and_then(Value::as_array).into_iter().flatten().enumerate();
    let has = |key| declared.keywords.contains_key(key);
    if !["enum", "examples", "default", "pattern"].into_iter().any(has) {
        return;
    }
    let mut rest = schema.clone();
    rest.shift_remove("enum");
    let has_unfit_words = listed("enum").any(|(_, word)| !fits_type_alone(&rest, word));
    let mut compiled = None;
    if has("pattern") || has_unfit_words {
        match (compile(&rest.into()), declared.keywords.get("pattern")) {
            (Ok(rest), _) => {
                for (index, word) in listed("enum") {
                    refuse_unfit(&rest, word, declared, &format!("enum/{index}"), "bad-enum-value", report);
                }
                compiled = Some(rest).filter(|_| !has("enum"));
            }
            // The invalid pattern is in a member, where it has been reported.
            (Err(_), None) => return,
            (Err(reason), Some(pattern)) => {
                let reason = pattern.as_str().and_then(what_is_wrong).unwrap_or(reason);
                let text = format!("the pattern does not compile: {reason}; correct the regular expression");
                return refuse(declared, "pattern", "bad-pattern", text, report);
            }
        }
    }
    if !has("examples") && !has("default") {
        return;
    }
    let Some(all) = compiled.or_else(|| compile(&schema.clone().into()).ok()) else { return };
    for (index, example) in listed("examples") {
        refuse_unfit(&all, example, declared, &format!("examples/{index}"), "bad-example", report);
    }
    if let Some(default) = declared.keywords.get("default") {
        refuse_unfit(&all, default, declared, "default", "bad-default", report);
    }
}

/// Whether a schema constrains nothing but the type, text or truth, and the value is of it.
fn fits_type_alone(schema: &Map<String, Value>, value: &Value) -> bool {
    let is_of_type = match type_of(schema) {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        _ => false,
    };
    let says_no_more = |key: &String| matches!(&**key, "type" | "description" | "default" | "examples");
    is_of_type && schema.keys().all(says_no_more)
}

fn refuse_unfit(
    schema: &Schema,
    value: &Value,
    declared: &FieldDeclaration,
    path: &str,
    rule: &'static str,
    report: &mut Report,
) {
    if let Err(misfit) = schema.check(value, 1, Work::all()) {
        report.add(
            format!("{}/{path}", declared.pointer),
            rule,
            format!("{misfit}; correct the value or the schema"),
        );
    }
}

fn refuse(
    declared: &FieldDeclaration,
    key: &str,
    rule: &'static str,
    text: impl Into<String>,
    report: &mut Report,
) {
    report.add(join(&declared.pointer, key), rule, text);
}
