//! The structured parts that manifests and definitions share.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de::Error};
use serde_json::{Map, Value, json};

use super::keys::{alias, keys, text, texts, whole, whole_number};
use crate::registry::words::{CacheScope, CacheTier};
use toolwire_base::duration;

keys! {
    /// A call that is valid.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Example {
        /// What the call asks for.
        "description" () pub description: String = text(),
        /// The arguments of the call.
        "arguments" () pub arguments: Map<String, Value> = json!({"type": "object"}),
    }
}

keys! {
    /// The source a tool reads from.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Source {
        /// The source's name.
        "name" () pub name: String = text(),
        /// The parts of the source, or of its data, without which the tool cannot answer.
        "sections" (default) pub sections: Vec<String> = texts(),
    }
}

keys! {
    /// The provider that executes a tool of a file.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Upstream {
        /// The name of the provider, as in `[providers.NAME]`. A host of it offers the tool under the same name.
        "provider" () pub provider: String = text(),
    }
}

keys! {
    /// How results may be cached.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CachePolicy {
        /// How long a result is fresh: seconds, or a text such as 500ms, 90s, 15m, 24h.
        "ttl" (alias = "ttl_s", deserialize_with = "length") pub ttl: Duration = length_form(),
        /// Where results are kept.
        "tier" () pub tier: CacheTier = CacheTier::form(),
        /// Whether one user's result may answer another. Default user.
        "scope" (default) pub scope: CacheScope = CacheScope::form(),
    }
}

impl CachePolicy {
    /// [`Self::schema`] with both names of `ttl`.
    pub(super) fn form() -> Value {
        let mut schema = Self::schema();
        alias(&mut schema, "ttl", "ttl_s");
        schema
    }
}

fn length_form() -> Value {
    let text = json!({
        "type": "string",
        "pattern": duration::PATTERN,
        // Longer texts would overflow.
        "maxLength": 12,
        "not": {"pattern": "^[0.]+ *[a-z]+$"}
    });
    let words = format!("must be a number of seconds, at least 1, or {}; not 0", duration::EXPECTED);
    json!({"anyOf": [whole(1), text], "errorMessage": words})
}

fn length<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => duration::parse(&text).map_err(D::Error::custom),
        number => {
            whole_number(&number).map(Duration::from_secs).ok_or_else(|| D::Error::custom("expected seconds"))
        }
    }
}

/// Whether a tool can be called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Status {
    #[default]
    Ready,
    /// Callable, but calls will fail for this reason.
    Degraded(String),
    /// Not callable, for this reason.
    Disabled(String),
}
