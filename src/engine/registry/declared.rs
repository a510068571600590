//! What a manifest says of one parameter or one returned field: its constraints, and its type where no message says it.
//!
//! Not here: what these mean for the schema (`schema`).

use serde_json::{Map, Value, json};

use super::keys::{whole, whole_number};
use crate::registry::{extract::Extract, problem::join};

/// Which way a payload goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Direction {
    Input,
    /// Out of the tool.
    Output,
}

impl Direction {
    /// Where a manifest names its message.
    pub(super) const fn message_pointer(self) -> &'static str {
        match self {
            Self::Input => "/input",
            Self::Output => "/output",
        }
    }

    /// What the manifest calls one of its fields.
    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Input => "parameter",
            Self::Output => "field",
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(in crate::registry) struct Declared {
    /// The field's name; a dotted path where a message gives the structure.
    pub(in crate::registry) name: String,
    /// Where it stands in the manifest.
    pub(in crate::registry) pointer: String,
    pub(in crate::registry) kind: Option<Kind>,
    pub(in crate::registry) description: Option<String>,
    pub(in crate::registry) is_required: bool,
    pub(in crate::registry) is_omitted_when_absent: bool,
    /// How it is read from a message. Of a parameter only.
    pub(in crate::registry) extract: Option<Extract>,
    /// JSON Schema keywords and their values.
    pub(in crate::registry) keywords: Map<String, Value>,
    /// The members of an object. Empty for one that takes any.
    pub(in crate::registry) properties: Vec<Declared>,
    /// What the elements of a list are.
    pub(in crate::registry) items: Option<Box<Declared>>,
}

/// A type word of a manifest, which is JSON Schema's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::registry) struct Kind(pub(in crate::registry) &'static str);

/// A constraint of a manifest: its key, the JSON Schema keyword, and what its value must be.
pub(super) type Constraint = (&'static str, &'static str, Form);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Any,
    List,
    Number,
    Count,
    Text,
}

/// The constraints, in the order in which a schema shows them.
pub(super) const CONSTRAINTS: [Constraint; 10] = [
    ("enum", "enum", Form::List),
    ("default", "default", Form::Any),
    ("minimum", "minimum", Form::Number),
    ("maximum", "maximum", Form::Number),
    ("min_length", "minLength", Form::Count),
    ("max_length", "maxLength", Form::Count),
    ("pattern", "pattern", Form::Text),
    ("min_items", "minItems", Form::Count),
    ("max_items", "maxItems", Form::Count),
    ("examples", "examples", Form::List),
];

/// The JSON Schema keyword of a parameter whose value is kept from people, logs and timelines: it is taken and never
/// shown.
pub(in crate::registry) const SENSITIVE: &str = "writeOnly";

/// The names that a field without a message may have.
pub(super) const FIELD_NAME: &str = "^[a-z][a-z0-9_]*$";

pub(super) const KINDS: [&str; 6] = ["string", "integer", "number", "boolean", "object", "array"];

impl Declared {
    /// The fields under a key such as `parameters` or `properties`. What has another form than the schema of manifests
    /// says is left out: it has been reported.
    pub(super) fn read_all(fields: Map<String, Value>, pointer: &str) -> Vec<Self> {
        let read = |(name, value)| {
            let pointer = join(pointer, &name);
            Self::read(name, value, pointer)
        };
        fields.into_iter().map(read).collect()
    }

    fn read(name: String, value: Value, pointer: String) -> Self {
        let mut object = match value {
            Value::Object(object) => object,
            // Spec 002's short form: the type word alone.
            word => Map::from_iter([("type".to_owned(), word)]),
        };
        let mut take = |key: &str| object.swap_remove(key);
        let mut keywords = Map::new();
        for (key, keyword, form) in CONSTRAINTS {
            keywords.extend(take(key).and_then(|value| form.read(value)).map(|it| (keyword.to_owned(), it)));
        }
        let mut flag = |key| take(key).is_some_and(|it| it == true);
        let [is_required, is_omitted_when_absent] = ["required", "omit_when_absent"].map(&mut flag);
        if flag("sensitive") {
            keywords.insert(SENSITIVE.to_owned(), true.into());
        }
        let properties = take("properties").and_then(|it| serde_json::from_value(it).ok());
        let items = take("items").map(|it| Self::read("items".to_owned(), it, join(&pointer, "items")));
        Self {
            kind: take("type").and_then(|word| KINDS.into_iter().find(|kind| word == *kind)).map(Kind),
            description: take("description").and_then(|it| serde_json::from_value(it).ok()),
            is_required,
            is_omitted_when_absent,
            extract: take("extract").and_then(Extract::read),
            keywords,
            properties: properties
                .map_or_else(Vec::new, |it| Self::read_all(it, &join(&pointer, "properties"))),
            items: items.map(Box::new),
            name,
            pointer,
        }
    }
}

impl Form {
    pub(super) fn schema(self) -> Value {
        match self {
            Self::Any => json!(true),
            Self::List => json!({"type": "array"}),
            Self::Number => json!({"type": "number"}),
            Self::Count => whole(0),
            Self::Text => json!({"type": "string"}),
        }
    }

    /// The value, if it has this form.
    fn read(self, value: Value) -> Option<Value> {
        let fits = match self {
            Self::Any => true,
            Self::List => value.is_array(),
            Self::Number => value.is_number(),
            Self::Count => return whole_number(&value).map(Value::from),
            Self::Text => value.is_string(),
        };
        fits.then_some(value)
    }
}
