//! Loads the configuration: reads every section, refuses unknown keys, and reports all problems at once.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Admin, Agent, AgentModel, AgentRoles, Audit, Auth, Calls, Config, ConfigError, Confirmations, Console,
    Data, Http, Log, Models, Origin, Problem, Providers, Quota, Section, Server, Sources, State, Tasks,
    Telemetry, Toolsets, certified_clients, egress, file,
    reader::{ReadSetting, Reader, Registered},
    token_bindings, unknown_keys,
};

/// The configuration, and the warnings about it.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub config: Config,
    /// Values that are valid but probably mistakes.
    pub warnings: Vec<Problem>,
    /// The tokens of users and providers whose variables are not set: a server does not start without them.
    pub unset_tokens: Vec<Problem>,
    pub(super) known: Registered,
}

/// Loads the configuration: the platform's own sections and the given ones.
///
/// # Panics
/// If a flag was set that no section reads: a mistake in the command line's own code.
pub fn load(sources: &Sources, sections: &[Section]) -> Result<Loaded, ConfigError> {
    let mut reader = Reader::new(file::read(sources)?, sources);
    let config = config(&mut reader, sections);
    assert_eq!(reader.unread_flags().collect::<Vec<_>>(), [""; 0], "flags that no section requests");
    // After all sections: until then it is not known which keys there are.
    let mut problems = unknown_keys::problems(&reader);
    let Reader { problems: others, warnings, unset_tokens, known, .. } = reader;
    problems.extend(others);
    if problems.is_empty() {
        return Ok(Loaded { config, warnings, unset_tokens, known });
    }
    problems.extend(unset_tokens);
    Err(ConfigError(problems))
}

/// Reads the sections in the order in which they are printed.
fn config(reader: &mut Reader, sections: &[Section]) -> Config {
    // Before the rules, which name them.
    let toolsets = Toolsets::read(reader);
    let (auth, signers) = Auth::read(reader, &toolsets);
    let quotas = Quota::read_all(reader, &signers.issuers);
    let providers = Providers::read(reader, &auth, &signers.issuers);
    let egress = egress::read(reader);
    let (server, http, data) = (Server::read(reader), Http::read(reader), Data::read(reader));
    certified_clients::check(reader, (&auth, &providers, &signers), &server, &http);
    token_bindings::check(reader, &auth, &toolsets, &http);
    for section in sections {
        let part = section.read(reader);
        reader.parts.insert(part);
    }
    reader.on_behalf_of("");
    let confirmations = Confirmations::read(reader, !auth.is_open());
    let calls = Calls::read(reader);
    let (tasks, models) = (Tasks::read(reader), Models::read(reader));
    let (agent, agent_model) = (Agent::read(reader), AgentModel::read(reader, &models));
    let agent_roles = AgentRoles::read(reader, &models, agent_model.model.as_deref());
    let (state, log) = (State::read(reader), Log::read(reader));
    let (admin, console, audit) = (Admin::read(reader), Console::read(reader), Audit::read(reader));
    let telemetry = Telemetry::read(reader, admin.listen.is_some(), audit.otlp);
    Config {
        server,
        http,
        data,
        state,
        auth,
        egress,
        toolsets,
        quotas,
        providers,
        confirmations,
        calls,
        tasks,
        models,
        agent,
        agent_model,
        agent_roles,
        log,
        admin,
        console,
        audit,
        telemetry,
        parts: reader.parts.clone(),
    }
}

impl Loaded {
    /// The same for a server, which compares tokens: refused where one is not set.
    pub fn for_server(self) -> Result<Self, ConfigError> {
        if self.unset_tokens.is_empty() { Ok(self) } else { Err(ConfigError(self.unset_tokens)) }
    }

    /// The settings that are not replaced while a server runs and differ from those of `before`, by their keys; of
    /// tables by their headings.
    pub fn changes_for_next_start(&self, before: &Self) -> Vec<String> {
        let values = |loaded: &Self| -> BTreeMap<String, String> {
            let shown = |it: &ReadSetting| (it.setting.key.clone(), format!("{:?}", it.shown));
            let for_next_start = |it: &&ReadSetting| !it.setting.key.starts_with("calls.");
            loaded.known.settings.iter().filter(for_next_start).map(shown).collect()
        };
        let entries = |loaded: &Self| -> BTreeMap<String, Vec<String>> {
            let mut entries: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for entry in loaded.known.entries.iter().filter(|it| !is_replaced(it)) {
                entries
                    .entry(entry.lines().next().unwrap_or_default().to_owned())
                    .or_default()
                    .push(entry.clone());
            }
            entries
        };
        let values = compare(&values(self), &values(before));
        values.into_iter().chain(compare(&entries(self), &entries(before))).collect()
    }

    /// The origin of a setting's value.
    pub fn origin(&self, key: &str) -> Origin {
        let read = self.known.settings.iter().find(|read| read.setting.key == key);
        read.map(|read| read.origin.clone()).unwrap_or_default()
    }
}

/// Whether an entry is one of those that replace others while a server runs.
fn is_replaced(entry: &str) -> bool {
    ["[[auth.", "[toolsets.", "[[quota]]", "[calls.tools."].iter().any(|heading| entry.starts_with(heading))
}

/// The keys whose values differ, or that one lacks.
fn compare<T: PartialEq>(now: &BTreeMap<String, T>, before: &BTreeMap<String, T>) -> Vec<String> {
    let keys: BTreeSet<_> = now.keys().chain(before.keys()).cloned().collect();
    keys.into_iter().filter(|key| now.get(key) != before.get(key)).collect()
}
