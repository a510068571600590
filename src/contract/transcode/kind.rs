//! Kinds of fields, shared by both directions.

use prost_reflect::{FieldDescriptor, Kind as Declared, MessageDescriptor};

/// What one value of a field is.
#[derive(Debug)]
pub(super) enum Kind<M> {
    Bool,
    Double,
    Float,
    Int(Int),
    Text,
    Message(M),
    WellKnown(WellKnown),
}

/// How an integer is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Int {
    I32,
    I64,
    U32,
    U64,
    /// `sint32` and `sint64`.
    Zigzag,
    Fixed32,
    Sfixed32,
    Fixed64,
    Sfixed64,
}

/// The messages of `google.protobuf` that JSON has words for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WellKnown {
    Duration,
    Struct,
    Timestamp,
    Value,
}

/// How many values a field has, and what its absence means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// One, which may be absent.
    Optional,
    /// One, whose absence is its default.
    Default,
    List,
    /// A list of entries with a key and a value.
    Map,
}

impl Count {
    pub(super) fn of(field: &FieldDescriptor) -> Self {
        if field.is_map() {
            Self::Map
        } else if field.is_list() {
            Self::List
        } else if field.supports_presence() {
            Self::Optional
        } else {
            Self::Default
        }
    }
}

impl<M> Kind<M> {
    /// The kind of a field's values; `compile` is for messages. `None` for what no payload has.
    pub(super) fn of(declared: &Declared, compile: impl FnOnce() -> Option<M>) -> Option<Self> {
        Some(match declared {
            Declared::Bool => Self::Bool,
            Declared::Double => Self::Double,
            Declared::Float => Self::Float,
            Declared::Int32 => Self::Int(Int::I32),
            Declared::Int64 => Self::Int(Int::I64),
            Declared::Uint32 => Self::Int(Int::U32),
            Declared::Uint64 => Self::Int(Int::U64),
            Declared::Sint32 | Declared::Sint64 => Self::Int(Int::Zigzag),
            Declared::Fixed32 => Self::Int(Int::Fixed32),
            Declared::Sfixed32 => Self::Int(Int::Sfixed32),
            Declared::Fixed64 => Self::Int(Int::Fixed64),
            Declared::Sfixed64 => Self::Int(Int::Sfixed64),
            Declared::String => Self::Text,
            Declared::Message(message) => match message.full_name() {
                "google.protobuf.Duration" => Self::WellKnown(WellKnown::Duration),
                "google.protobuf.Struct" => Self::WellKnown(WellKnown::Struct),
                "google.protobuf.Timestamp" => Self::WellKnown(WellKnown::Timestamp),
                "google.protobuf.Value" => Self::WellKnown(WellKnown::Value),
                _ => Self::Message(compile()?),
            },
            Declared::Bytes | Declared::Enum(_) => return None,
        })
    }
}

/// Whether a message contains itself, however deep: then its compiled form has no end, and there is none.
pub(super) fn is_recursive(message: &MessageDescriptor) -> bool {
    fn repeats(message: &MessageDescriptor, around: &mut Vec<MessageDescriptor>) -> bool {
        if message.package_name() == "google.protobuf" {
            return false;
        }
        if around.contains(message) {
            return true;
        }
        around.push(message.clone());
        let kinds: Vec<_> = message.fields().map(|field| field.kind()).collect();
        let is_found = kinds.iter().filter_map(Declared::as_message).any(|inner| repeats(inner, around));
        around.pop();
        is_found
    }
    repeats(message, &mut Vec::new())
}
