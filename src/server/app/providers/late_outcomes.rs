//! Outcomes that come late: a write whose host was lost was answered as unknown, and a repeat of it, or the task that
//! it belongs to, learns how it ended.

use std::{sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, FutureExt};
use tokio::time::sleep;

use super::parts;
use toolwire_base::{clock, offload};
use toolwire_contract::{ErrorCode, Payload, Provenance, ToolError, ToolResult};
use toolwire_engine::registry::Registry;
use toolwire_hosts::{Settle, Write, WriteRecord};
use toolwire_providers::{Spec, ids::ProviderName};
use toolwire_state::{
    Store,
    idempotency::{FoundWrite, Key, WriteState},
    tasks::Settled,
};
use toolwire_tool::context::CallId;

/// The unknown outcome is recorded after the call has ended, which the late one may overtake.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_secs(1);

pub(super) struct LateOutcomes {
    store: Arc<Store>,
    registry: Arc<Registry>,
}

impl LateOutcomes {
    pub(super) const fn new(store: Arc<Store>, registry: Arc<Registry>) -> Self {
        Self { store, registry }
    }

    /// What the outcome replaced. `None` if that could not be recorded.
    async fn replace(&self, write: &Write, outcome: Result<Payload, ToolError>) -> Option<Settled> {
        let Write { spec, user, request_id, call_id, is_of_task, is_lost } = write;
        let tool = &spec.tool;
        let key = Key { user: user.clone(), tool: tool.clone(), request_id: *request_id };
        let provenance = Provenance::of(format!("tool:{tool}:v1"), "");
        let result =
            ToolResult { tool: tool.clone(), fetched_at: clock::wall(), outcome, provenance, kept: None };
        let (mut replaced, mut is_recorded) = (Settled::default(), false);
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                sleep(PAUSE).await;
            }
            let settled = self.store.settle_unknown_call(&key, (*call_id, *is_lost), &result).await;
            is_recorded = settled.is_ok();
            match settled {
                Ok(Settled { record, wait }) => {
                    replaced = Settled { record: replaced.record || record, wait: replaced.wait || wait };
                }
                Err(error) => {
                    tracing::error!(%error, %call_id, tool_name = %tool, "a late outcome is not recorded");
                }
            }
            if replaced.record && (replaced.wait || !is_of_task) {
                break;
            }
        }
        is_recorded.then_some(replaced)
    }
}

impl Settle for LateOutcomes {
    fn find<'a>(&'a self, provider: &'a ProviderName, call: CallId) -> BoxFuture<'a, WriteRecord> {
        async move {
            let write = match self.store.find_write(call).await {
                Ok(Some(write)) => write,
                Ok(None) => return WriteRecord::Unknown,
                // It is tried again.
                Err(_) => return WriteRecord::Open,
            };
            let FoundWrite { key: Key { user, tool, request_id }, is_of_task, state } = write;
            let snapshot = self.registry.snapshot();
            // It may be offered a moment later.
            let Some(tool) = snapshot.get(&tool) else { return WriteRecord::Open };
            if tool.definition.provider() != Some(provider.as_str()) {
                return WriteRecord::Unknown;
            }
            let is_lost = match state {
                WriteState::Open => return WriteRecord::Open,
                WriteState::Known => return WriteRecord::Settled,
                WriteState::Lost => true,
                WriteState::Unknown => false,
            };
            let parts = parts(provider, &tool.definition);
            // The schema is compiled.
            match offload::run_alone(move || Spec::new(&parts)).await {
                Ok(Ok(spec)) => {
                    let spec = Arc::new(spec);
                    WriteRecord::Unresolved(Write {
                        spec,
                        user,
                        request_id,
                        call_id: call,
                        is_of_task,
                        is_lost,
                    })
                }
                _ => WriteRecord::Open,
            }
        }
        .boxed()
    }

    fn settle<'a>(&'a self, write: &'a Write, outcome: Result<Payload, ToolError>) -> BoxFuture<'a, bool> {
        async move {
            let (call_id, tool_name) = (write.call_id, &write.spec.tool);
            if outcome.as_ref().is_err_and(|error| error.code == ErrorCode::OutcomeUnknown) {
                tracing::debug!(%call_id, %tool_name, "the host does not know the outcome either");
                return true;
            }
            let Some(replaced) = self.replace(write, outcome).await else { return false };
            if replaced == Settled::default() {
                tracing::debug!(%call_id, %tool_name, "an outcome came late that nothing waits for");
            } else {
                tracing::info!(%call_id, %tool_name, "an outcome that was unknown came late");
            }
            true
        }
        .boxed()
    }
}
