//! The normal form of arguments: keys in `snake_case`, no null for absent, values in place of their texts, integers
//! without a fraction, durations in one spelling, defaults added.
//!
//! Guided by the schema: free-form objects and keys of maps are left unchanged. Invalid values are left unchanged too,
//! so that the validation reports them as written. Below `anyOf` and the like, and where no property is declared, only
//! texts and integers are read. Not here: what a schema takes (`kinds`).

use serde_json::{Map, Number, Value};

use super::{
    MOST_VIOLATIONS,
    kinds::{Kind, Step, Steps, takes},
    location::Location,
};
use crate::registry::{problem::join, schema::DURATION_PATTERN};
use toolwire_contract::{Violation, json};
use toolwire_schema::{TooMuchWork, Work};

/// The normal form of a value, and violations for keys given in both spellings and for integers that are not clear, up
/// to [`MOST_VIOLATIONS`].
pub(super) fn normalize_within(
    schema: &Value,
    raw: &Value,
    work: Work,
) -> Result<(Value, Vec<Violation>), TooMuchWork> {
    let mut normalizer = Normalizer { violations: Vec::new(), steps: Steps::new(work.steps()) };
    let normal = normalizer.value(schema, raw, Location::Top);
    if normalizer.steps.spend(0) { Ok((normal, normalizer.violations)) } else { Err(TooMuchWork) }
}

/// Normalizes a value without a bound on the work, which suits values that do not come from callers.
pub(super) fn normalize(schema: &Value, raw: &Value) -> (Value, Vec<Violation>) {
    normalize_within(schema, raw, Work::all()).unwrap_or_else(|TooMuchWork| (raw.clone(), Vec::new()))
}

/// The declared properties of an object; `None` for other types and open objects.
pub(super) fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

/// The declared name that a caller's key stands for: the same, or the one of which it is the camelCase form.
pub(super) fn declared_key<'a>(properties: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    if let Some((name, _)) = properties.get_key_value(key) {
        return Some(name);
    }
    // Only a key with a capital can be a camelCase form, so most unknown keys need no search.
    has_capital(key)
        .then(|| properties.keys().find(|name| is_camel_case_of(key, name)))
        .flatten()
        .map(String::as_str)
}

fn has_capital(key: &str) -> bool {
    key.bytes().any(|it| it.is_ascii_uppercase())
}

/// Whether a key stands for a name: it is the name or its camelCase form.
pub(super) fn means(key: &str, name: &str) -> bool {
    key == name || is_camel_case_of(key, name)
}

struct Normalizer {
    violations: Vec<Violation>,
    steps: Steps,
}

impl Normalizer {
    fn value(&mut self, schema: &Value, raw: &Value, location: Location<'_>) -> Value {
        match raw {
            Value::Object(map) => self.map(schema, map, location),
            Value::Array(items) => self.list(schema, items, location),
            Value::String(text) if is_duration(schema) => {
                duration(text).map_or_else(|| raw.clone(), Value::from)
            }
            Value::String(text) => match self.read(schema, &[], text, location) {
                Some(value) => self.value(schema, &value, location),
                None => raw.clone(),
            },
            Value::Number(number) => self.number(schema, &[], number, location),
            Value::Null | Value::Bool(_) => raw.clone(),
        }
    }

    fn map(&mut self, schema: &Value, map: &Map<String, Value>, location: Location<'_>) -> Value {
        if let Some(properties) = properties(schema) {
            return self.object(schema, properties, map, location).into();
        }
        let members = map.iter().map(|(key, value)| {
            let location = Location::Member(&location, key);
            let value = match schema.get("additionalProperties") {
                Some(element @ Value::Object(_)) => self.value(element, value, location),
                _ => self.part(schema, &mut vec![Step::Member(key)], value, location),
            };
            (key.clone(), value)
        });
        members.collect::<Map<_, _>>().into()
    }

