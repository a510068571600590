//! The merged layers as typed settings, and what does not fit as a problem in our own words.

use std::collections::BTreeMap;

use figment::{Figment, error::Kind};
use serde::Deserialize;

use super::{Admin, Data, Forbidden, Log, Problem, Server, Upstreams, WaitZone, auth};

/// What the layers hold.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Settings {
    pub(super) server: Server,
    pub(super) data: Data,
    pub(super) sources: Upstreams,
    pub(super) auth: auth::Table,
    pub(super) log: Log,
    pub(super) admin: Admin,
    pub(super) wait_zone: BTreeMap<String, WaitZone>,
    pub(super) forbidden: BTreeMap<String, Forbidden>,
}

/// Reads the settings. Texts from flags and variables count as what they spell: `true`, `100`.
pub(super) fn extract(figment: &Figment) -> Result<Settings, Problem> {
    figment.extract_lossy().map_err(|error| {
        let key = error.path.join(".");
        // What was found may be a token.
        let what = if key.starts_with("auth") { expectation(&error.kind) } else { in_full(&error.kind) };
        Problem::new(key, what)
    })
}

fn in_full(kind: &Kind) -> String {
    match kind {
        Kind::Message(text) => text.clone(),
        Kind::InvalidType(found, expected) | Kind::InvalidValue(found, expected) => {
            format!("expected {expected}, but found {found}")
        }
        Kind::UnknownVariant(found, expected) => {
            format!("expected one of {}, but found {found:?}", expected.join(", "))
        }
        other => other.to_string(),
    }
}

fn expectation(kind: &Kind) -> String {
    match kind {
        Kind::Message(text) => text.clone(),
        Kind::InvalidType(_, expected) | Kind::InvalidValue(_, expected) => format!("expected {expected}"),
        Kind::MissingField(name) => format!("{name} is missing; add it"),
        Kind::UnknownField(name, known) => {
            format!("unknown key {name}; expected one of {}", known.join(", "))
        }
        _ => "not what was expected".to_owned(),
    }
}
