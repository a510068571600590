//! Keys and variables that mean nothing: a typing mistake must not become a default in silence.

use figment::value::{Dict, Value};

use super::{Environment, Problem, client, layer, profiles, setting, upstream};

/// How alike two names must be for one to be offered for the other.
const LIKENESS: f64 = 0.85;

/// The tables of a file that are lists, checked where they are read.
const LISTS: [&str; 2] = ["auth", "sources.screener.screens"];

/// The keys of a file that are no settings. Lists and the tables of profiles are left out.
pub(super) fn keys(file: &Dict) -> Vec<Problem> {
    let mut problems = Vec::new();
    walk(file, "", &mut problems);
    problems
}

/// The variables that begin like ours and are none, but for those that hold tokens.
pub(super) fn variables<'a>(
    environment: &Environment,
    mut tokens: impl Iterator<Item = &'a str>,
) -> Vec<Problem> {
    let ours = [client::TOKEN, layer::FILE_VARIABLE];
    let is_ours = |name: &str| ours.contains(&name) || upstream::VARIABLES.contains(&name);
    let is_known = |name: &str| is_ours(name) || setting::all().any(|it| it.variable == name);
    let tokens: Vec<&str> = tokens.by_ref().collect();
    environment
        .iter()
        .filter(|(name, _)| name.starts_with("TOOLWIRE_") && !is_known(name) && !tokens.contains(name))
        .filter(|(name, _)| !is_service_link(name))
        .map(|(name, _)| {
            let near = near(name, setting::all().map(|setting| setting.variable));
            Problem::new(format!("variable {name}"), unknown(near, "variable"))
        })
        .collect()
}

/// Kubernetes sets such variables for a Service that is called `toolwire` or `toolwire-…`.
fn is_service_link(name: &str) -> bool {
    name.contains("_SERVICE_HOST")
        || name.contains("_SERVICE_PORT")
        || name.contains("_PORT_")
        || name.ends_with("_PORT")
}

fn walk(table: &Dict, prefix: &str, problems: &mut Vec<Problem>) {
    for (name, value) in table {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let is_table =
            |it: &setting::Setting| it.key.strip_prefix(&key).is_some_and(|rest| rest.starts_with('.'));
        match value {
            _ if LISTS.contains(&key.as_str()) || profiles::TABLES.contains(&key.as_str()) => {}
            _ if setting::by_key(&key).is_some() => {}
            Value::Dict(_, inner) if setting::all().any(is_table) => walk(inner, &key, problems),
            _ if setting::all().any(is_table) => {
                problems.push(Problem::new(&key, format!("expected a table [{key}]")));
            }
            _ => problems.push(Problem::new(&key, unknown_key(&key))),
        }
    }
}

fn unknown_key(key: &str) -> String {
    if key == "telemetry" {
        return "unknown setting. Traces are set by the standard OTEL_* variables; remove the table"
            .to_owned();
    }
    unknown(near(key, setting::all().map(|setting| setting.key)), "key")
}

fn unknown(near: Option<&str>, what: &str) -> String {
    match near {
        Some(near) => format!("unknown setting. Did you mean {near}?"),
        None => format!("unknown setting. `toolwire serve --print-config` shows every {what}"),
    }
}

fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |candidate: &str| strsim::jaro_winkler(name, candidate);
    let best = known.max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    (likeness(best) >= LIKENESS).then_some(best)
}
