//! Recorded calls, for listing and for decisions.

use std::sync::Arc;

use crate::service::{
    Records,
    audit::Audit,
    calls::{self, Calls},
    confirmations::{self, Confirmations},
};
use toolwire_config::Config;
use toolwire_contract::ConsoleLinks;
use toolwire_engine::{
    pipeline::{Pipeline, Policy},
    registry::Registry,
};
use toolwire_state::Store;

/// Made over the state, and over the calls that run in the pipeline.
pub(super) fn records(
    config: &Config,
    state: &Arc<Store>,
    registry: &Arc<Registry>,
    policy: &Arc<dyn Policy>,
    pipeline: &Arc<Pipeline>,
) -> Records {
    let calls = Calls::new(calls::Parts {
        store: Arc::clone(state) as _,
        confirmations: Arc::clone(state),
        registry: Arc::clone(registry),
        policy: Arc::clone(policy),
        in_flight: pipeline.in_flight().clone(),
        cap: config.server.deadline_cap,
        console: ConsoleLinks::new(config.console_url().as_deref()),
        recorder: pipeline.recorder().clone(),
    });
    Records { calls, audit: Audit::new(Arc::clone(state), Arc::clone(policy)) }
}

/// Made over the state.
pub(super) fn confirmations(
    config: &Config,
    state: &Arc<Store>,
    registry: &Arc<Registry>,
    policy: &Arc<dyn Policy>,
) -> Confirmations {
    Confirmations::new(confirmations::Parts {
        store: Arc::clone(state),
        registry: Arc::clone(registry),
        policy: Arc::clone(policy),
        own_calls: config.confirmations.own_calls,
        use_within: config.confirmations.use_within,
        console: ConsoleLinks::new(config.console_url().as_deref()),
    })
}
