//! An encoded message as the text of its payload JSON.

use std::collections::HashSet;

use prost::Message;
use prost_reflect::{FieldDescriptor, MessageDescriptor};
use serde::Serialize;

use super::{
    kind::{Count, Int, Kind, WellKnown},
    wire::{Malformed, Raw, next, taken, varint},
};
use crate::contract::{json, payload::Omitted};

/// Renders messages of one type: declared fields in their order, absent ones `null` or left out.
#[derive(Debug)]
pub struct Renderer {
    name: String,
    omitted: Omitted,
    /// `None` for a message that has what no payload has.
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
    /// The key with its colon.
    key: Vec<u8>,
    kind: Kind<Plan>,
    count: Count,
    /// Whether it is left out, rather than `null`, when it is absent.
    is_omitted: bool,
}

impl Renderer {
    /// Compiles. Fields of the omitted paths are left out where they are absent.
    pub fn new(message: &MessageDescriptor, omitted: Omitted) -> Self {
        Self { name: message.full_name().to_owned(), plan: Plan::of(message, &omitted, ""), omitted }
    }

    /// The fields that are left out, rather than `null`, when they are absent.
    pub fn omitted(&self) -> &Omitted {
        &self.omitted
    }

    /// The text of a message's payload JSON; `None` if that is for others to say.
    pub fn text(&self, message: &MessageDescriptor, bytes: &[u8]) -> Option<String> {
        let plan = self.plan.as_ref().filter(|_| message.full_name() == self.name)?;
        let mut text = Vec::with_capacity(bytes.len() * 3);
        plan.object(bytes, &mut text).ok()?;
        String::from_utf8(text).ok()
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

    fn object(&self, bytes: &[u8], text: &mut Vec<u8>) -> Result<(), Malformed> {
        let values = self.values(bytes)?;
        let mut rest = values.as_slice();
        text.push(b'{');
        let begin = text.len();
        for (index, field) in self.fields.iter().enumerate() {
            let (own, after) = rest.split_at(rest.iter().take_while(|(of, _)| *of == index).count());
            rest = after;
            if own.is_empty() && field.is_omitted && field.count == Count::Optional {
                continue;
            }
            if text.len() > begin {
                text.push(b',');
            }
            text.extend_from_slice(&field.key);
            field.write(own, text)?;
        }
        text.push(b'}');
        Ok(())
    }

    /// The values of the message with the index of their field, in the order of declaration.
    fn values<'a>(&self, mut bytes: &'a [u8]) -> Result<Vec<(usize, Raw<'a>)>, Malformed> {
        let mut values = Vec::with_capacity(self.fields.len());
        while let Some((number, value)) = next(&mut bytes)? {
            // What a later version wrote is not known here.
            if let Ok(at) = self.numbers.binary_search_by_key(&number, |(number, _)| *number) {
                values.push((self.numbers[at].1, value));
            }
        }
        // Nothing to do where fields are numbered as they are declared.
        values.sort_by_key(|(index, _)| *index);
        Ok(values)
    }
}

impl Field {
    fn of(field: &FieldDescriptor, omitted: &Omitted, parent: &str) -> Option<Self> {
        let is_in_oneof = field.containing_oneof().is_some_and(|oneof| !oneof.is_synthetic());
        if is_in_oneof {
            return None;
        }
        let path =
            if parent.is_empty() { field.name().to_owned() } else { format!("{parent}.{}", field.name()) };
        let mut key = Vec::new();
        write(field.name(), &mut key);
        key.push(b':');
        let compile = || match &field.kind() {
            prost_reflect::Kind::Message(message) => Plan::of(message, omitted, &path),
            _ => None,
        };
        let kind = Kind::of(&field.kind(), compile)?;
        Some(Self { key, kind, count: Count::of(field), is_omitted: omitted.contains(&path) })
    }

