//! Renders an encoded message as its payload JSON: as text, or as a structure.

use std::collections::{BTreeSet, HashSet};

use prost::Message;
use prost_reflect::{FieldDescriptor, MessageDescriptor};
use prost_types::Struct;
use serde_json::Value;

use super::{
    kind::{Count, Int, Kind, WellKnown, is_in_oneof, is_recursive},
    sink::{Sink, Structure, Text},
    wire::{Malformed, Raw, next, take, varint},
};
use crate::json;

/// Dotted paths of the fields that are left out, rather than `null`, when they are absent.
pub type Omitted = BTreeSet<String>;

/// Renders messages of one type: declared fields in their order, absent ones `null` or left out.
#[derive(Debug)]
pub struct Renderer {
    name: String,
    omitted: Omitted,
    /// `None` for a message that only the slow path covers.
    plan: Option<Plan>,
}

#[derive(Debug)]
struct Plan {
    /// In the order of declaration.
    fields: Vec<Field>,
    /// Index by number, in order of number.
    numbers: Vec<(u32, usize)>,
}

#[derive(Debug)]
struct Field {
    name: String,
    /// The name in JSON, with its colon.
    key: Vec<u8>,
    kind: Kind<Plan>,
    count: Count,
    /// Whether it is left out, rather than `null`, when it is absent.
    is_omitted: bool,
}

impl Renderer {
    /// Compiles. Fields of the omitted paths are left out where they are absent.
    pub fn new(message: &MessageDescriptor, omitted: Omitted) -> Self {
        let plan = (!is_recursive(message)).then(|| Plan::of(message, &omitted, "")).flatten();
        Self { name: message.full_name().to_owned(), plan, omitted }
    }

    /// The fields that are left out, rather than `null`, when they are absent.
    pub fn omitted(&self) -> &Omitted {
        &self.omitted
    }

    /// The text of a message's payload JSON; `None` if the slow path must render it.
    pub fn text(&self, message: &MessageDescriptor, bytes: &[u8]) -> Option<String> {
        // JSON is about three times as long as the encoded message.
        let mut text = Text::with_capacity(bytes.len() * 3);
        self.plan(message)?.object(bytes, &mut text).ok()?;
        text.end()
    }

    /// The payload JSON of a message as a structure; `None` if the slow path must render it, or none is exact.
    pub fn structure(&self, message: &MessageDescriptor, bytes: &[u8]) -> Option<Struct> {
        let mut structure = Structure::default();
        self.plan(message)?.object(bytes, &mut structure).ok()?;
        structure.end()
    }

    fn plan(&self, message: &MessageDescriptor) -> Option<&Plan> {
        self.plan.as_ref().filter(|_| message.full_name() == self.name)
    }
}

impl Plan {
    fn of(message: &MessageDescriptor, omitted: &Omitted, path: &str) -> Option<Self> {
        let fields: Vec<_> = message.fields().collect();
        let mut numbers: Vec<_> = fields.iter().map(FieldDescriptor::number).zip(0..).collect();
        numbers.sort_unstable();
        let fields = fields.iter().map(|field| Field::of(field, omitted, path)).collect::<Option<_>>()?;
        Some(Self { fields, numbers })
    }

    fn object(&self, bytes: &[u8], sink: &mut impl Sink) -> Result<(), Malformed> {
        let values = self.values(bytes)?;
        let mut rest = values.as_slice();
        sink.begin_object();
        for (index, field) in self.fields.iter().enumerate() {
            let (own, after) = rest.split_at(rest.iter().take_while(|(of, _)| *of == index).count());
            rest = after;
            if own.is_empty() && field.is_omitted && field.count == Count::Optional {
                continue;
            }
            sink.key(&field.name, &field.key);
            field.write(own, sink)?;
        }
        sink.end_object();
        Ok(())
    }

