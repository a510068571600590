//! The declaration of one parameter or returned field in a manifest: its constraints, and its type if no message gives
//! it.
//!
//! Not here: their effect on the schema (`schema`).

use serde_json::{Map, Value, json};

use super::keys::{whole, whole_number};
use crate::registry::{extract::Extract, problem::join, words::Binding};

/// The direction of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Direction {
    Input,
    Output,
}

impl Direction {
    /// The pointer of the manifest's key that names the message.
    pub(super) const fn message_pointer(self) -> &'static str {
        match self {
            Self::Input => "/input",
            Self::Output => "/output",
        }
    }

    /// The manifest's term for a field of this direction.
    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Input => "parameter",
            Self::Output => "field",
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(in crate::registry) struct FieldDeclaration {
    /// The field's name; a dotted path if a message gives the structure.
    pub(in crate::registry) name: String,
    /// Its pointer in the manifest.
    pub(in crate::registry) pointer: String,
    pub(in crate::registry) kind: Option<Kind>,
    pub(in crate::registry) description: Option<String>,
    pub(in crate::registry) is_required: bool,
    pub(in crate::registry) is_omitted_when_absent: bool,
    /// Whether and how it is hidden from callers. Parameters only.
    pub(in crate::registry) hiding: Hiding,
    /// The extraction from a user's message. Parameters only.
    pub(in crate::registry) extract: Option<Extract>,
    /// JSON Schema keywords and their values.
    pub(in crate::registry) keywords: Map<String, Value>,
    /// The members of an object. Empty for an open object.
    pub(in crate::registry) properties: Vec<FieldDeclaration>,
    /// The declaration of a list's elements.
    pub(in crate::registry) items: Option<Box<FieldDeclaration>>,
}

/// The keys that hide a parameter from callers; at most one of them is given.
#[derive(Clone, Debug, Default)]
pub(in crate::registry) struct Hiding {
    /// The property of the call that it is bound to.
    pub(in crate::registry) bind: Option<Binding>,
    /// Its value in every call.
    pub(in crate::registry) fixed: Option<Value>,
    /// Whether it has its default in every call.
    pub(in crate::registry) is_hidden: bool,
}

impl Hiding {
    /// The keys that are given.
    pub(in crate::registry) fn keys(&self) -> impl Iterator<Item = &'static str> {
        let given =
            [("bind", self.bind.is_some()), ("fixed", self.fixed.is_some()), ("hidden", self.is_hidden)];
        given.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key)
    }
}

/// A type in a manifest, by its name in JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::registry) struct Kind(pub(in crate::registry) &'static str);

/// A constraint: the manifest's key, the JSON Schema keyword, and the form of its value.
pub(super) type Constraint = (&'static str, &'static str, Form);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Any,
    List,
    Number,
    Count,
    Text,
}

/// The constraints, in the order of the derived schema.
pub(super) const CONSTRAINTS: [Constraint; 12] = [
    ("enum", "enum", Form::List),
    ("default", "default", Form::Any),
    ("minimum", "minimum", Form::Number),
    ("maximum", "maximum", Form::Number),
    ("min_length", "minLength", Form::Count),
    ("max_length", "maxLength", Form::Count),
    ("pattern", "pattern", Form::Text),
    ("min_items", "minItems", Form::Count),
    ("max_items", "maxItems", Form::Count),
    ("content_encoding", "contentEncoding", Form::Text),
    ("content_media_type", "contentMediaType", Form::Text),
    ("examples", "examples", Form::List),
];

/// The JSON Schema keyword of a sensitive parameter, whose value is hidden from people, logs and timelines.
pub(in crate::registry) const SENSITIVE: &str = "writeOnly";

/// The pattern of names of fields without a message.
pub(super) const FIELD_NAME: &str = "^[a-z][a-z0-9_]*$";

pub(super) const KINDS: [&str; 6] = ["string", "integer", "number", "boolean", "object", "array"];

impl FieldDeclaration {
    /// Reads the fields under a key such as `parameters` or `properties`. Values that violate the schema of manifests
    /// are skipped; they have been reported.
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
            // The short form: the type alone.
            word => Map::from_iter([("type".to_owned(), word)]),
        };
        let mut take = |key: &str| object.swap_remove(key);
        let mut keywords = Map::new();
        for (key, keyword, form) in CONSTRAINTS {
            keywords.extend(take(key).and_then(|value| form.read(value)).map(|it| (keyword.to_owned(), it)));
        }
        let mut flag = |key| take(key).is_some_and(|it| it == true);
        let [is_required, is_omitted_when_absent, is_hidden] =
            ["required", "omit_when_absent", "hidden"].map(&mut flag);
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
            hiding: Hiding {
                bind: take("bind").and_then(|word| serde_json::from_value(word).ok()),
                fixed: take("fixed"),
                is_hidden,
            },
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

    /// Returns the value if it has this form.
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
