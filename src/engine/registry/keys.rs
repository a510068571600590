//! Declares the keys of a manifest's object once, for both the type that it is deserialised into and the published
//! schema.

use serde_json::{Map, Value, json};

/// Matches a text that is not blank.
pub(super) const NOT_BLANK: &str = r"\S";

/// The pattern of tool names.
pub(super) const TOOL_NAME: &str = "^[a-z][a-z0-9_]{0,63}$";

/// MAJOR.MINOR.PATCH with an optional pre-release and build, as semver.org recommends to match it.
pub(super) const SEMANTIC_VERSION: &str = r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$";

/// Declares a struct with one manifest key per field: its documentation, `"key"`, serde attributes, the field, its
/// type, and the form of the value as JSON Schema. A key without a default is required.
macro_rules! keys {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[doc = $doc:literal])+ $key:literal ($($serde:tt)*) $vis:vis $field:ident: $type:ty = $form:expr,)*
    }) => {
        $(#[$meta])*
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[doc = $doc])+ #[serde(rename = $key, $($serde)*)] $vis $field: $type,)*
        }

        impl $name {
            /// The JSON Schema of an object of these keys.
            pub(in crate::registry) fn schema() -> serde_json::Value {
                $crate::registry::keys::object([
                    $(($key, concat!($($doc),+), stringify!($($serde)*), $form)),*
                ])
            }
        }
    };
}
pub(super) use keys;

/// A key, its documentation, its serde attributes, and the form of its value.
type Key = (&'static str, &'static str, &'static str, Value);

/// The schema of an object with these keys and no others.
pub(super) fn object<const N: usize>(keys: [Key; N]) -> Value {
    let is_required = |(key, _, serde, _): &Key| (!serde.contains("default")).then_some(*key);
    let required: Vec<_> = keys.iter().filter_map(is_required).collect();
    let properties: Map<_, _> =
        keys.into_iter().map(|(key, doc, _, form)| (key.to_owned(), describe(form, doc))).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// Adds an alias of a key to the schema; serde has it as an `alias` attribute.
pub(super) fn alias(object: &mut Value, key: &str, other: &str) {
    let form = object["properties"][key].clone();
    object["properties"][other] = describe(form, &format!("Another word for `{key}`."));
    if let Some(required) = object["required"].as_array_mut() {
        required.retain(|it| it != key);
    }
    object["if"] = json!({"required": [other]});
    object["else"] = json!({"required": [key]});
    let refused = never(&format!("`{other}` is an alias of `{key}`; keep `{key}` only"));
    object["dependentSchemas"] = json!({key: {"properties": {other: refused}}});
}

pub(super) fn describe(mut form: Value, description: &str) -> Value {
    form["description"] = description.trim().into();
    form
}

/// A schema that accepts no value, and the reason. Editors show `errorMessage` too.
pub(super) fn never(why: &str) -> Value {
    json!({"not": {}, "errorMessage": why})
}

pub(super) fn text() -> Value {
    like(NOT_BLANK, "a text that is not blank")
}

/// A text that matches a pattern; `words` describe it.
pub(super) fn like(pattern: &str, words: &str) -> Value {
    json!({"type": "string", "pattern": pattern, "errorMessage": format!("must be {words}")})
}

pub(super) fn name() -> Value {
    like(TOOL_NAME, "a name: lower-case letters, digits and `_`, a letter first, at most 64")
}

pub(super) fn version() -> Value {
    like(SEMANTIC_VERSION, "a semantic version such as 1.0.0")
}

pub(super) fn texts() -> Value {
    list(&text())
}

pub(super) fn list(of: &Value) -> Value {
    json!({"type": "array", "items": of})
}

pub(super) fn flag() -> Value {
    json!({"type": "boolean"})
}

pub(super) fn whole(minimum: u64) -> Value {
    json!({"type": "integer", "minimum": minimum})
}

/// The value of a whole number, also if it is written as `1.0`.
pub(super) fn whole_number(value: &Value) -> Option<u64> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and not negative")]
    let of_float = || Some(value.as_f64().filter(|it| it.fract() == 0.0 && *it >= 0.0)? as u64);
    value.as_u64().or_else(of_float)
}
