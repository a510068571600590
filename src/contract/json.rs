//! JSON values: to and from `google.protobuf.Struct`, and the bound on their depth.
//!
//! A structure has no number but doubles, so an integer beyond ±2^53 goes neither in nor out by one: as a double it
//! cannot be known to be what was written.

mod duplicate;
mod exact;
mod length;
pub mod raw;
mod strict;

use prost_types::{ListValue, Struct, Value as ProtoValue, value::Kind};
use serde::Serialize;
use serde_json::{Map, Number, Value};

pub(crate) use self::exact::segment;
pub use self::{
    duplicate::first_duplicate,
    exact::{Inexact, first_inexact, is_exact},
    length::{is_longer, min_length},
    strict::{ParseError, parse},
};

/// The deepest nesting that arguments may have; the object itself is level 1.
pub const MAX_DEPTH: usize = 32;

/// 2^53: from here on integers are not exact as a double.
pub const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
/// 2^256: no integer that programs exchange is longer, so that a whole double beyond it is one that was meant.
const MAX_INTEGER: f64 = 1.157_920_892_373_162e77;

/// Whether a value is nested no deeper than [`MAX_DEPTH`].
pub fn is_within_depth(value: &Value) -> bool {
    nests_within(value, MAX_DEPTH)
}

/// Whether a value nests no deeper than a number of levels; a text, a number or the like has none.
pub fn nests_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| nests_within(item, levels - 1)),
        Value::Object(map) => levels > 0 && map.values().all(|item| nests_within(item, levels - 1)),
        _ => true,
    }
}

/// A number as JSON shows it: whole numbers without a fraction; `null` for what JSON cannot express.
pub fn number(value: f64) -> Value {
    #[allow(clippy::cast_possible_truncation, reason = "whole and within ±2^53")]
    if value.fract() == 0.0 && value.abs() < MAX_EXACT {
        return Value::Number(Number::from(value as i64));
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// A text that is the same for equal objects: keys in order, whole numbers without a fraction, integers exact. RFC 8785
/// would round integers beyond 2^53, and so take two values for one.
pub fn canonical(map: &Map<String, Value>) -> String {
    let mut text = Vec::new();
    write_object(map, &mut text);
    String::from_utf8(text).expect("JSON is UTF-8")
}

fn write_object(map: &Map<String, Value>, text: &mut Vec<u8>) {
    let mut members: Vec<_> = map.iter().collect();
    members.sort_unstable_by_key(|(key, _)| *key);
    text.push(b'{');
    for (index, (key, item)) in members.into_iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        write_plain(key, text);
        text.push(b':');
        write(item, text);
    }
    text.push(b'}');
}

fn write(value: &Value, text: &mut Vec<u8>) {
    match value {
        Value::Object(map) => write_object(map, text),
        Value::Array(items) => write_list(items, text, write),
        Value::Number(n) if n.is_f64() => write_plain(&n.as_f64().map_or(Value::Null, number), text),
        other => write_plain(other, text),
    }
}

/// Writes the items between brackets, without space.
pub fn write_list<T>(items: &[T], text: &mut Vec<u8>, write: impl Fn(&T, &mut Vec<u8>)) {
    text.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        write(item, text);
    }
    text.push(b']');
}

/// Writes a value that `serde_json` and RFC 8785 write alike: anything but an object or a non-integer number.
pub fn write_plain<T: Serialize + ?Sized>(value: &T, text: &mut Vec<u8>) {
    serde_json::to_writer(text, value).expect("a text takes whatever is written");
}

/// The JSON object of a structure.
pub fn from_struct(structure: Struct) -> Map<String, Value> {
    structure.fields.into_iter().map(|(key, value)| (key, from_value(value))).collect()
}

/// The first number of a structure that may not be what was written, with its pointer.
pub fn doubtful(structure: &Struct) -> Option<(String, f64)> {
    let mut members = structure.fields.iter();
    members.find_map(|(key, value)| doubtful_in(value).map(|(pointer, n)| (below(key, &pointer), n)))
}

pub(crate) fn doubtful_in(value: &ProtoValue) -> Option<(String, f64)> {
    match &value.kind {
        Some(Kind::NumberValue(n)) => is_doubtful(*n).then(|| (String::new(), *n)),
        Some(Kind::StructValue(structure)) => doubtful(structure),
        Some(Kind::ListValue(list)) => {
            let mut items = list.values.iter().enumerate();
            items.find_map(|(at, item)| doubtful_in(item).map(|(pointer, n)| (format!("/{at}{pointer}"), n)))
        }
        _ => None,
    }
}

