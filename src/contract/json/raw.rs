//! Partial parsing of JSON text: the members that a reader needs, each as its raw text. The rest is skipped and never
//! becomes a value, whatever its depth, size and content.
//!
//! Not here: the whole value of a text (`strict`).

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Maximum number of members of an object that is read whole: each costs memory, and no reader knows nearly as many.
const MAX_MEMBERS: usize = 256;

/// The last member of each name in an object; `None` if the text is no object.
pub fn pick<'a, const N: usize>(text: &'a str, names: [&str; N]) -> Option<[Option<&'a RawValue>; N]> {
    serde_json::Deserializer::from_str(text).deserialize_map(Pick(names)).ok()
}

/// The value of a text, if it is of that type.
pub fn value<'a, T: Deserialize<'a>>(text: &'a RawValue) -> Option<T> {
    serde_json::from_str(text.get()).ok()
}

/// Calls `take` with each element of a list, in order; `None` if the text is no list.
pub fn each(text: &RawValue, take: impl FnMut(&RawValue)) -> Option<()> {
    serde_json::Deserializer::from_str(text.get()).deserialize_seq(Each(take)).ok()
}

/// The members of an object in their order, each name once.
#[derive(Debug)]
pub struct Members<'a>(pub Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(AllMembers(PhantomData))
    }
}

struct Each<F>(F);

impl<'de, F: FnMut(&RawValue)> Visitor<'de> for Each<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element::<&RawValue>()? {
            self.0(element);
        }
        Ok(())
    }
}

struct Pick<'n, const N: usize>([&'n str; N]);

impl<'de, const N: usize> Visitor<'de> for Pick<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut picked = [None; N];
        while let Some(key) = members.next_key::<Cow<'_, str>>()? {
            match self.0.iter().position(|name| *name == key) {
                Some(at) => picked[at] = Some(members.next_value()?),
                None => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(picked)
    }
}

struct AllMembers<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for AllMembers<'a> {
    type Value = Members<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut all: Vec<(String, &RawValue)> = Vec::new();
        while let Some(key) = members.next_key::<String>()? {
            if all.iter().any(|(known, _)| *known == key) {
                return Err(A::Error::custom(super::strict::duplicate_key(&key)));
            }
            if all.len() == MAX_MEMBERS {
                let what = format_args!("the object has more than {MAX_MEMBERS} members");
                return Err(A::Error::custom(what));
            }
            all.push((key, members.next_value()?));
        }
        Ok(Members(all))
    }
}

/// The text with U+FFFD in place of each `\u` escape that is half of a surrogate pair: a text that was cut within an
/// emoji. JSON allows it, and no Unicode string can hold it.
pub fn without_lone_surrogates(text: String) -> String {
    let mut bytes = text.into_bytes();
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'\\') {
        at += found;
        at += match (code_unit(&bytes, at), code_unit(&bytes, at + ESCAPE)) {
            (None, _) => 2,
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 2 * ESCAPE,
            (Some(0xd800..=0xdfff), _) => {
                bytes[at..at + ESCAPE].copy_from_slice(br"\ufffd");
                ESCAPE
            }
            (Some(_), _) => ESCAPE,
        };
        if at >= bytes.len() {
            break;
        }
    }
    String::from_utf8(bytes).expect("ASCII took the place of ASCII")
}

/// The length of `\u` and four digits.
const ESCAPE: usize = 6;

/// The code unit of the `\u` escape at an offset, if there is one.
fn code_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + ESCAPE)?.strip_prefix(br"\u")?;
    u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_asked_for_is_not_read() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let text = format!(r#"{{"a": {deep}, "b": "\ud800", "c": 1, "c": {{"d": 1, "d": 2}}, "e": 1e999}}"#);
        let [c, d] = pick(&text, ["c", "d"]).unwrap();
        assert_eq!((c.map(RawValue::get), d.map(RawValue::get)), (Some(r#"{"d": 1, "d": 2}"#), None));
        assert!(pick("[1]", ["a"]).is_none() && pick("{", ["a"]).is_none());
    }

    #[test]
    fn a_name_that_stands_twice_is_an_error_where_all_members_are_read() {
        let members: Members<'_> = serde_json::from_str(r#"{"a": [1], "b": {"c": 1, "c": 2}}"#).unwrap();
        assert_eq!(members.0.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        let error = serde_json::from_str::<Members<'_>>(r#"{"a": 1, "a": 2}"#).unwrap_err().to_string();
        assert!(error.starts_with(r#"the key "a" stands twice in one object"#), "{error}");
    }

    #[test]
    fn half_a_surrogate_pair_becomes_a_replacement_character() {
        for (text, mended) in [
            (r#""\ud83d\ude00 \ud83d""#, "😀 \u{fffd}"),
            (r#""\ude00\ud83d\ud83d\ude00""#, "\u{fffd}\u{fffd}😀"),
            (r#""\\ud800 \"\uD800\\""#, "\\ud800 \"\u{fffd}\\"),
            (r#""é\u00e9\n""#, "éé\n"),
        ] {
            let read: String = serde_json::from_str(&without_lone_surrogates(text.to_owned())).unwrap();
            assert_eq!(read, mended, "{text}");
        }
        for broken in [r"\", r"\u", r"\ud8", r"\ud800", r"\ud800\u", "\\ué€", ""] {
            assert_eq!(without_lone_surrogates(broken.to_owned()).len(), broken.len(), "{broken}");
        }
    }
}
