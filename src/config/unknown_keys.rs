//! Unknown keys and variables: a typing mistake must not become a default in silence.

use std::iter;

use super::{
    Problem, client,
    near::did_you_mean,
    raw_value::{Entries, RawValue},
    reader::{Reader, Registered},
    sources::FILE_VARIABLE,
};

/// The table with what of telemetry is no standard variable.
const TELEMETRY: &str = "telemetry.";

/// Begins the variables of this repository's tests, which programs that tests start inherit.
const OF_TESTS: &str = "TOOLWIRE_TEST_";

/// The keys of the file and the variables that were never requested.
pub(super) fn problems(reader: &Reader) -> Vec<Problem> {
    let mut problems = Vec::new();
    walk(&reader.file, "", &reader.known, &mut problems);
    problems.extend(variables(reader));
    problems
}

/// The variables that begin like ours and are none.
fn variables(reader: &Reader) -> impl Iterator<Item = Problem> {
    let known = &reader.known;
    let is_known = |name: &str| {
        client::VARIABLES.contains(&name) || name == FILE_VARIABLE || known.variables.contains(name)
    };
    let unknown = reader.environment().iter().map(|(name, _)| name);
    let unknown = unknown.filter(|name| name.starts_with("TOOLWIRE_") && !name.starts_with(OF_TESTS));
    unknown.filter(move |name| !is_known(name) && !is_service_link(name)).map(|name| {
        let meant = did_you_mean(name, known.settings.iter().map(|read| read.setting.variable.as_str()));
        Problem::new(format!("variable {name}"), unknown_name(meant, "variable"))
    })
}

/// Kubernetes sets such variables for a Service that is called `toolwire` or `toolwire-…`.
fn is_service_link(name: &str) -> bool {
    name.contains("_SERVICE_HOST")
        || name.contains("_SERVICE_PORT")
        || name.contains("_PORT_")
        || name.ends_with("_PORT")
}

fn walk(table: &Entries, prefix: &str, known: &Registered, problems: &mut Vec<Problem>) {
    for (name, said) in table {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let is_below = |other: &str| other.strip_prefix(&key).is_some_and(|rest| rest.starts_with('.'));
        let keys = || keys(known);
        match &said.value {
            _ if keys().any(|other| other == key) => {}
            RawValue::Table(inner) if keys().any(is_below) => walk(inner, &key, known, problems),
            _ => {
                let what = if keys().any(is_below) {
                    format!("expected a table [{key}], but found {}", said.value)
                } else {
                    unknown_key(&key, known)
                };
                problems.push(Problem::new(said.origin.place(&key), what));
            }
        }
    }
}

fn keys(known: &Registered) -> impl Iterator<Item = &str> {
    let settings = known.settings.iter().map(|read| read.setting.key.as_str());
    settings.chain(known.tables.iter().map(String::as_str))
}

/// A key, and the tables that it stands in.
fn with_tables(key: &str) -> impl Iterator<Item = &str> {
    iter::successors(Some(key), |inner| inner.rsplit_once('.').map(|(table, _)| table))
}

fn unknown_key(key: &str, known: &Registered) -> String {
    let settings = keys(known).filter_map(|other| other.strip_prefix(TELEMETRY));
    if key.strip_prefix(TELEMETRY).is_some_and(|name| did_you_mean(name, settings).is_none()) {
        return "unknown setting. What is exported is set by the standard OTEL_* variables; remove it"
            .to_owned();
    }
    unknown_name(did_you_mean(key, keys(known).flat_map(with_tables)), "key")
}

fn unknown_name(meant: Option<String>, what: &str) -> String {
    meant.unwrap_or_else(|| format!("unknown setting. `toolwire serve --print-config` shows every {what}"))
}
