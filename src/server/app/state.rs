//! The state that outlives the process: where it is kept, with the tables of all domains.

use crate::domain::Domain;
use toolwire_config as config;
use toolwire_store::{Sqlite, sqlite::TableTaken};

/// The state of a configuration, with the tables of all domains. Without a place for it, only what needs it fails.
pub(super) fn state(state: &config::State, domains: &[Domain]) -> Result<Sqlite, TableTaken> {
    let directory = state.directory();
    let kept = directory.map_or_else(|error| Sqlite::nowhere(error.to_string()), |dir| Sqlite::at(&dir));
    let kept = kept.remembering(state.request_ids);
    kept.with(domains.iter().filter_map(|domain| domain.migrations.clone()))
}
