//! What a manifest says of one parameter or one returned field: its constraints, and its type where no message says it.
//!
//! Not here: what these mean for the schema (`schema`).

use serde_json::{Map, Value};

use super::reader::{Readable, Reader};
use crate::registry::{
    extract::Extract,
    problem::{Report, join},
};

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

/// What may be declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mode {
    pub(super) direction: Direction,
    /// Whether a message gives the types and the structure. Without one, a field may be its type word alone.
    pub(super) has_message: bool,
}

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

impl Mode {
    fn allows(self, key: &str) -> bool {
        self.direction == Direction::Input || !self.has_message || key == "enum"
    }
}

impl Declared {
    /// Everything under a key such as `parameters` or `properties`.
    pub(super) fn read_all(reader: &mut Reader<'_>, key: &'static str, mode: Mode) -> Vec<Self> {
        let pointer = reader.at(key);
        let Some(fields) = reader.optional::<Map<String, Value>>(key) else { return Vec::new() };
        let mut field = |(name, value): (&String, &Value)| {
            if !mode.has_message && !is_field_name(name) {
                let expected = format!("`{name}` does not match ^[a-z][a-z0-9_]*$");
                reader.report.add(join(&pointer, name), "bad-name", expected);
            }
            Self::read(name, value, join(&pointer, name), mode, reader.report)
        };
        fields.iter().map(&mut field).collect()
    }

    fn read(name: &str, value: &Value, pointer: String, mode: Mode, report: &mut Report) -> Self {
        let declared = match value {
            Value::Object(object) => Self::full(Reader::new(object, pointer.clone(), report), mode),
            word => Self::short(word, &pointer, mode, report),
        };
        Self { name: name.to_owned(), pointer, ..declared }
    }

    /// Spec 002's short form: the type word alone.
    fn short(word: &Value, pointer: &str, mode: Mode, report: &mut Report) -> Self {
        let kind = if mode.has_message { None } else { Kind::read(word) };
        if kind.is_none() {
            let expected = if mode.has_message { String::new() } else { format!(", or {}", Kind::form()) };
            report.add(pointer, "wrong-type", format!("must be an object{expected}"));
        }
        Self { kind, ..Self::default() }
    }

    fn full(mut reader: Reader<'_>, mode: Mode) -> Self {
        let mut declared = Self {
            kind: if mode.has_message { None } else { reader.required("type") },
            description: reader.optional("description"),
            keywords: keywords(&mut reader, mode),
            items: Self::items(&mut reader, mode).map(Box::new),
            ..Self::default()
        };
        match mode.direction {
            Direction::Input => {
                declared.is_required = reader.optional("required").unwrap_or(false);
                if reader.optional("sensitive").unwrap_or(false) {
                    declared.keywords.insert(SENSITIVE.to_owned(), true.into());
                }
                let pointer = reader.at("extract");
                let extract = reader.value("extract");
                declared.extract = extract.and_then(|value| Extract::read(value, &pointer, reader.report));
            }
            Direction::Output => {
                declared.is_omitted_when_absent = reader.optional("omit_when_absent").unwrap_or(false);
            }
        }
        if !mode.has_message {
            declared.properties = Self::read_all(&mut reader, "properties", mode);
        }
        reader.end();
        declared
    }

    fn items(reader: &mut Reader<'_>, mode: Mode) -> Option<Self> {
        let value = reader.value("items")?;
        let pointer = reader.at("items");
        Some(Self::read("items", value, pointer, mode, reader.report))
    }
}

fn keywords(reader: &mut Reader<'_>, mode: Mode) -> Map<String, Value> {
    let mut keywords = Map::new();
    for (key, keyword, form) in CONSTRAINTS.into_iter().filter(|(key, ..)| mode.allows(key)) {
        match reader.value(key) {
            Some(value) if form.fits(value) => {
                keywords.insert(keyword.to_owned(), value.clone());
            }
            Some(_) => reader.refuse(key, "wrong-type", format!("`{key}` must be {}", form.name())),
            None => {}
        }
    }
    keywords
}

fn is_field_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

impl Form {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::List => value.is_array(),
            Self::Number => value.is_number(),
            Self::Count => value.is_u64(),
            Self::Text => value.is_string(),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::List => "a list",
            Self::Number => "a number",
            Self::Count => "a whole number, at least 0",
            Self::Text => "a text",
        }
    }
}

impl Readable for Kind {
    fn form() -> String {
        format!("one of the types {}", KINDS.join(", "))
    }

    fn read(value: &Value) -> Option<Self> {
        KINDS.into_iter().find(|kind| value == kind).map(Self)
    }
}
