//! The JSON body of a request, read member by member: what is wrong is reported by the member's path, and unknown
//! members are refused.
//!
//! A body that carries a conversation is text first ([`Text`]): old messages are no reason to refuse a new one, so its
//! `messages` are left to their reader, which skips what it cannot use.

use std::fmt::Display;

use axum::body::{Body, to_bytes};
use http_body_util::{BodyExt, Limited};
use serde_json::{Map, Value, value::RawValue};

use crate::service::request::{body_text, refuse};
use toolwire_contract::{
    Refusal,
    json::{self, raw},
};

/// The member that holds a conversation.
const MESSAGES: &str = "messages";

/// The text of a body that carries a conversation. It is large; drop it once it is read.
#[derive(Debug)]
pub struct Text(String);

impl Text {
    /// The whole body, which the layers above bound. Half a surrogate pair is read as U+FFFD.
    pub async fn read(body: Body) -> Result<Self, Refusal> {
        let bytes = to_bytes(body, usize::MAX).await.map_err(|_| refuse("body", "json", "broke off"))?;
        let text = body_text(&bytes)?.to_owned();
        Ok(Self(raw::without_lone_surrogates(text)))
    }

    /// The same, of a text that was read already.
    pub fn of(text: String) -> Self {
        Self(raw::without_lone_surrogates(text))
    }

    /// The messages, unread, and the other members that `is_read` names. All others are skipped.
    pub fn split(&self, is_read: impl Fn(&str) -> bool) -> Result<(Object, Option<&RawValue>), Refusal> {
        let wrong = |error: &dyn Display| refuse("body", "json", &format!("must be a JSON object: {error}"));
        if self.0.is_empty() {
            return Ok((Object::default(), None));
        }
        let raw::Members(all) = serde_json::from_str(&self.0).map_err(|error| wrong(&error))?;
        let (mut members, mut messages) = (Map::new(), None);
        for (name, text) in all {
            if name == MESSAGES {
                messages = Some(text).filter(|text| text.get() != "null");
            } else if is_read(&name) {
                let value = json::parse(text.get()).map_err(|error| wrong(&error))?;
                if !json::is_within_depth(&value) {
                    return Err(refuse(&name, "depth", "must not nest deeper than 32"));
                }
                members.insert(name, value);
            }
        }
        Ok((Object { path: String::new(), members }, messages))
    }
}

/// An object of a request's body. Reading a member takes it out.
#[derive(Debug, Default)]
pub struct Object {
    path: String,
    members: Map<String, Value>,
}

impl Object {
    /// The whole body: a JSON object, no deeper than arguments are. An empty body is an empty object.
    pub async fn read(body: Body, most: usize) -> Result<Self, Refusal> {
        let collected = Limited::new(body, most).collect().await;
        let wrong = |what: &str| refuse("body", "json", what);
        let bytes = collected.map_err(|_| wrong(&format!("must be complete, with at most {most} bytes")))?;
        let bytes = bytes.to_bytes();
        let text = body_text(&bytes)?;
        if text.is_empty() {
            return Ok(Self::default());
        }
        let value = json::parse(text).map_err(|error| wrong(&format!("must be a JSON object: {error}")))?;
        if !json::is_within_depth(&value) {
            return Err(refuse("body", "depth", "must not nest deeper than 32"));
        }
        Self::of(String::new(), value)
    }

    pub fn of(path: String, value: Value) -> Result<Self, Refusal> {
        match value {
            Value::Object(members) => Ok(Self { path, members }),
            _ => Err(refuse(if path.is_empty() { "body" } else { &path }, "type", "must be an object")),
        }
    }

    /// The path of a member, such as `messages[0].content`.
    pub fn path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// A member; `null` is absent.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        self.members.remove(key).filter(|value| !value.is_null())
    }

    /// A text; empty if there is none.
    pub fn text(&mut self, key: &str) -> Result<String, Refusal> {
        match self.take(key) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(refuse(&self.path(key), "type", "must be a string")),
        }
    }

    /// A whole number; 0 if there is none.
    pub fn number(&mut self, key: &str) -> Result<u32, Refusal> {
        match self.take(key) {
            None => Ok(0),
            Some(value) => value
                .as_u64()
                .and_then(|number| u32::try_from(number).ok())
                .ok_or_else(|| refuse(&self.path(key), "type", "must be a whole number from 0 on")),
        }
    }

    /// An object; `None` if there is none.
    pub fn object(&mut self, key: &str) -> Result<Option<Self>, Refusal> {
        self.take(key).map(|value| Self::of(self.path(key), value)).transpose()
    }

    /// A list; empty if there is none.
    pub fn list(&mut self, key: &str) -> Result<Vec<Value>, Refusal> {
        match self.take(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(list)) => Ok(list),
            Some(_) => Err(refuse(&self.path(key), "type", "must be a list")),
        }
    }

    pub fn texts(&mut self, key: &str) -> Result<Vec<String>, Refusal> {
        let path = self.path(key);
        let text = |value| match value {
            Value::String(text) => Ok(text),
            _ => Err(refuse(&path, "type", "must be a list of strings")),
        };
        self.list(key)?.into_iter().map(text).collect()
    }

    /// Checks that every member was read.
    pub fn finish(self) -> Result<(), Refusal> {
        match self.members.keys().next() {
            None => Ok(()),
            Some(key) => {
                let key: String = key.chars().take(64).collect();
                Err(refuse(&self.path(&key), "unknown", "is not a member that this route reads"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Object {
        Object::of(String::new(), value).unwrap()
    }

    #[test]
    fn what_is_wrong_is_said_by_its_path() {
        let mut whole = object(json!({"inner": {"text": 5}, "count": -1, "names": ["a", 1]}));
        let mut inner = whole.object("inner").unwrap().unwrap();
        let said = [
            inner.text("text").unwrap_err(),
            whole.number("count").unwrap_err(),
            whole.texts("names").unwrap_err(),
        ];
        let paths = said.map(|refusal| match refusal {
            Refusal::InvalidRequest(violations) => violations[0].pointer.clone(),
            other => panic!("{other:?}"),
        });
        assert_eq!(paths, ["inner.text", "count", "names"]);
    }

    #[test]
    fn a_member_that_nobody_reads_is_refused_and_null_is_absent() {
        let mut whole = object(json!({"text": null, "user_id": "sam"}));
        assert_eq!(whole.text("text").unwrap(), "");
        assert!(whole.finish().unwrap_err().to_string().contains("is not a member"));
    }

    #[tokio::test]
    async fn a_body_is_an_object_within_bounds() {
        let read = |text: &'static str| Object::read(Body::from(text), 20);
        assert!(read("").await.is_ok());
        assert!(read(r#"{"a":1}"#).await.is_ok());
        for wrong in ["[1]", r#"{"a":1,"a":2}"#, "{", r#"{"a":"0123456789abcdef"}"#] {
            assert!(read(wrong).await.is_err(), "{wrong}");
        }
    }
}
