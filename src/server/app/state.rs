//! The state that outlives the process: where it is kept, with the tables of all domains.

use crate::domain::Domain;
use toolwire_config as config;
use toolwire_db::TableTaken;
use toolwire_state::Store;

/// The state of a configuration, with the tables of all domains. Without a place for it, only what needs it fails.
pub(super) fn state(state: &config::State, domains: &[Domain]) -> Result<Store, TableTaken> {
    let kept = match (&state.database, state.directory()) {
        (Some(database), _) => Store::in_postgres(database.clone()),
        (None, Ok(directory)) => Store::at(&directory),
        (None, Err(error)) => Store::unavailable(error.to_string()),
    };
    let kept = kept.with_calls_quota(state.request_ids);
    kept.with_tables(domains.iter().filter_map(|domain| domain.migrations.clone()))
}
