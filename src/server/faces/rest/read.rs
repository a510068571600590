//! Decodes a request into a message of the contract, from its body, its query and its path.
//!
//! A query names fields as the proto does, those of a nested message with a dot, or without if it is the `filter`.
//! Values of enumerations are read with and without their prefix; lengths of time as people write them.

mod words;

use std::fmt::Display;

use prost_reflect::{
    DeserializeOptions, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, ReflectMessage,
};
use serde_json::{Map, Value, value::RawValue};

use self::words::{parse_duration, read_words, value_of};
use super::message;
use crate::{
    faces::http::query::unknown,
    service::request::{body_text, refuse},
};
use toolwire_contract::{
    Refusal,
    json::{self, raw},
};

/// The field whose own fields a query names without its prefix.
const FILTER: &str = "filter";

/// The arguments that a model wrote, as a value and as JSON text.
const ARGUMENTS: &str = "arguments";
const ARGUMENTS_JSON: &str = "arguments_json";

#[derive(Clone, Debug)]
pub(super) struct Message {
    descriptor: MessageDescriptor,
    value: Map<String, Value>,
}

impl Message {
    /// An empty message of a type.
    pub(super) fn of(descriptor: MessageDescriptor) -> Self {
        Self { descriptor, value: Map::new() }
    }

    /// Sets the fields from a body, the text of a JSON object or nothing.
    pub(super) fn with_body(mut self, body: &[u8]) -> Result<Self, Refusal> {
        let text = body_text(body)?;
        if text.is_empty() {
            return Ok(self);
        }
        let not_json = |error: &dyn Display| {
            refuse("body", "json", &format!("must be the text of a JSON object: {error}"))
        };
        if self.has(ARGUMENTS_JSON) {
            return self.with_call(serde_json::from_str(text).map_err(|error| not_json(&error))?);
        }
        let value = json::parse(text).map_err(|error| not_json(&error))?;
        if !json::is_within_depth(&value) {
            return Err(refuse(
                "body",
                "depth",
                &format!("must not nest deeper than {} levels", json::MAX_DEPTH),
            ));
        }
        let Value::Object(mut object) = value else {
            return Err(refuse("body", "type", "must be a JSON object"));
        };
        read_words(&mut object, &self.descriptor);
        self.value = object;
        Ok(self)
    }

    /// Sets the fields from a body that makes a call. The arguments stay text: the contract parses them for every face,
    /// and a text that is not an object is an error that the model reads.
    fn with_call(mut self, raw::Members(members): raw::Members<'_>) -> Result<Self, Refusal> {
        for (name, text) in members {
            let value = match name.as_str() {
                ARGUMENTS => Value::from(text.get()),
                ARGUMENTS_JSON => argument_value(text),
                _ => value_of_member(&name, text)?,
            };
            let name = if name == ARGUMENTS { ARGUMENTS_JSON.to_owned() } else { name };
            if self.value.insert(name, value).is_some() {
                return Err(refuse(
                    ARGUMENTS,
                    "conflict",
                    "is given twice: as arguments and as arguments_json",
                ));
            }
        }
        read_words(&mut self.value, &self.descriptor);
        Ok(self)
    }

    /// Adds the fields of a query.
    pub(super) fn with_query<'a>(
        mut self,
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, Refusal> {
        for (name, text) in pairs {
            let (path, field, key) = find(&self.descriptor, name)?;
            let value = scalar(name, text, &field, key.is_some())?;
            let mut object = &mut self.value;
            for step in path.iter().chain(key.is_some().then_some(&field)) {
                let inner = object.entry(step.name()).or_insert_with(|| Value::Object(Map::new()));
                let wrong = || refuse(name, "type", "is given by the body already, as something else");
                object = inner.as_object_mut().ok_or_else(wrong)?;
            }
            put(object, name, key.unwrap_or(field.name()), value, field.is_list())?;
        }
        Ok(self)
    }

