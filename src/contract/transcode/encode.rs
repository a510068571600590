//! Encodes arguments, which have passed their schema, as a message.

use std::{collections::HashMap, ops::RangeInclusive};

use prost::{
    Message,
    encoding::{WireType, encode_key, encode_varint},
};
use prost_reflect::{FieldDescriptor, Kind as Declared, MessageDescriptor};
use serde_json::{Map, Number, Value};

use super::{
    kind::{Count, Int, Kind, WellKnown, is_in_oneof, is_recursive},
    rounding::as_double,
};
use crate::json;

/// The longest duration that has a JSON form, in seconds: 10,000 years.
const MAX_DURATION: u64 = 315_576_000_000;

/// The times that have a JSON form, in seconds: the years 1 to 9999.
const TIMES: RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// Encodes the arguments of one message type.
#[derive(Debug)]
pub struct Encoder {
    /// `None` for a message that only the slow path covers.
    plan: Option<Plan>,
}

#[derive(Debug)]
struct Plan(HashMap<String, Field>);

#[derive(Debug)]
struct Field {
    number: u32,
    kind: Kind<Plan>,
    count: Count,
}

/// The arguments are left to the slow path, which accepts them or says what is wrong with them.
struct Unusual;

impl Encoder {
    pub fn new(message: &MessageDescriptor) -> Self {
        Self { plan: (!is_recursive(message)).then(|| Plan::of(message)).flatten() }
    }

    /// The bytes of the message; `None` if the slow path must decide.
    pub fn bytes(&self, arguments: &Map<String, Value>) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.plan.as_ref()?.object(arguments, &mut bytes).ok()?;
        Some(bytes)
    }
}

impl Plan {
    fn of(message: &MessageDescriptor) -> Option<Self> {
        let field = |field: FieldDescriptor| Some((field.name().to_owned(), Field::of(&field)?));
        message.fields().map(field).collect::<Option<_>>().map(Self)
    }

    fn object(&self, object: &Map<String, Value>, bytes: &mut Vec<u8>) -> Result<(), Unusual> {
        for (name, value) in object {
            let field = self.0.get(name).ok_or(Unusual)?;
            // Null means absent in ProtoJSON, except for a field that holds any value.
            let is_any = matches!(field.kind, Kind::WellKnown(WellKnown::Value));
            if !value.is_null() || is_any {
                field.encode(value, bytes)?;
            }
        }
        Ok(())
    }
}

impl Field {
    fn of(field: &FieldDescriptor) -> Option<Self> {
        let compile = || match field.kind() {
            Declared::Message(message) => Plan::of(&message),
            _ => None,
        };
        let count = Count::of(field);
        // Maps are rare among arguments, and oneofs never occur.
        if count == Count::Map || is_in_oneof(field) {
            return None;
        }
        Some(Self { number: field.number(), kind: Kind::of(&field.kind(), compile)?, count })
    }

    fn encode(&self, value: &Value, bytes: &mut Vec<u8>) -> Result<(), Unusual> {
        match (self.count, value) {
            (Count::List, Value::Array(items)) => items.iter().try_for_each(|item| self.one(item, bytes)),
            (Count::List | Count::Map, _) => Err(Unusual),
            (Count::Optional | Count::Default, value) => self.one(value, bytes),
        }
    }

    fn one(&self, value: &Value, bytes: &mut Vec<u8>) -> Result<(), Unusual> {
        match (&self.kind, value) {
            (Kind::Text, Value::String(text)) => self.write_delimited(text.as_bytes(), bytes),
            (Kind::Bool, Value::Bool(flag)) => self.varint(u64::from(*flag), bytes),
            (Kind::Double, Value::Number(n)) => {
                let n = as_double(n).ok_or(Unusual)?;
                self.write_fixed(WireType::SixtyFourBit, &n.to_le_bytes(), bytes);
            }
            (Kind::Int(kind), Value::Number(n)) => self.int(*kind, n, bytes)?,
            (Kind::Message(plan), Value::Object(object)) => {
                let mut inner = Vec::new();
                plan.object(object, &mut inner)?;
                self.write_delimited(&inner, bytes);
            }
            (Kind::WellKnown(kind), value) => self.write_delimited(&kind.encode(value)?, bytes),
            // A float is narrower than the number: the slow path decides whether it fits.
            _ => return Err(Unusual),
        }
        Ok(())
    }

    fn int(&self, kind: Int, value: &Number, bytes: &mut Vec<u8>) -> Result<(), Unusual> {
        let n = exact(value).ok_or(Unusual)?;
        let signed = || i64::try_from(n).map_err(|_| Unusual);
        let narrow = |fits: bool| if fits { Ok(()) } else { Err(Unusual) };
        match kind {
            Int::I32 => narrow(i32::try_from(n).is_ok())?,
            Int::U32 => narrow(u32::try_from(n).is_ok())?,
            Int::U64 => narrow(u64::try_from(n).is_ok())?,
            Int::I64 => {}
            // Not used by any tool so far.
            Int::Zigzag | Int::Fixed32 | Int::Sfixed32 | Int::Fixed64 | Int::Sfixed64 => return Err(Unusual),
        }
        let bits =
            if kind == Int::U64 { u64::try_from(n).map_err(|_| Unusual)? } else { signed()?.cast_unsigned() };
        self.varint(bits, bytes);
        Ok(())
    }

    fn varint(&self, value: u64, bytes: &mut Vec<u8>) {
        encode_key(self.number, WireType::Varint, bytes);
        encode_varint(value, bytes);
    }

    fn write_fixed(&self, wire: WireType, value: &[u8], bytes: &mut Vec<u8>) {
        encode_key(self.number, wire, bytes);
        bytes.extend_from_slice(value);
    }

    fn write_delimited(&self, value: &[u8], bytes: &mut Vec<u8>) {
        encode_key(self.number, WireType::LengthDelimited, bytes);
        encode_varint(value.len() as u64, bytes);
        bytes.extend_from_slice(value);
    }
}

impl WellKnown {
    fn encode(self, value: &Value) -> Result<Vec<u8>, Unusual> {
        Ok(match (self, value) {
            (Self::Duration, Value::String(text)) => {
                let length: prost_types::Duration = text.parse().map_err(|_| Unusual)?;
                let is_in_range = length.seconds.unsigned_abs() <= MAX_DURATION;
                if is_in_range { length.encode_to_vec() } else { return Err(Unusual) }
            }
            (Self::Timestamp, Value::String(text)) => {
                let time: prost_types::Timestamp = text.parse().map_err(|_| Unusual)?;
                // Only in the form that it would be written in: this parser accepts more than RFC 3339.
                let is_usual = TIMES.contains(&time.seconds) && time.to_string() == *text;
                if is_usual { time.encode_to_vec() } else { return Err(Unusual) }
            }
            (Self::Struct, Value::Object(object)) => {
                json::to_exact_struct(object).ok_or(Unusual)?.encode_to_vec()
            }
            (Self::Value, value) if json::rounded_in_structure(value).is_none() => {
                json::to_value(value).encode_to_vec()
            }
            _ => return Err(Unusual),
        })
    }
}

/// A whole number, also where it is written as `5.0`.
fn exact(value: &Number) -> Option<i128> {
    if let Some(n) = value.as_i64() {
        return Some(n.into());
    }
    if let Some(n) = value.as_u64() {
        return Some(n.into());
    }
    #[allow(clippy::cast_possible_truncation, reason = "whole and within ±2^53")]
    value.as_f64().filter(|n| n.fract() == 0.0 && n.abs() < json::MAX_EXACT).map(|n| n as i128)
}
