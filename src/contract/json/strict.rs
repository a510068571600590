//! Strict parsing of JSON text: a duplicate key in an object is an error, and so is a number that would be rounded.
//!
//! A parser that takes the last one, or the next double, lets two readers of the same text see different arguments. Not
//! here: the bound on the depth, beyond the parser's own.

use std::{cell::Cell, fmt};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

use super::exact::{Inexact, first_inexact};
use toolwire_base::words::without_bom;

/// Maximum length of a key in a message, in characters.
const MAX_SHOWN: usize = 64;
/// How the parser's error for a number beyond every double begins.
const OUT_OF_RANGE: &str = "number out of range";

/// Why a text is not read.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    #[error(transparent)]
    Syntax(#[from] serde_json::Error),
    #[error("it {0}")]
    Inexact(#[from] Inexact),
}

/// The value of a JSON text. A byte order mark before it is ignored (RFC 8259 §8.1).
pub fn parse(text: &str) -> Result<Value, ParseError> {
    let text = without_bom(text);
    let has_double = Cell::new(false);
    let mut parser = serde_json::Deserializer::from_str(text);
    let value = Reader { has_double: &has_double }.deserialize(&mut parser);
    let value = value.and_then(|value| parser.end().map(|()| value));
    // Only what became a double may have been rounded.
    let may_be_inexact = match &value {
        Ok(_) => has_double.get(),
        Err(error) => error.to_string().starts_with(OUT_OF_RANGE),
    };
    match may_be_inexact.then(|| first_inexact(text)).flatten() {
        Some(inexact) => Err(inexact.into()),
        None => Ok(value?),
    }
}

/// The error for a duplicate key.
pub(super) fn duplicate_key(key: &str) -> String {
    let shown: String = key.chars().take(MAX_SHOWN).collect();
    format!("the key {shown:?} stands twice in one object")
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    has_double: &'a Cell<bool>,
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(flag.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        self.has_double.set(true);
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(duplicate_key(&key)));
            }
            let value = members.next_value_seed(self)?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_what_any_parser_makes_of_it() {
        let text = r#" {"a": [1, -2, 2.5e3, 18446744073709551615, "x\u00e9", null, true], "b": {"a": {}}} "#;
        assert_eq!(parse(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        for wrong in ["", "{", "{} {}", "NaN"] {
            assert!(matches!(parse(wrong), Err(ParseError::Syntax(_))), "{wrong:?}");
        }
    }

    #[test]
    fn a_number_that_would_be_rounded_is_an_error_at_its_pointer() {
        for (text, pointer) in [
            (r#"{"a": 1.5, "b": [0.10000000000000001]}"#, "/b/0"),
            (r#"{"wei": 18446744073709551616}"#, "/wei"),
            (r#"{"a": {"b": 1e999}, "c": "#, "/a/b"),
        ] {
            let Err(ParseError::Inexact(inexact)) = parse(text) else { panic!("{text}") };
            assert_eq!(inexact.pointer, pointer, "{text}");
        }
        // What is written last is not looked at before the syntax is right.
        assert!(matches!(parse("{\"a\" 18446744073709551616}"), Err(ParseError::Syntax(_))));
    }

    #[test]
    fn a_key_that_stands_twice_is_an_error_at_any_depth() {
        let error = parse(r#"{"a": [{"x": 1, "\u0078": 1}]}"#).unwrap_err().to_string();
        assert!(error.starts_with(r#"the key "x" stands twice in one object"#), "{error}");
        let error = parse("{\"a\": 1,\n \"a\": 2}").unwrap_err().to_string();
        assert_eq!(error, r#"the key "a" stands twice in one object at line 2 column 4"#);
        let long = "k".repeat(10_000);
        let error = parse(&format!(r#"{{"{long}": 1, "{long}": 1}}"#)).unwrap_err().to_string();
        assert!(error.len() < 200, "{error}");
    }
}