    /// Sets a field that the path or a header gives. Another value in the body is refused.
    pub(super) fn with_field(mut self, name: &str, text: &str) -> Result<Self, Refusal> {
        let (path, field, _) = find(&self.descriptor, name)?;
        let value = scalar(name, text, &field, false)?;
        let mut object = &mut self.value;
        for step in path {
            let inner = object.entry(step.name()).or_insert_with(|| Value::Object(Map::new()));
            let wrong = || refuse(name, "type", "is given by the body already, as something else");
            object = inner.as_object_mut().ok_or_else(wrong)?;
        }
        match object.get(field.name()) {
            Some(other) if *other != value => Err(refuse(name, "conflict", "is given twice, differently")),
            _ => {
                object.insert(field.name().to_owned(), value);
                Ok(self)
            }
        }
    }

    /// Sets a field that headers give. A body that has it too is refused.
    pub(super) fn with_value(mut self, name: &str, value: Value) -> Result<Self, Refusal> {
        match self.value.insert(name.to_owned(), value) {
            None => Ok(self),
            Some(_) => Err(refuse(name, "conflict", "is given by headers and by the request")),
        }
    }

    /// Whether its type has a field.
    pub(super) fn has(&self, name: &str) -> bool {
        self.descriptor.get_field_by_name(name).is_some()
    }

    /// Whether a field was set.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.value.contains_key(name)
    }

    /// Finishes the message. Unknown fields are refused.
    pub(super) fn into_dynamic(self) -> Result<DynamicMessage, Refusal> {
        let options = DeserializeOptions::new().deny_unknown_fields(true);
        let wrong = |error: serde_json::Error| refuse("body", "type", &format!("cannot be read: {error}"));
        DynamicMessage::deserialize_with_options(self.descriptor, Value::Object(self.value), &options)
            .map_err(wrong)
    }

    /// Finishes the message as its generated type.
    pub(super) fn read<M: ReflectMessage + Default>(self) -> Result<M, Refusal> {
        let wrong = |error: prost::DecodeError| refuse("query", "type", &format!("cannot be read: {error}"));
        self.into_dynamic()?.transcode_to().map_err(wrong)
    }
}

/// The value of `arguments_json`: a string is the text itself, and any other value is taken as its own text.
fn argument_value(text: &RawValue) -> Value {
    let string = || serde_json::from_str(&raw::without_lone_surrogates(text.get().to_owned())).ok();
    let is_string = text.get().starts_with('"');
    is_string.then(string).flatten().map_or_else(|| Value::from(text.get()), Value::String)
}

fn value_of_member(name: &str, text: &RawValue) -> Result<Value, Refusal> {
    let value =
        json::parse(text.get()).map_err(|error| refuse(name, "json", &format!("cannot be read: {error}")))?;
    if !json::is_within_depth(&value) {
        return Err(refuse(name, "depth", &format!("must not nest deeper than {} levels", json::MAX_DEPTH)));
    }
    Ok(value)
}

/// Resolves the name of a query parameter to the messages on the way to its field, the field, and the key of a map.
fn find<'a>(
    message: &MessageDescriptor,
    name: &'a str,
) -> Result<(Vec<FieldDescriptor>, FieldDescriptor, Option<&'a str>), Refusal> {
    let (mut path, mut at, mut rest) = (Vec::new(), message.clone(), name);
    loop {
        let (first, more) = rest.split_once('.').map_or((rest, None), |(first, more)| (first, Some(more)));
        let Some(field) = at.get_field_by_name(first) else {
            // A field of the filter, named without the prefix.
            let filter = at.get_field_by_name(FILTER).filter(|_| path.is_empty());
            let Some((filter, inner)) = filter.and_then(|it| Some((it.clone(), inner_of(&it)?))) else {
                return Err(unknown_field(message, name));
            };
            path.push(filter);
            at = inner;
            continue;
        };
        match (more, field.is_map(), inner_of(&field)) {
            (Some(key), true, _) => return Ok((path, field, Some(key))),
            (Some(more), false, Some(inner)) => {
                path.push(field);
                (at, rest) = (inner, more);
            }
            (None, false, None) => return Ok((path, field, None)),
            _ => {
                return Err(unknown_field(message, name));
            }
        }
    }
}

