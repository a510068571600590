//! Watches the tools: a snapshot of those there are, then every change, with heartbeats in between.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::{sync::watch, time::timeout};

use super::{Filter, Listing, listing::Sight};
use toolwire_base::{digest::Digest, files::Problem};
use toolwire_contract::ToolName;
use toolwire_engine::registry::{Change, RegisteredTool, Snapshot};

/// A silent watch says that it is alive this often.
const HEARTBEAT: Duration = Duration::from_secs(20);

#[derive(Clone, Debug)]
pub enum WatchEvent {
    Added(Arc<RegisteredTool>),
    /// The tool's definition is another, or it is ready again.
    Changed(Arc<RegisteredTool>),
    /// The tool is no longer ready, or is so for another reason.
    Degraded(Arc<RegisteredTool>),
    /// The tool of this name is gone.
    Removed(ToolName),
    /// The data that tools read is another; its digest.
    DataChanged(Digest),
    /// What is wrong with the files on disk now; nothing, once they have been fixed.
    Problems(Vec<Problem>),
    /// The state at the beginning is complete.
    Synced,
    /// Nothing happened for a while.
    Heartbeat,
}

/// Watches on behalf of one user, who sees only the tools that the user may call.
#[derive(Debug)]
pub struct Watch {
    sight: Sight,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    seen: Arc<Snapshot>,
    pending: VecDeque<WatchEvent>,
}

impl Watch {
    /// The tools at the beginning, and the watch from then on.
    pub(super) fn begin(sight: Sight, mut snapshots: watch::Receiver<Arc<Snapshot>>) -> (Listing, Self) {
        let seen = Arc::clone(&snapshots.borrow_and_update());
        let tools = Listing::new(Arc::clone(&seen), sight.clone(), Filter::default());
        let mut watch = Self { sight, snapshots, seen, pending: VecDeque::new() };
        let problems = watch.visible(watch.seen.problems());
        let problems = (!problems.is_empty()).then_some(WatchEvent::Problems(problems));
        watch.pending = problems.into_iter().chain([WatchEvent::Synced]).collect();
        (tools, watch)
    }

    /// The next news; `None` once the registry is gone.
    pub async fn next(&mut self) -> Option<WatchEvent> {
        while self.pending.is_empty() {
            match timeout(HEARTBEAT, self.snapshots.changed()).await {
                Err(_) => return Some(WatchEvent::Heartbeat),
                Ok(Err(_)) => return None,
                Ok(Ok(())) => self.advance(),
            }
        }
        self.pending.pop_front()
    }

    /// What has changed since; several changes at once are one event.
    fn advance(&mut self) {
        let now = Arc::clone(&self.snapshots.borrow_and_update());
        self.sight.renew();
        let changes = now.changes_since(&self.seen);
        let news: Vec<_> = changes.into_iter().filter_map(|change| self.event(change)).collect();
        self.pending.extend(news);
        self.seen = now;
    }

    fn event(&self, change: Change) -> Option<WatchEvent> {
        let may_see = |tool: &Arc<RegisteredTool>| self.sight.sees(tool);
        match change {
            Change::Added(tool) => may_see(&tool).then_some(WatchEvent::Added(tool)),
            Change::Changed(tool) => may_see(&tool).then_some(WatchEvent::Changed(tool)),
            Change::Degraded(tool) => may_see(&tool).then_some(WatchEvent::Degraded(tool)),
            Change::Removed(name) => self.sight.may_call(&name).then_some(WatchEvent::Removed(name)),
            Change::DataChanged(digest) => Some(WatchEvent::DataChanged(digest)),
            Change::Problems(problems) => {
                let (now, before) = (self.visible(&problems), self.visible(self.seen.problems()));
                (now != before).then_some(WatchEvent::Problems(now))
            }
        }
    }

    /// The problems but for those of tools that are not the user's.
    fn visible(&self, problems: &[Problem]) -> Vec<Problem> {
        let concerns =
            |problem: &&Problem| problem.tool.as_deref().is_none_or(|tool| self.sight.may_call(tool));
        problems.iter().filter(concerns).cloned().collect()
    }
}
