//! The parts of a definition that have parts themselves. A manifest states the same ones.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::registry::words::{CacheScope, CacheTier};

#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    pub description: String,
    /// Arguments that satisfy the input schema.
    pub arguments: Map<String, Value>,
}

/// The source a tool reads from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name, such as `warehouse`.
    pub name: String,
    /// The parts of it that the tool needs.
    pub sections: Vec<String>,
}

/// How results may be cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachePolicy {
    /// How long a result is fresh.
    pub ttl: Duration,
    pub tier: CacheTier,
    /// Whom a result may answer.
    pub scope: CacheScope,
}

/// Whether a tool can be called now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Status {
    #[default]
    Ready,
    /// It can, but calls will fail for this reason.
    Degraded(String),
    /// It cannot, for this reason.
    Disabled(String),
}