/// The message that a field holds, if a query may name its fields.
fn inner_of(field: &FieldDescriptor) -> Option<MessageDescriptor> {
    match field.kind() {
        Kind::Message(inner)
            if inner.parent_file().package_name() != "google.protobuf" && !field.is_list() =>
        {
            Some(inner)
        }
        _ => None,
    }
}

/// The fields that a query may name without a dot: those of the message, and those of its filter.
pub(super) fn fields(message: &MessageDescriptor) -> Vec<FieldDescriptor> {
    let mut fields = Vec::new();
    for field in message.fields() {
        match inner_of(&field).filter(|_| !field.is_map()) {
            Some(filter) if field.name() == FILTER => fields.extend(filter.fields()),
            Some(_) => {}
            None => fields.push(field),
        }
    }
    fields
}

fn unknown_field(message: &MessageDescriptor, name: &str) -> Refusal {
    let fields = fields(message);
    unknown(name, &fields.iter().map(FieldDescriptor::name).collect::<Vec<_>>())
}

fn put(
    object: &mut Map<String, Value>,
    name: &str,
    key: &str,
    value: Value,
    is_list: bool,
) -> Result<(), Refusal> {
    if is_list {
        let list = object.entry(key).or_insert_with(|| Value::Array(Vec::new()));
        list.as_array_mut().ok_or_else(|| refuse(name, "type", "is not a list in the body"))?.push(value);
        return Ok(());
    }
    match object.insert(key.to_owned(), value) {
        None => Ok(()),
        Some(_) => Err(refuse(name, "format", "must be given once")),
    }
}

/// Converts a text to the ProtoJSON value of a field.
fn scalar(name: &str, text: &str, field: &FieldDescriptor, is_entry: bool) -> Result<Value, Refusal> {
    let kind = match field.kind() {
        Kind::Message(entry) if is_entry => entry.map_entry_value_field().kind(),
        kind => kind,
    };
    match &kind {
        Kind::Bool => match text {
            "true" => Ok(true.into()),
            "false" => Ok(false.into()),
            _ => Err(refuse(name, "type", "must be true or false")),
        },
        Kind::String | Kind::Bytes => Ok(text.into()),
        Kind::Enum(of) => value_of(of, text).map(Value::from).ok_or_else(|| {
            let prefix = message::prefix(of);
            let words: Vec<_> =
                of.values().map(|it| it.name().trim_start_matches(&prefix).to_owned()).collect();
            refuse(name, "enum", &format!("must be one of {}", words[1..].join(", ")))
        }),
        Kind::Message(inner) if inner.full_name() == "google.protobuf.Duration" => parse_duration(name, text),
        Kind::Message(inner) if inner.full_name() == "google.protobuf.Timestamp" => {
            match text.parse::<prost_types::Timestamp>() {
                Ok(_) => Ok(text.into()),
                Err(_) => Err(refuse(name, "format", "must be an instant such as 2026-01-15T09:30:00Z")),
            }
        }
        Kind::Message(_) => Err(refuse(name, "type", "is not a text")),
        Kind::Double | Kind::Float => {
            let number = text.parse::<f64>().ok().filter(|it| it.is_finite() && json::is_exact(text));
            number.map(Value::from).ok_or_else(|| refuse(name, "type", "must be an exact number"))
        }
        _ => match text.parse::<i128>() {
            Ok(_) => Ok(text.into()),
            Err(_) => Err(refuse(name, "type", "must be a whole number")),
        },
    }
}
