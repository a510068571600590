//! Strict parsing of JSON text: a duplicate key in an object is an error.
//!
//! A parser that takes the last one lets two readers of the same text see different arguments. Not here: the bound on
//! the depth, beyond the parser's own.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Error, Map, Number, Value};

use toolwire_base::words::without_bom;

/// Maximum length of a key in a message, in characters.
const MAX_SHOWN: usize = 64;

/// The value of a JSON text. A byte order mark before it is ignored (RFC 8259 §8.1).
pub fn parse(text: &str) -> Result<Value, Error> {
    serde_json::from_str::<Strict>(without_bom(text)).map(|Strict(value)| value)
}

/// The error for a duplicate key.
pub(super) fn duplicate_key(key: &str) -> String {
    let shown: String = key.chars().take(MAX_SHOWN).collect();
    format!("the key {shown:?} stands twice in one object")
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
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
        while let Some(Strict(item)) = items.next_element()? {
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
            let Strict(value) = members.next_value()?;
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
        for wrong in ["", "{", "{} {}", "1e999", "NaN"] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
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
