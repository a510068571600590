//! The stages of one call: as this process noted them, or as far as its record tells.

use std::time::SystemTime;

use super::{Calls, Record};
use toolwire_engine::pipeline::{CallInfo, Stage, Stages};

/// A stage, and when it began.
pub type StageBeginning = (Stage, SystemTime);

/// The stages of a call with the instants at which they began.
pub(super) fn beginnings(info: &CallInfo, stages: Stages) -> Vec<StageBeginning> {
    stages.list().into_iter().map(|(stage, after)| (stage, info.arrived.wall + after)).collect()
}

impl Calls {
    /// The stages of a call that the user may see, in order of time.
    pub async fn stages(&self, record: &Record) -> Vec<StageBeginning> {
        let (running, ended) = self.0.in_flight.list(|seen| seen.call_id == record.call_id);
        if let Some(call) = running.first() {
            return beginnings(&call.info, call.facts.stages());
        }
        match ended.last() {
            Some(call) => beginnings(&call.info, call.stages),
            None => self.recorded_stages(record).await,
        }
    }

    /// The stages that the record of a call and its confirmation tell.
    async fn recorded_stages(&self, record: &Record) -> Vec<StageBeginning> {
        let mut stages = vec![(Stage::Received, record.arrived_at)];
        let confirmation = match record.confirmation_id.parse() {
            Ok(id) => self.0.confirmations.confirmation(&id).await.ok().flatten(),
            Err(_) => None,
        };
        if let Some(confirmation) = confirmation {
            stages.push((Stage::AwaitingConfirmation, confirmation.created_at));
            stages.extend(confirmation.used.map(|(at, _)| (Stage::Recording, at)));
        }
        stages.sort_by_key(|(stage, at)| (*at, *stage));
        stages
    }
}