/// Whether another number may have been made this double, or JSON cannot express it.
pub fn is_doubtful(number: f64) -> bool {
    !number.is_finite() || (number.fract() == 0.0 && (MAX_EXACT..MAX_INTEGER).contains(&number.abs()))
}

/// The pointer to the first integer of a value that a structure may round.
pub fn rounded_in_structure(value: &Value) -> Option<String> {
    find_number(value, |n| !fits_structure(n)).map(|(pointer, _)| pointer)
}

/// The same of a value whose text is not known: its parser may have made doubles of longer integers.
pub fn doubtful_number(value: &Value) -> Option<(String, f64)> {
    let is_like = |n: &Number| n.is_f64() && n.as_f64().is_some_and(is_doubtful);
    find_number(value, is_like).and_then(|(pointer, n)| Some((pointer, n.as_f64()?)))
}

/// What is expected in place of a doubtful number, as the end of a message.
pub fn not_doubtful(pointer: &str, number: f64) -> String {
    if number.is_finite() {
        format!(
            "must hold no integer beyond ±2^53 where a double carries it, but there is {number:e} at {pointer:?}; send \
             JSON text in place of a structure, or write the number as a text where one is taken"
        )
    } else {
        format!("must hold no NaN and no infinity, but there is one at {pointer:?}")
    }
}

/// The first number of a parsed value that is like one, with its pointer.
fn find_number(value: &Value, is_like: fn(&Number) -> bool) -> Option<(String, &Number)> {
    match value {
        Value::Number(n) => is_like(n).then(|| (String::new(), n)),
        Value::Array(items) => items.iter().enumerate().find_map(|(at, item)| {
            find_number(item, is_like).map(|(pointer, n)| (format!("/{at}{pointer}"), n))
        }),
        Value::Object(map) => map
            .iter()
            .find_map(|(key, item)| find_number(item, is_like).map(|(pointer, n)| (below(key, &pointer), n))),
        _ => None,
    }
}

pub(crate) fn fits_structure(number: &Number) -> bool {
    number.is_f64() || number.as_i64().is_some_and(|n| is_small(n.into()))
}

/// Whether an integer is within ±2^53, where no other one has the same double.
pub(crate) fn is_small(integer: i128) -> bool {
    integer.unsigned_abs() < 1 << 53
}

/// A pointer below a member.
fn below(key: &str, pointer: &str) -> String {
    format!("/{}{pointer}", segment(key))
}

/// The JSON value of a protobuf value.
pub fn from_value(value: ProtoValue) -> Value {
    match value.kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::NumberValue(n)) => number(n),
        Some(Kind::StringValue(text)) => Value::String(text),
        Some(Kind::BoolValue(flag)) => Value::Bool(flag),
        Some(Kind::StructValue(structure)) => Value::Object(from_struct(structure)),
        Some(Kind::ListValue(list)) => list.values.into_iter().map(from_value).collect(),
    }
}

/// The structure of a JSON object, unless it would round an integer.
pub fn to_exact_struct(map: &Map<String, Value>) -> Option<Struct> {
    map.values().all(|value| find_number(value, |n| !fits_structure(n)).is_none()).then(|| to_struct(map))
}

/// The same for any value: one that is not an object becomes the member `value`.
pub fn to_exact_struct_of(value: &Value) -> Option<Struct> {
    match value {
        Value::Object(map) => to_exact_struct(map),
        other if rounded_in_structure(other).is_some() => None,
        other => Some(Struct { fields: [("value".to_owned(), to_value(other))].into() }),
    }
}

/// The structure of a JSON object. Integers beyond ±2^53 are rounded: for schemas, and for what has none.
pub fn to_struct(map: &Map<String, Value>) -> Struct {
    Struct { fields: map.iter().map(|(key, value)| (key.clone(), to_value(value))).collect() }
}