    /// The values of the message with the index of their field, in the order of declaration.
    fn values<'a>(&self, mut bytes: &'a [u8]) -> Result<Vec<(usize, Raw<'a>)>, Malformed> {
        let mut values = Vec::with_capacity(self.fields.len());
        while let Some((number, value)) = next(&mut bytes)? {
            // A field of a later version of the message is skipped.
            if let Ok(at) = self.numbers.binary_search_by_key(&number, |(number, _)| *number) {
                values.push((self.numbers[at].1, value));
            }
        }
        // Stable, so that the elements of a list keep their order. Cheap where fields are numbered as they are
        // declared.
        values.sort_by_key(|(index, _)| *index);
        Ok(values)
    }
}

impl Field {
    fn of(field: &FieldDescriptor, omitted: &Omitted, parent: &str) -> Option<Self> {
        if is_in_oneof(field) {
            return None;
        }
        let path =
            if parent.is_empty() { field.name().to_owned() } else { format!("{parent}.{}", field.name()) };
        let key = in_json(field.name());
        let compile = || match &field.kind() {
            prost_reflect::Kind::Message(message) => Plan::of(message, omitted, &path),
            _ => None,
        };
        let kind = Kind::of(&field.kind(), compile)?;
        let name = field.name().to_owned();
        Some(Self { name, key, kind, count: Count::of(field), is_omitted: omitted.contains(&path) })
    }

