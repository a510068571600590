//! Numbers of arguments that a message would round: integers in a field for doubles, and what a float is too narrow
//! for.

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Number, Value};

use crate::json;

/// The pointer to the first number that the message would round.
pub fn find_rounded(message: &MessageDescriptor, arguments: &Map<String, Value>) -> Option<String> {
    arguments.iter().find_map(|(name, value)| {
        let field = message.get_field_by_name(name).or_else(|| message.get_field_by_json_name(name))?;
        Some(format!("/{}{}", json::segment(name), in_field(&field, value)?))
    })
}

fn in_field(field: &FieldDescriptor, value: &Value) -> Option<String> {
    match (field.kind(), value) {
        (Kind::Message(entry), Value::Object(map)) if field.is_map() => {
            let kind = entry.map_entry_value_field().kind();
            map.iter()
                .find_map(|(key, item)| Some(format!("/{}{}", json::segment(key), in_kind(&kind, item)?)))
        }
        (kind, Value::Array(items)) if field.is_list() => {
            items.iter().enumerate().find_map(|(at, item)| Some(format!("/{at}{}", in_kind(&kind, item)?)))
        }
        (kind, value) => in_kind(&kind, value),
    }
}

fn in_kind(kind: &Kind, value: &Value) -> Option<String> {
    match (kind, value) {
        (Kind::Double, Value::Number(n)) => as_double(n).is_none().then(String::new),
        (Kind::Float, Value::Number(n)) => (!fits_float(n)).then(String::new),
        (Kind::Message(message), value) => match (message.full_name(), value) {
            ("google.protobuf.Struct" | "google.protobuf.Value", value) => json::rounded_in_structure(value),
            (_, Value::Object(object)) => find_rounded(message, object),
            _ => None,
        },
        _ => None,
    }
}

/// A number as a double, unless that is another number.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "compared with what it was made of"
)]
pub(super) fn as_double(number: &Number) -> Option<f64> {
    let integer = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    match integer {
        Some(integer) => Some(integer as f64).filter(|double| *double as i128 == integer),
        None => number.as_f64(),
    }
}

/// Whether a number has the same text as the float that is nearest to it.
#[allow(clippy::cast_possible_truncation, reason = "compared with what it was made of")]
fn fits_float(number: &Number) -> bool {
    as_double(number).is_some_and(|double| (double as f32).to_string() == double.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_integer_is_a_double_only_if_no_digit_is_lost() {
        for exact in
            [json!(0), json!(-5), json!(1_u64 << 53), json!(u64::MAX - 2047), json!(i64::MIN), json!(1.5)]
        {
            assert!(as_double(exact.as_number().expect("a number")).is_some(), "{exact}");
        }
        for rounded in [json!((1_u64 << 53) + 1), json!(u64::MAX), json!(i64::MAX), json!(-(1_i64 << 53) - 1)]
        {
            assert!(as_double(rounded.as_number().expect("a number")).is_none(), "{rounded}");
        }
    }

    #[test]
    fn a_float_holds_what_it_is_written_as() {
        let fits = |number: Value| fits_float(number.as_number().expect("a number"));
        assert!([json!(0.1), json!(149.99), json!(16_777_216), json!(-0.5)].into_iter().all(fits));
        assert!(![json!(16_777_217), json!(0.123_456_789), json!(1e300)].into_iter().any(fits));
    }
}
