//! A schema that its server wrote for another reader, made one that is checked: closed and stated at the root, and
//! without what cannot be checked. What it takes less, callers see; what it takes more, its server refuses.

use serde_json::{Map, Value, json};

use super::{Direction, Report, UNIONS};
use crate::outcome::OPTIONS;
use toolwire_schema::Schema;

/// The root as one object.
pub(super) fn adapt_root(root: &mut Map<String, Value>, direction: Direction, report: &mut Report) {
    let pointer = direction.pointer();
    if !root.contains_key("type") {
        root.insert("type".to_owned(), "object".into());
    }
    for union in UNIONS {
        let Some(schemas) = root.shift_remove(union) else { continue };
        let text = format!("`{union}` at the root is left to the server; its members are taken together");
        report.warn(format!("{pointer}/{union}"), "root-union", text);
        if let (Value::Array(schemas), "allOf" | "anyOf" | "oneOf") = (schemas, union) {
            merge(root, schemas, union == "allOf");
        }
    }
    if direction == Direction::Output {
        return;
    }
    for open in ["additionalProperties", "patternProperties", "unevaluatedProperties"] {
        if root.get(open).is_some_and(|it| *it != false) {
            root.shift_remove(open);
            let text = format!("`{open}` at the root is not taken: arguments are those that are named");
            report.warn(format!("{pointer}/{open}"), "open-object", text);
        }
    }
}

/// Takes the members of the schemas together: each of them may have any of the forms that it has.
fn merge(root: &mut Map<String, Value>, schemas: Vec<Value>, is_all: bool) {
    let mut required: Option<Vec<Value>> = None;
    for schema in schemas {
        let Value::Object(mut schema) = schema else { continue };
        let names = match schema.shift_remove("required") {
            Some(Value::Array(names)) => names,
            _ => Vec::new(),
        };
        required = Some(match required {
            None => names,
            Some(so_far) if is_all => so_far.into_iter().chain(names).collect(),
            Some(so_far) => so_far.into_iter().filter(|it| names.contains(it)).collect(),
        });
        let Some(Value::Object(members)) = schema.shift_remove("properties") else { continue };
        let Value::Object(merged) = root.entry("properties").or_insert_with(|| json!({})) else { return };
        for (name, member) in members {
            let is_known = merged.get(&name) == Some(&member);
            match merged.get_mut(&name) {
                Some(_) if is_known => {}
                Some(Value::Object(other)) if other.len() == 1 && other.contains_key("anyOf") => {
                    if let Some(Value::Array(forms)) = other.get_mut("anyOf")
                        && !forms.contains(&member)
                    {
                        forms.push(member);
                    }
                }
                Some(other) => *other = json!({"anyOf": [other.take(), member]}),
                None => drop(merged.insert(name, member)),
            }
        }
    }
    if let Value::Array(known) = root.entry("required").or_insert_with(|| json!([])) {
        let missing: Vec<_> =
            required.unwrap_or_default().into_iter().filter(|it| !known.contains(it)).collect();
        known.extend(missing);
    }
}

/// Takes out patterns that do not compile, and with them members that only such a pattern names.
pub(super) fn drop_patterns(schema: &mut Value, pointer: &str, report: &mut Report) {
    let compiles = |pattern: &str| Schema::compile(&json!({"pattern": pattern}), OPTIONS).is_ok();
    match schema {
        Value::Object(members) => {
            if members.get("pattern").and_then(Value::as_str).is_some_and(|it| !compiles(it)) {
                members.shift_remove("pattern");
                let text = "a pattern with look-around, or too large a one, is left to the server";
                report.warn(pointer, "pattern", text);
            }
            if let Some(Value::Object(named)) = members.get_mut("patternProperties") {
                named.retain(|pattern, _| compiles(pattern));
            }
            members.values_mut().for_each(|it| drop_patterns(it, pointer, report));
        }
        Value::Array(items) => items.iter_mut().for_each(|it| drop_patterns(it, pointer, report)),
        _ => {}
    }
}