    fn write(&self, values: &[(usize, Raw<'_>)], text: &mut Vec<u8>) -> Result<(), Malformed> {
        match (self.count, values) {
            (Count::Optional, []) => text.extend_from_slice(b"null"),
            (Count::Default, []) => self.kind.write_default(text),
            // Several of a single value are one that was written in parts: rare enough to be left to others.
            (Count::Optional | Count::Default, [(_, value)]) => self.kind.write(*value, text)?,
            (Count::Optional | Count::Default, _) => return Err(Malformed),
            (Count::List, values) => self.write_list(values, text)?,
            (Count::Map, values) => self.write_map(values, text)?,
        }
        Ok(())
    }

    fn write_list(&self, values: &[(usize, Raw<'_>)], text: &mut Vec<u8>) -> Result<(), Malformed> {
        text.push(b'[');
        let begin = text.len();
        for (_, value) in values {
            match value {
                Raw::Bytes(packed) if self.kind.is_packed() => {
                    let mut rest = *packed;
                    while !rest.is_empty() {
                        separate(text, begin);
                        let value = self.kind.unpack(&mut rest)?;
                        self.kind.write(value, text)?;
                    }
                }
                value => {
                    separate(text, begin);
                    self.kind.write(*value, text)?;
                }
            }
        }
        text.push(b']');
        Ok(())
    }

    fn write_map(&self, values: &[(usize, Raw<'_>)], text: &mut Vec<u8>) -> Result<(), Malformed> {
        let Kind::Message(Plan { fields, .. }) = &self.kind else { return Err(Malformed) };
        let Kind::Message(entry) = &self.kind else { return Err(Malformed) };
        let [Field { kind: Kind::Text, .. }, of_value] = fields.as_slice() else { return Err(Malformed) };
        let mut keys = HashSet::new();
        text.push(b'{');
        let begin = text.len();
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
            separate(text, begin);
            write(key, text);
            text.push(b':');
            match value {
                Some(value) => of_value.kind.write(value, text)?,
                None => of_value.kind.write_default(text),
            }
        }
        text.push(b'}');
        Ok(())
    }
}

impl Kind<Plan> {
    fn is_packed(&self) -> bool {
        matches!(self, Self::Bool | Self::Double | Self::Float | Self::Int(_))
    }

    fn unpack<'a>(&self, rest: &mut &'a [u8]) -> Result<Raw<'a>, Malformed> {
        Ok(match self {
            Self::Double | Self::Int(Int::Fixed64 | Int::Sfixed64) => Raw::Fixed64(taken(rest)?),
            Self::Float | Self::Int(Int::Fixed32 | Int::Sfixed32) => Raw::Fixed32(taken(rest)?),
            _ => Raw::Varint(varint(rest)?),
        })
    }

    fn write(&self, value: Raw<'_>, text: &mut Vec<u8>) -> Result<(), Malformed> {
        match (self, value) {
            (Self::Text, Raw::Bytes(bytes)) => write(utf8(bytes)?, text),
            (Self::Double, Raw::Fixed64(bytes)) => number(f64::from_le_bytes(bytes), text),
            (Self::Float, Raw::Fixed32(bytes)) => number(f32::from_le_bytes(bytes).into(), text),
            (Self::Bool, Raw::Varint(flag)) => write(&(flag != 0), text),
            (Self::Message(plan), Raw::Bytes(bytes)) => plan.object(bytes, text)?,
            (Self::WellKnown(kind), Raw::Bytes(bytes)) => kind.write(bytes, text)?,
            (Self::Int(kind), value) => kind.write(value, text)?,
            _ => return Err(Malformed),
        }
        Ok(())
    }

    /// What a value without presence is when it is absent.
    fn write_default(&self, text: &mut Vec<u8>) {
        match self {
            Self::Bool => text.extend_from_slice(b"false"),
            Self::Double | Self::Float | Self::Int(_) => text.push(b'0'),
            Self::Text => text.extend_from_slice(b"\"\""),
            // Only the value of a map's entry.
            Self::Message(plan) => plan.object(&[], text).expect("nothing is a message"),
            Self::WellKnown(kind) => kind.write(&[], text).expect("nothing is a message"),
        }
    }
}

impl Int {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "as the encoding has them"
    )]
    fn write(self, value: Raw<'_>, text: &mut Vec<u8>) -> Result<(), Malformed> {
        match (self, value) {
            (Self::I32, Raw::Varint(n)) => write(&(n as i32), text),
            (Self::I64, Raw::Varint(n)) => write(&(n as i64), text),
            (Self::U32, Raw::Varint(n)) => write(&(n as u32), text),
            (Self::U64, Raw::Varint(n)) => write(&n, text),
            (Self::Zigzag, Raw::Varint(n)) => write(&((n >> 1) as i64 ^ -((n & 1) as i64)), text),
            (Self::Fixed32, Raw::Fixed32(bytes)) => write(&u32::from_le_bytes(bytes), text),
            (Self::Sfixed32, Raw::Fixed32(bytes)) => write(&i32::from_le_bytes(bytes), text),
            (Self::Fixed64, Raw::Fixed64(bytes)) => write(&u64::from_le_bytes(bytes), text),
            (Self::Sfixed64, Raw::Fixed64(bytes)) => write(&i64::from_le_bytes(bytes), text),
            _ => return Err(Malformed),
        }
        Ok(())
    }
}

impl WellKnown {
    fn write(self, bytes: &[u8], text: &mut Vec<u8>) -> Result<(), Malformed> {
        match self {
            Self::Duration => write(&decoded::<prost_types::Duration>(bytes)?.to_string(), text),
            Self::Timestamp => write(&decoded::<prost_types::Timestamp>(bytes)?.to_string(), text),
            Self::Struct => write(&json::from_struct(decoded(bytes)?), text),
            Self::Value => write(&json::from_value(decoded(bytes)?), text),
        }
        Ok(())
    }
}

fn decoded<M: Message + Default>(bytes: &[u8]) -> Result<M, Malformed> {
    M::decode(bytes).map_err(|_| Malformed)
}

fn utf8(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|_| Malformed)
}

/// A comma, but for the first.
fn separate(text: &mut Vec<u8>, begin: usize) {
    if text.len() > begin {
        text.push(b',');
    }
}

fn number(value: f64, text: &mut Vec<u8>) {
    write(&json::number(value), text);
}

fn write(value: &(impl Serialize + ?Sized), text: &mut Vec<u8>) {
    serde_json::to_writer(text, value).expect("a text takes whatever is written");
}
