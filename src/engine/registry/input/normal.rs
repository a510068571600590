//! The normal form of arguments: keys in `snake_case`, no null for absent, numbers as numbers, durations in one
//! spelling, defaults added.
//!
//! Guided by the schema: free-form objects and keys of maps are left unchanged. Invalid values are left unchanged too,
//! so that the validation reports them as written.

use serde_json::{Map, Number, Value};

use crate::registry::{problem::join, schema::DURATION_PATTERN};
use toolwire_contract::Violation;

/// The normal form of a value, and violations for keys given in both spellings.
pub(super) fn normalize(schema: &Value, raw: &Value) -> (Value, Vec<Violation>) {
    let mut normalizer = Normalizer { clashes: Vec::new() };
    let normal = normalizer.value(schema, raw, Location::Top);
    (normal, normalizer.clashes)
}

/// The declared properties of an object; `None` for other types and open objects.
pub(super) fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

/// The declared name that a caller's key stands for: the same, or the one of which it is the camelCase form.
pub(super) fn declared<'a>(properties: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    if let Some((name, _)) = properties.get_key_value(key) {
        return Some(name);
    }
    // Only a key with a capital can be a camelCase form, so most unknown keys need no search.
    key.contains(|c: char| c.is_ascii_uppercase())
        .then(|| properties.keys().find(|name| is_camel_case_of(key, name)))
        .flatten()
        .map(String::as_str)
}

/// Whether a key stands for a name: it is the name or its camelCase form.
pub(super) fn means(key: &str, name: &str) -> bool {
    key == name || is_camel_case_of(key, name)
}

struct Normalizer {
    clashes: Vec<Violation>,
}

/// The path to a value. Rarely needed, so it is rendered on demand.
#[derive(Clone, Copy)]
enum Location<'a> {
    Top,
    Member(&'a Location<'a>, &'a str),
    Element(&'a Location<'a>, usize),
}

impl Location<'_> {
    fn pointer(self) -> String {
        match self {
            Self::Top => String::new(),
            Self::Member(parent, key) => join(&parent.pointer(), key),
            Self::Element(parent, index) => join(&parent.pointer(), index),
        }
    }
}

impl Normalizer {
    fn value(&mut self, schema: &Value, raw: &Value, location: Location<'_>) -> Value {
        match raw {
            Value::Object(map) => self.map(schema, map, location),
            Value::Array(items) => self.list(schema, items, location),
            Value::String(text) if is_duration(schema) => {
                duration(text).map_or_else(|| raw.clone(), Value::from)
            }
            Value::String(text) if is_numeric(schema) => number(text).unwrap_or_else(|| raw.clone()),
            _ => raw.clone(),
        }
    }

    fn map(&mut self, schema: &Value, map: &Map<String, Value>, location: Location<'_>) -> Value {
        if let Some(properties) = properties(schema) {
            return self.object(schema, properties, map, location).into();
        }
        match schema.get("additionalProperties") {
            Some(element @ Value::Object(_)) => map
                .iter()
                .map(|(key, value)| {
                    (key.clone(), self.value(element, value, Location::Member(&location, key)))
                })
                .collect::<Map<_, _>>()
                .into(),
            _ => map.clone().into(),
        }
    }

    fn list(&mut self, schema: &Value, items: &[Value], location: Location<'_>) -> Value {
        match schema.get("items") {
            Some(element) => items
                .iter()
                .enumerate()
                .map(|(index, item)| self.value(element, item, Location::Element(&location, index)))
                .collect(),
            None => items.to_vec().into(),
        }
    }

