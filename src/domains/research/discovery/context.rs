//! The context of a discovery: it reports progress, calls tools, and records what was left out, why, and what
//! contributed.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::proto::v1::{SkippedPart, SourceAlert};
use toolwire_agent_api::{
    CompletedCall,
    job::{JobUpdate, Run},
};
use toolwire_base::words::one_line;
use toolwire_contract::{ErrorCode, Provenance, ToolError};
use toolwire_engine::pipeline::Target;

/// Maximum number of parts that are recorded as left out.
const MAX_SKIPPED: usize = 64;

/// The progress of a discovery at its steps, in percent.
pub(super) mod at {
    pub(in super::super) const START: u32 = 10;
    pub(in super::super) const BROWSED: u32 = 30;
    pub(in super::super) const DISCOVERED: u32 = 32;
    pub(in super::super) const PICKED: u32 = 35;
    pub(in super::super) const DRILLED: u32 = 50;
    pub(in super::super) const FILTERED: u32 = 80;
    pub(in super::super) const END: u32 = 100;

    /// The percentage after `done` of `all` parts between two others.
    pub(in super::super) fn share(from: u32, to: u32, done: usize, all: usize) -> u32 {
        let (done, all) = (u32::try_from(done).unwrap_or(u32::MAX), u32::try_from(all).unwrap_or(u32::MAX));
        from + (to - from).saturating_mul(done) / all.max(1)
    }
}

/// The context of one discovery.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) run: &'a dyn Run,
    /// What was left out.
    pub(super) skipped: Vec<SkippedPart>,
    /// Sources that refuse us.
    pub(super) alerts: Vec<SourceAlert>,
    /// The sources of all data, in the order in which they contributed.
    pub(super) sources: Vec<String>,
    /// The oldest date of all data.
    pub(super) as_of: String,
    /// Whether the time ran out before every call was made.
    pub(super) is_late: bool,
    /// What `skipped` holds, to record each part once.
    recorded: BTreeSet<(String, String)>,
}

impl<'a> Context<'a> {
    pub(super) fn new(run: &'a dyn Run) -> Self {
        Self {
            run,
            skipped: Vec::new(),
            alerts: Vec::new(),
            sources: Vec::new(),
            as_of: String::new(),
            is_late: false,
            recorded: BTreeSet::new(),
        }
    }

    /// Reports progress, and the step that begins.
    pub(super) async fn report(&self, percent: u32, step: &str, message: &str, call_id: &str) {
        let (step, message, call_id) = (step.to_owned(), one_line(message), call_id.to_owned());
        self.run.say(JobUpdate { percent, step, message, call_id }).await;
    }

    /// Whether no further call is made: a source refuses us, or the time is used up.
    pub(super) fn is_stopped(&self) -> bool {
        !self.alerts.is_empty() || !self.run.has_time()
    }

    /// The message that a call begins with, if the user may make it.
    pub(super) fn progress_message(&self, target: &Target, arguments: &Map<String, Value>) -> Option<String> {
        let tool = self.run.find(target)?;
        let words = self.run.doing(&tool, arguments);
        Some(words.unwrap_or_else(|| format!("Reading {}…", tool.definition.title.to_lowercase())))
    }

    /// Calls a tool, unless the discovery is stopped. A failure is recorded, and not returned: the discovery goes on
    /// without.
    pub(super) async fn call(
        &mut self,
        target: &Target,
        arguments: Map<String, Value>,
    ) -> Option<CompletedCall> {
        if self.is_stopped() {
            self.is_late |= self.alerts.is_empty();
            return None;
        }
        let Some(tool) = self.run.find(target) else {
            self.skip(target.as_str(), "you may not call it, or it is not offered");
            return None;
        };
        let called = self.run.call(&tool, arguments).await;
        match called.error().cloned() {
            None => self.absorb(called.provenance()),
            Some(error) if called.stops => self.alert(called.source(), error),
            Some(error) => {
                let what = if error.code == ErrorCode::NotFound {
                    "nothing was found"
                } else {
                    error.code.into_str()
                };
                self.skip(tool.definition.name.as_str(), &format!("{what}: {}", error.message));
            }
        }
        Some(called)
    }

    /// Records that a source refuses us, after which nothing more is called: each further request would do harm.
    fn alert(&mut self, source: &str, error: ToolError) {
        let code = error.code.into_str();
        tracing::warn!(source, code, "a source refuses us; the job calls nothing more");
        toolwire_telemetry::metric::agent_alert(source, code);
        let (source, code, message) = (source.to_owned(), code.to_owned(), error.message);
        self.alerts.push(SourceAlert { source, code, message });
    }

    /// Records a part that was left out, each once.
    pub(super) fn skip(&mut self, what: &str, reason: &str) {
        let part = (what.to_owned(), one_line(reason));
        if self.skipped.len() < MAX_SKIPPED && self.recorded.insert(part.clone()) {
            let (what, reason) = part;
            self.skipped.push(SkippedPart { what, reason });
        }
    }

    fn absorb(&mut self, provenance: &Provenance) {
        for source in &provenance.source_ids {
            if !self.sources.contains(source) {
                self.sources.push(source.clone());
            }
        }
        let date = &provenance.as_of;
        if !date.is_empty() && (self.as_of.is_empty() || *date < self.as_of) {
            self.as_of.clone_from(date);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::at::{BROWSED, DRILLED, FILTERED, PICKED, START, share};

    #[test]
    fn with_one_candidate_the_percentages_are_those_of_the_specification() {
        assert_eq!(share(START, BROWSED, 6, 6), 30);
        assert_eq!([0, 1, 2].map(|done| share(PICKED, DRILLED, done, 3)), [35, 40, 45]);
        assert_eq!(share(DRILLED, FILTERED, 0, 3), 50);
    }
}