    fn list(&mut self, schema: &Value, items: &[Value], location: Location<'_>) -> Value {
        let of_all = schema.get("items").filter(|_| schema.get("prefixItems").is_none());
        let items = items.iter().enumerate().map(|(index, item)| {
            let location = Location::Element(&location, index);
            match of_all {
                Some(element) => self.value(element, item, location),
                None => self.part(schema, &mut vec![Step::Element(index)], item, location),
            }
        });
        items.collect()
    }

    /// A part of a value, for which the schema of the whole may have several schemas: only its texts and integers are
    /// read.
    fn part<'v>(
        &mut self,
        schema: &Value,
        path: &mut Vec<Step<'v>>,
        raw: &'v Value,
        location: Location<'_>,
    ) -> Value {
        match raw {
            Value::Object(map) => {
                let members = map.iter().map(|(key, value)| {
                    path.push(Step::Member(key));
                    let value = self.part(schema, path, value, Location::Member(&location, key));
                    path.pop();
                    (key.clone(), value)
                });
                members.collect::<Map<_, _>>().into()
            }
            Value::Array(items) => {
                let items = items.iter().enumerate().map(|(index, item)| {
                    path.push(Step::Element(index));
                    let item = self.part(schema, path, item, Location::Element(&location, index));
                    path.pop();
                    item
                });
                items.collect()
            }
            Value::String(text) => match self.read(schema, path, text, location) {
                Some(value) => self.part(schema, &mut path.clone(), &value, location),
                None => raw.clone(),
            },
            Value::Number(number) => self.number(schema, path, number, location),
            Value::Null | Value::Bool(_) => raw.clone(),
        }
    }

    /// A number, as an integer where only one is taken: `5` for `5.0`. A decimal from 2^53 on may be the double of
    /// several integers.
    fn number(
        &mut self,
        schema: &Value,
        path: &[Step<'_>],
        number: &Number,
        location: Location<'_>,
    ) -> Value {
        let whole = number.as_f64().filter(|it| number.is_f64() && it.fract() == 0.0);
        if let Some(whole) = whole
            && takes(schema, path, Kind::Integer, &self.steps)
            && !takes(schema, path, Kind::Decimal, &self.steps)
        {
            if whole.abs() < json::MAX_EXACT {
                return json::number(whole);
            }
            self.report(|| unclear_integer(location, number));
        }
        Value::Number(number.clone())
    }

    fn object(
        &mut self,
        schema: &Value,
        properties: &Map<String, Value>,
        map: &Map<String, Value>,
        location: Location<'_>,
    ) -> Map<String, Value> {
        // All of them are looked through: for defaults, and for each key with a capital.
        if !self.steps.spend(properties.len()) {
            return map.clone();
        }
        let mut normal = Map::with_capacity(map.len());
        for (key, raw) in map {
            let at = Location::Member(&location, key);
            let found = declared_key(properties, key);
            if found != Some(key) && has_capital(key) && !self.steps.spend(properties.len()) {
                return map.clone();
            }
            let Some(name) = found else {
                let value = self.part(schema, &mut vec![Step::Member(key)], raw, at);
                normal.insert(key.clone(), value);
                continue;
            };
            if name != key && map.contains_key(name) {
                self.report(|| clash(location, key, name));
                continue;
            }
            let value = self.value(&properties[name], raw, at);
            let is_text_of_null = value == "null" && !takes(&properties[name], &[], Kind::Text, &self.steps);
            if !(value.is_null() || is_text_of_null)
                || (self.steps.spend(properties.len()) && is_required(schema, name))
            {
                normal.insert(name.to_owned(), value);
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

    fn report(&mut self, violation: impl FnOnce() -> Violation) {
        if self.violations.len() < MOST_VIOLATIONS {
            self.violations.push(violation());
        }
    }

    /// The value that a text is the JSON text of, where the schema takes it and no text at all.
    fn read(&self, schema: &Value, path: &[Step<'_>], text: &str, location: Location<'_>) -> Option<Value> {
        if !may_be_value(text) || takes(schema, path, Kind::Text, &self.steps) {
            return None;
        }
        let value = json::parse(text).ok()?;
        let is_taken = takes(schema, path, Kind::of(&value), &self.steps);
        (is_taken && json::nests_within(&value, location.levels())).then_some(value)
    }
}

fn clash(location: Location<'_>, key: &str, name: &str) -> Violation {
    Violation {
        pointer: join(&location.pointer(), key),
        rule: "additionalProperties".to_owned(),
        description: format!("`{key}` and `{name}` are the same parameter; give `{name}` only"),
    }
}

fn unclear_integer(location: Location<'_>, number: &Number) -> Violation {
    let pointer = location.pointer();
    let name = pointer.trim_start_matches('/').replace('/', ".");
    let description = format!("`{name}` must be an integer, in digits beyond ±2^53, but is {number}");
    Violation { pointer, rule: "type".to_owned(), description }
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|required| required == name))
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

/// Whether a text may be that of a JSON value other than a text, without surrounding space.
fn may_be_value(text: &str) -> bool {
    matches!(text, "null" | "true" | "false")
        || text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
            && text.ends_with(|last: char| last.is_ascii_digit())
        || text.starts_with('[') && text.ends_with(']')
        || text.starts_with('{') && text.ends_with('}')
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
    use serde_json::json;

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
    fn a_text_is_read_as_a_value_only_where_no_text_is_taken() {
        let either = json!({"anyOf": [{"type": "integer"}, {"type": "null"}]});
        let texts = json!({"type": "array", "items": {"type": "string"}});
        let object = json!({"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": ["string", "null"]}}});
        let optional = json!({"oneOf": [object, {"type": "null"}]});
        for (schema, text, value) in [
            (json!({"type": "number"}), "-1.5e3", json!(-1500.0)),
            (json!({"type": "number"}), "5 ", json!("5 ")),
            (json!({"type": "number"}), " 5", json!(" 5")),
            (json!({"type": "number"}), "0x5", json!("0x5")),
            (json!({"type": "number"}), "5.", json!("5.")),
            (json!({"type": "number"}), "", json!("")),
            (json!({"type": "number"}), "149.99000000000000001", json!("149.99000000000000001")),
            (json!({"type": "integer"}), "5.0", json!(5)),
            (json!({"type": "integer"}), "5.5", json!("5.5")),
            (json!({"type": "integer"}), "18446744073709551616", json!("18446744073709551616")),
            (json!({"type": "integer"}), "null", json!("null")),
            (json!({"type": "integer"}), "true", json!("true")),
            (json!({"type": ["integer", "null"]}), "null", json!(null)),
            (json!({"type": ["integer", "string"]}), "5", json!("5")),
            (json!({"type": "boolean"}), "true", json!(true)),
            (json!({"type": "boolean"}), "True", json!("True")),
            (json!({"type": "string"}), "5", json!("5")),
            (json!({}), "5", json!("5")),
            (json!({"enum": [1, 2]}), "2", json!(2)),
            (json!({"enum": [1, "2"]}), "2", json!("2")),
            (json!({"const": true}), "true", json!(true)),
            (json!({"allOf": [{"minimum": 1}, {"type": "integer"}]}), "5", json!(5)),
            (json!({"allOf": [{"minimum": 1}, {"maxLength": 5}]}), "5", json!("5")),
            (json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}), "00123", json!("00123")),
            (json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}), "5", json!("5")),
            (json!({"anyOf": [{"type": "integer"}, {}]}), "5", json!("5")),
            (either.clone(), "5", json!(5)),
            (either, "null", json!(null)),
            (texts.clone(), r#"["1", "b"]"#, json!(["1", "b"])),
            (texts.clone(), r#"{"a": 1}"#, json!(r#"{"a": 1}"#)),
            (json!({"anyOf": [texts, {"type": "string"}]}), r#"["1"]"#, json!(r#"["1"]"#)),
            (object.clone(), r#"{"x": "1", "y": "2"}"#, json!({"x": 1, "y": "2"})),
            (optional.clone(), r#"{"x": "1", "y": "null"}"#, json!({"x": 1, "y": "null"})),
            (optional, r#"{"x": 1, "x": 2}"#, json!(r#"{"x": 1, "x": 2}"#)),
        ] {
            let (normal, violations) = normalize(&schema, &text.into());
            assert_eq!((normal, violations), (value, Vec::new()), "{text} as {schema}");
        }
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert_eq!(normalize(&json!({"type": "array"}), &deep.clone().into()).0, json!(deep));
    }

    #[test]
    fn parts_of_alternatives_are_read_where_no_alternative_takes_their_text() {
        let points = |other: Value| {
            json!({"anyOf": [
                {"type": "object", "properties": {"x": {"type": "integer"}, "all": {"items": {"type": "number"}}}},
                {"type": "object", "properties": {"x": other, "all": {"prefixItems": [{"type": "boolean"}]}}},
                {"type": "string"},
            ]})
        };
        for (other, given, normal) in [
            (json!({"type": "null"}), json!({"x": "5", "all": ["1", "2"]}), json!({"x": 5, "all": [1, "2"]})),
            (json!({"type": "string"}), json!({"x": "5", "y": "6"}), json!({"x": "5", "y": "6"})),
            (json!({"type": "null"}), json!("{}"), json!("{}")),
        ] {
            assert_eq!(normalize(&points(other.clone()), &given).0, normal, "{given} with {other}");
        }
        // Where null is as good as absent, its text is too.
        let absent =
            json!({"properties": {"n": {"type": "integer"}, "s": {"type": "string"}}, "required": ["s"]});
        assert_eq!(normalize(&absent, &json!({"n": "null", "s": "null"})).0, json!({"s": "null"}));
        let required = json!({"properties": {"n": {"type": "integer"}}, "required": ["n"]});
        assert_eq!(normalize(&required, &json!({"n": "null"})).0, json!({"n": "null"}));
        let map = json!({"properties": {}, "additionalProperties": {"type": "integer"}});
        assert_eq!(normalize(&map, &json!({"a": "1"})).0, json!({"a": 1}));
    }

    #[test]
    fn many_texts_below_many_branches_are_too_much_work() {
        let branch = |at: usize| json!({"items": {"enum": [at]}});
        let schema = json!({"properties": {"a": {"anyOf": (0..1_000).map(branch).collect::<Vec<_>>()}}});
        let texts = json!({"a": vec!["999"; 1_000]});
        assert_eq!(normalize_within(&schema, &texts, Work::little()), Err(TooMuchWork));
        assert_eq!(
            normalize_within(&schema, &texts, Work::all()),
            Ok((json!({"a": vec![999; 1_000]}), Vec::new()))
        );
        let unclear = json!({"properties": {"a": {"items": {"type": "integer"}}}});
        let found = normalize(&unclear, &json!({"a": vec![1e30; 1_000]})).1;
        assert_eq!(found.len(), MOST_VIOLATIONS);
        // The declared members are looked through for each object.
        let names = (0..1_000).map(|at| (format!("m{at}"), json!({}))).collect::<Map<_, _>>();
        let wide = json!({"items": {"properties": names}});
        assert_eq!(normalize_within(&wide, &json!(vec![json!({}); 1_000]), Work::little()), Err(TooMuchWork));
    }

    #[test]
    fn an_integer_has_no_fraction_and_is_clear() {
        let integer = json!({"properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}});
        assert_eq!(normalize(&integer, &json!({"n": -5.0})), (json!({"n": -5}), Vec::new()));
        assert_eq!(normalize(&integer, &json!({"n": 1e15})).0.to_string(), r#"{"n":1000000000000000}"#);
        for unclear in [json!(1e16), json!(1e30), json!(-9_007_199_254_740_992.0)] {
            let violations = normalize(&integer, &json!({"n": unclear})).1;
            assert_eq!((violations.len(), violations[0].pointer.as_str()), (1, "/n"), "{unclear}");
        }
        let number = json!({"anyOf": [{"type": "integer"}, {"type": "number"}]});
        for given in [json!(5.0), json!(1e30), json!(149.99), json!(u64::MAX)] {
            assert_eq!(normalize(&number, &given), (given, Vec::new()));
        }
    }
}