    fn object(
        &mut self,
        schema: &Value,
        properties: &Map<String, Value>,
        map: &Map<String, Value>,
        location: Location<'_>,
    ) -> Map<String, Value> {
        let mut normal = Map::with_capacity(map.len());
        for (key, raw) in map {
            let Some(name) = declared(properties, key) else {
                normal.insert(key.clone(), raw.clone());
                continue;
            };
            if name != key && map.contains_key(name) {
                self.clashes.push(clash(location, key, name));
            } else if !raw.is_null() || is_required(schema, name) {
                normal.insert(
                    name.to_owned(),
                    self.value(&properties[name], raw, Location::Member(&location, key)),
                );
            }
        }
        for (name, property) in properties {
            if let Some(default) = property.get("default").filter(|_| !normal.contains_key(name)) {
                let default = self.value(property, default, Location::Member(&location, name));
                normal.insert(name.clone(), default);
            }
        }
        normal
    }
}

fn clash(location: Location<'_>, key: &str, name: &str) -> Violation {
    Violation {
        pointer: join(&location.pointer(), key),
        rule: "additionalProperties".to_owned(),
        description: format!("`{key}` and `{name}` are the same parameter; give `{name}` only"),
    }
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|required| required == name))
}

fn is_numeric(schema: &Value) -> bool {
    matches!(schema.get("type").and_then(Value::as_str), Some("integer" | "number"))
}

fn is_duration(schema: &Value) -> bool {
    schema.get("pattern").and_then(Value::as_str) == Some(DURATION_PATTERN)
}

/// A duration without redundant zeros: `5s` for `05.00s`. `None` if the text is not a duration, which the validation
/// reports.
fn duration(text: &str) -> Option<String> {
    let number = text.strip_suffix('s').filter(|number| !number.ends_with('.'))?;
    let (seconds, fraction) = number.split_once('.').unwrap_or((number, ""));
    if seconds.is_empty() || !seconds.bytes().chain(fraction.bytes()).all(|it| it.is_ascii_digit()) {
        return None;
    }
    let (seconds, fraction) = (seconds.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let seconds = if seconds.is_empty() { "0" } else { seconds };
    Some(if fraction.is_empty() { format!("{seconds}s") } else { format!("{seconds}.{fraction}s") })
}

/// Parses a text as a JSON number, without surrounding space.
fn number(text: &str) -> Option<Value> {
    let is_bare =
        text.ends_with(|last: char| last.is_ascii_digit()) && !text.starts_with(char::is_whitespace);
    let number: Number = is_bare.then(|| serde_json::from_str(text).ok()).flatten()?;
    Some(Value::Number(number))
}

/// Whether a key is the lowerCamelCase form of a name in `snake_case`.
fn is_camel_case_of(key: &str, name: &str) -> bool {
    let mut key = key.chars();
    let mut after_underscore = false;
    for letter in name.chars() {
        if letter == '_' {
            after_underscore = true;
            continue;
        }
        let expected = if after_underscore { letter.to_ascii_uppercase() } else { letter };
        after_underscore = false;
        if key.next() != Some(expected) {
            return false;
        }
    }
    key.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn camel_case_is_known_by_its_name() {
        assert!(is_camel_case_of("assetClass", "asset_class"));
        assert!(is_camel_case_of("sma200Above", "sma200_above"));
        for other in ["assetClas", "AssetClass", "assetclass", "assetClassX"] {
            assert!(!is_camel_case_of(other, "asset_class"), "{other}");
        }
    }

    #[test]
    fn equal_lengths_of_time_are_spelled_alike_and_nothing_else_changes() {
        for (text, normal) in [
            ("5s", Some("5s")),
            ("05.00s", Some("5s")),
            ("1.50s", Some("1.5s")),
            ("0.0s", Some("0s")),
            ("000.010s", Some("0.01s")),
            ("5.s", None),
            (".5s", None),
            ("-5s", None),
            ("5", None),
            ("s", None),
            ("1.2.3s", None),
        ] {
            assert_eq!(duration(text).as_deref(), normal, "{text:?}");
        }
    }

    #[test]
    fn only_a_plain_json_number_reads_as_one() {
        for (text, is_number) in [
            ("5", true),
            ("-1.5e3", true),
            ("5 ", false),
            (" 5", false),
            ("0x5", false),
            ("", false),
            ("5.", false),
        ] {
            assert_eq!(number(text).is_some(), is_number, "{text:?}");
        }
    }
}
