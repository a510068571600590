//! Values as literals of PostgreSQL, for statements that are sent as one text.
//!
//! A pooler may execute each message on another connection to the server, so that no statement can be prepared by one
//! message and executed by the next. A statement with its values is one message, and costs one round trip.

use std::fmt::Write as _;

use super::Value;

const HEX: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];

/// A statement with a literal for each `?`. No literal of a statement contains a question mark.
pub(super) fn inline(text: &str, values: Vec<Value>) -> String {
    let size: usize = values.iter().map(size).sum();
    let mut inlined = String::with_capacity(text.len() + size);
    let mut values = values.into_iter();
    for (index, part) in text.split('?').enumerate() {
        if index > 0 {
            write(&mut inlined, &values.next().unwrap_or(Value::Null));
        }
        inlined.push_str(part);
    }
    inlined
}

fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Int(_) | Value::Real(_) => 32,
        Value::Text(text) => text.len() + 16,
        Value::Bytes(bytes) => 2 * bytes.len() + 24,
    }
}

/// Writes a literal with its type, which is that of the parameter that it stands for.
fn write(to: &mut String, value: &Value) {
    match value {
        Value::Null => to.push_str("NULL"),
        Value::Int(value) => push(to, format_args!("'{value}'::bigint")),
        Value::Real(value) => push(to, format_args!("'{value}'::double precision")),
        Value::Text(text) => write_text(to, text),
        Value::Bytes(bytes) => {
            to.push_str("decode('");
            to.extend(
                bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]).map(|half| HEX[usize::from(half)]),
            );
            to.push_str("', 'hex')");
        }
    }
}

/// Writes a text so that it means the same whatever `standard_conforming_strings` is: a quote is doubled, and so is a
/// backslash, of which `E` says that it escapes.
fn write_text(to: &mut String, text: &str) {
    to.push_str("E'");
    for character in text.chars() {
        match character {
            // PostgreSQL has no character 0.
            '\0' => to.push('\u{fffd}'),
            '\'' => to.push_str("''"),
            '\\' => to.push_str("\\\\"),
            other => to.push(other),
        }
    }
    to.push_str("'::text");
}

fn push(to: &mut String, arguments: std::fmt::Arguments<'_>) {
    // A string takes whatever is written to it.
    let _ = to.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_literal_whatever_it_contains() {
        let values = vec![
            Value::Int(-5),
            Value::Real(0.1),
            Value::from("a'; DROP TABLE t; -- \\' ?\0"),
            Value::Bytes(vec![0, 255]),
            Value::Null,
        ];
        let text = inline("SELECT ?, ?, ?, ? WHERE a = ?", values);
        let expected = "SELECT '-5'::bigint, '0.1'::double precision, \
                        E'a''; DROP TABLE t; -- \\\\'' ?\u{fffd}'::text, decode('00ff', 'hex') WHERE a = NULL";
        assert_eq!(text, expected);
    }
}