/// The protobuf value of a JSON value.
pub fn to_value(value: &Value) -> ProtoValue {
    let kind = match value {
        Value::Null => Kind::NullValue(0),
        Value::Bool(flag) => Kind::BoolValue(*flag),
        Value::Number(n) => Kind::NumberValue(n.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => Kind::StringValue(text.clone()),
        Value::Array(items) => Kind::ListValue(ListValue { values: items.iter().map(to_value).collect() }),
        Value::Object(map) => Kind::StructValue(to_struct(map)),
    };
    ProtoValue { kind: Some(kind) }
}

/// Size of the encoded structure of a JSON object, without making it.
pub fn struct_len(map: &Map<String, Value>) -> usize {
    let member = |(key, value): (&String, &Value)| {
        // An empty key is left out, as every default value of an entry is.
        let key = if key.is_empty() { 0 } else { field_len(key.len()) };
        field_len(key + field_len(value_len(value)))
    };
    map.iter().map(member).sum()
}

fn value_len(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 2,
        Value::Number(_) => 9,
        Value::String(text) => field_len(text.len()),
        Value::Array(items) => field_len(items.iter().map(|item| field_len(value_len(item))).sum()),
        Value::Object(map) => field_len(struct_len(map)),
    }
}

/// Size of a field with a content of this many bytes: its tag and its length come first.
fn field_len(bytes: usize) -> usize {
    1 + prost::length_delimiter_len(bytes) + bytes
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_structure_keeps_its_value_both_ways() {
        let value = json!({"a": [1, 2.5, "x", null, true], "b": {"c": {}}});
        let map = value.as_object().expect("an object").clone();
        assert_eq!(from_struct(to_struct(&map)), map);
    }

    #[test]
    fn a_structure_is_as_long_as_it_is_measured() {
        let long = "x".repeat(20_000);
        let value = json!({
            "a": [1, 2.5, "x", null, true, [], [[]], {}], "b": {"c": {}, "": ""}, "": [long.clone()], "d": long,
            "e": vec![0; 300],
        });
        let map = value.as_object().expect("an object");
        assert_eq!(struct_len(map), to_struct(map).encoded_len());
        assert_eq!(struct_len(&Map::new()), 0);
    }

    #[test]
    fn whole_numbers_have_no_fraction() {
        assert_eq!(number(42.0).to_string(), "42");
        assert_eq!(number(193.12).to_string(), "193.12");
        assert_eq!(number(f64::NAN), Value::Null);
    }

    #[test]
    fn a_number_of_a_structure_that_may_not_be_what_was_written_is_found_at_any_depth() {
        let of = |number: f64| {
            let number = ProtoValue { kind: Some(Kind::NumberValue(number)) };
            let list = ProtoValue { kind: Some(Kind::ListValue(ListValue { values: vec![number] })) };
            Struct { fields: [("a/b".to_owned(), list)].into() }
        };
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, MAX_EXACT, -MAX_EXACT, 1e24, -1e77] {
            assert_eq!(doubtful(&of(number)).expect("found").0, "/a~1b/0", "{number}");
        }
        for number in [0.0, -1.5, MAX_EXACT - 1.0, 1.0 - MAX_EXACT, 5e-324, 1e78, -1e300] {
            assert_eq!(doubtful(&of(number)), None, "{number}");
        }
    }

    #[test]
    fn an_integer_that_a_structure_would_round_makes_none() {
        let of = |number: Value| json!({"a": [{"b": number}]}).as_object().expect("an object").clone();
        for integer in [json!(1_u64 << 53), json!(-(1_i64 << 53)), json!(u64::MAX), json!(i64::MIN)] {
            assert_eq!(to_exact_struct(&of(integer.clone())), None);
            assert_eq!(rounded_in_structure(&of(integer).into()).as_deref(), Some("/a/0/b"));
        }
        for number in [json!((1_u64 << 53) - 1), json!(-5), json!(1e300), json!(0.1)] {
            assert!(to_exact_struct(&of(number)).is_some());
        }
    }

    #[test]
    fn equal_values_have_one_canonical_text_and_others_another() {
        let canonical = |text: &str| super::canonical(&serde_json::from_str(text).expect("an object"));
        assert_eq!(
            canonical(r#"{"b": [1.0, {"d": 1, "c": 2.50}], "a": -0.0}"#),
            r#"{"a":0,"b":[1,{"c":2.5,"d":1}]}"#
        );
        assert_ne!(canonical(r#"{"a":9007199254740993}"#), canonical(r#"{"a":9007199254740992}"#));
        assert_eq!(canonical(r#"{"é\"": "a\u0000\nb"}"#), r#"{"é\"":"a\u0000\nb"}"#);
    }

    #[test]
    fn depth_is_counted_in_levels_of_nesting() {
        let nested = |levels| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        assert!(is_within_depth(&nested(MAX_DEPTH)));
        assert!(!is_within_depth(&nested(MAX_DEPTH + 1)));
    }
}