    fn write(&self, values: &[(usize, Raw<'_>)], sink: &mut impl Sink) -> Result<(), Malformed> {
        match (self.count, values) {
            (Count::Optional, []) => sink.null(),
            (Count::Default, []) => self.kind.write_default(sink),
            // Several values of a singular field are to be merged: rare enough for the slow path.
            (Count::Optional | Count::Default, [(_, value)]) => self.kind.write(*value, sink)?,
            (Count::Optional | Count::Default, _) => return Err(Malformed),
            (Count::List, values) => self.write_list(values, sink)?,
            (Count::Map, values) => self.write_map(values, sink)?,
        }
        Ok(())
    }

    fn write_list(&self, values: &[(usize, Raw<'_>)], sink: &mut impl Sink) -> Result<(), Malformed> {
        sink.begin_list();
        for (_, value) in values {
            match value {
                Raw::Bytes(packed) if self.kind.is_packed() => {
                    let mut rest = *packed;
                    while !rest.is_empty() {
                        sink.element();
                        let value = self.kind.unpack(&mut rest)?;
                        self.kind.write(value, sink)?;
                    }
                }
                value => {
                    sink.element();
                    self.kind.write(*value, sink)?;
                }
            }
        }
        sink.end_list();
        Ok(())
    }

    fn write_map(&self, values: &[(usize, Raw<'_>)], sink: &mut impl Sink) -> Result<(), Malformed> {
        let Kind::Message(entry) = &self.kind else { return Err(Malformed) };
        let [Field { kind: Kind::Text, .. }, of_value] = entry.fields.as_slice() else {
            return Err(Malformed);
        };
        let mut keys = HashSet::new();
        sink.begin_object();
        for (_, value) in values {
            let Raw::Bytes(bytes) = value else { return Err(Malformed) };
            let (mut key, mut value) = ("", None);
            for (index, raw) in entry.values(bytes)? {
                match (index, raw) {
                    (0, Raw::Bytes(bytes)) => key = utf8(bytes)?,
                    (1, raw) => value = Some(raw),
                    _ => return Err(Malformed),
                }
            }
            if !keys.insert(key) {
                return Err(Malformed);
            }
            sink.key(key, &in_json(key));
            match value {
                Some(value) => of_value.kind.write(value, sink)?,
                None => of_value.kind.write_default(sink),
            }
        }
        sink.end_object();
        Ok(())
    }
}

impl Kind<Plan> {
    fn is_packed(&self) -> bool {
        matches!(self, Self::Bool | Self::Double | Self::Float | Self::Int(_))
    }

    fn unpack<'a>(&self, rest: &mut &'a [u8]) -> Result<Raw<'a>, Malformed> {
        Ok(match self {
            Self::Double | Self::Int(Int::Fixed64 | Int::Sfixed64) => Raw::Fixed64(take(rest)?),
            Self::Float | Self::Int(Int::Fixed32 | Int::Sfixed32) => Raw::Fixed32(take(rest)?),
            _ => Raw::Varint(varint(rest)?),
        })
    }

    fn write(&self, value: Raw<'_>, sink: &mut impl Sink) -> Result<(), Malformed> {
        match (self, value) {
            (Self::Text, Raw::Bytes(bytes)) => sink.text(utf8(bytes)?),
            (Self::Double, Raw::Fixed64(bytes)) => sink.float(f64::from_le_bytes(bytes)),
            (Self::Float, Raw::Fixed32(bytes)) => sink.float(f32::from_le_bytes(bytes).into()),
            (Self::Bool, Raw::Varint(flag)) => sink.bool(flag != 0),
            (Self::Message(plan), Raw::Bytes(bytes)) => plan.object(bytes, sink)?,
            (Self::WellKnown(kind), Raw::Bytes(bytes)) => sink.value(&kind.value(bytes)?),
            (Self::Int(kind), value) => sink.int(kind.value(value)?),
            _ => return Err(Malformed),
        }
        Ok(())
    }

    /// What a value without presence is when it is absent.
    fn write_default(&self, sink: &mut impl Sink) {
        match self {
            Self::Bool => sink.bool(false),
            Self::Double | Self::Float | Self::Int(_) => sink.int(0),
            Self::Text => sink.text(""),
            // Only the value of a map's entry.
            Self::Message(plan) => plan.object(&[], sink).expect("nothing is a message"),
            Self::WellKnown(kind) => sink.value(&kind.value(&[]).expect("nothing is a message")),
        }
    }
}

impl Int {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "as the encoding has them"
    )]
    fn value(self, value: Raw<'_>) -> Result<i128, Malformed> {
        Ok(match (self, value) {
            (Self::I32, Raw::Varint(n)) => (n as i32).into(),
            (Self::I64, Raw::Varint(n)) => (n as i64).into(),
            (Self::U32, Raw::Varint(n)) => (n as u32).into(),
            (Self::U64, Raw::Varint(n)) => n.into(),
            (Self::Zigzag, Raw::Varint(n)) => ((n >> 1) as i64 ^ -((n & 1) as i64)).into(),
            (Self::Fixed32, Raw::Fixed32(bytes)) => u32::from_le_bytes(bytes).into(),
            (Self::Sfixed32, Raw::Fixed32(bytes)) => i32::from_le_bytes(bytes).into(),
            (Self::Fixed64, Raw::Fixed64(bytes)) => u64::from_le_bytes(bytes).into(),
            (Self::Sfixed64, Raw::Fixed64(bytes)) => i64::from_le_bytes(bytes).into(),
            _ => return Err(Malformed),
        })
    }
}

impl WellKnown {
    fn value(self, bytes: &[u8]) -> Result<Value, Malformed> {
        Ok(match self {
            Self::Duration => decode::<prost_types::Duration>(bytes)?.to_string().into(),
            Self::Timestamp => decode::<prost_types::Timestamp>(bytes)?.to_string().into(),
            Self::Struct => Value::Object(json::from_struct(decode(bytes)?)),
            Self::Value => json::from_value(decode(bytes)?),
        })
    }
}

fn decode<M: Message + Default>(bytes: &[u8]) -> Result<M, Malformed> {
    M::decode(bytes).map_err(|_| Malformed)
}

fn utf8(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|_| Malformed)
}

/// A key as it stands in JSON, with its colon.
fn in_json(name: &str) -> Vec<u8> {
    let mut key = serde_json::to_vec(name).expect("a text has a form");
    key.push(b':');
    key
}
