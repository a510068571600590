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

/// The messages of `google.protobuf` that have a JSON form of their own.
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
    /// One value, which may be absent.
    Optional,
    /// One value, which is its default when absent.
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
    /// The kind of a field's values; `compile` is called for messages. `None` for a kind that no payload has.
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

/// Whether a field is a member of a oneof. One that is merely `optional` is not.
pub(super) fn is_in_oneof(field: &FieldDescriptor) -> bool {
    field.containing_oneof().is_some_and(|oneof| !oneof.is_synthetic())
}

/// Whether a message contains itself, at any depth: its compiled form would be infinite.
pub(super) fn is_recursive(message: &MessageDescriptor) -> bool {
    fn repeats(message: &MessageDescriptor, enclosing: &mut Vec<MessageDescriptor>) -> bool {
        if message.package_name() == "google.protobuf" {
            return false;
        }
        if enclosing.contains(message) {
            return true;
        }
        enclosing.push(message.clone());
        let kinds: Vec<_> = message.fields().map(|field| field.kind()).collect();
        let is_repeated =
            kinds.iter().filter_map(Declared::as_message).any(|inner| repeats(inner, enclosing));
        enclosing.pop();
        is_repeated
    }
    repeats(message, &mut Vec::new())
}
