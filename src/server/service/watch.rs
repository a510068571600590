//! Watches the tools: a snapshot, then every change, with heartbeats in between.

use std::{collections::VecDeque, sync::Arc};

use tokio::{select, sync::watch, time::sleep};

use super::{Filter, Listing, changes::HEARTBEAT, listing::Visibility};
use toolwire_base::{digest::Digest, files::Problem};
use toolwire_contract::ToolName;
use toolwire_engine::{
    pipeline::authorize::wait_for_change,
    registry::{Change, RegisteredTool, Snapshot},
};

#[derive(Clone, Debug)]
pub enum WatchEvent {
    Added(Arc<RegisteredTool>),
    /// The definition has changed, or the tool is ready again.
    Changed(Arc<RegisteredTool>),
    /// The tool is not ready, or for another reason than before.
    Degraded(Arc<RegisteredTool>),
    Removed(ToolName),
    /// The digest of the data that tools read has changed.
    DataChanged(Digest),
    /// The problems of the files on disk; empty once they are fixed.
    Problems(Vec<Problem>),
    /// The snapshot is complete.
    Synced,
    /// There was no change for a while.
    Heartbeat,
}

/// Watches on behalf of one user, who sees only the tools that the user may call.
#[derive(Debug)]
pub struct Watch {
    visibility: Visibility,
    /// Notified when rights have changed, where they do.
    rights: Option<watch::Receiver<u64>>,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    seen: Arc<Snapshot>,
    pending: VecDeque<WatchEvent>,
}

impl Watch {
    /// The tools at the beginning, and the watch from then on.
    pub(super) fn begin(
        mut visibility: Visibility,
        mut snapshots: watch::Receiver<Arc<Snapshot>>,
    ) -> (Listing, Self) {
        let rights = visibility.changes();
        // Rights that changed before that are those of the beginning.
        visibility.renew();
        let seen = Arc::clone(&snapshots.borrow_and_update());
        let tools = Listing::new(Arc::clone(&seen), visibility.clone(), Filter::default());
        let mut watch = Self { visibility, rights, snapshots, seen, pending: VecDeque::new() };
        let problems = watch.visible(watch.seen.problems());
        let problems = (!problems.is_empty()).then_some(WatchEvent::Problems(problems));
        watch.pending = problems.into_iter().chain([WatchEvent::Synced]).collect();
        (tools, watch)
    }

    /// The next event; `None` once the registry is gone.
    pub async fn next(&mut self) -> Option<WatchEvent> {
        while self.pending.is_empty() {
            select! {
                changed = self.snapshots.changed() => match changed {
                    Ok(()) => self.advance(),
                    Err(_) => return None,
                },
                () = wait_for_change(self.rights.as_mut()) => self.compare_rights(),
                () = sleep(HEARTBEAT) => return Some(WatchEvent::Heartbeat),
            }
        }
        self.pending.pop_front()
    }

    /// Queues the changes since the last snapshot. Several changes of a tool in between are one event.
    fn advance(&mut self) {
        if self.rights.as_ref().is_some_and(|rights| rights.has_changed().unwrap_or(false)) {
            self.compare_rights();
        }
        let now = Arc::clone(&self.snapshots.borrow_and_update());
        let changes = now.changes_since(&self.seen);
        let events: Vec<_> = changes.into_iter().filter_map(|change| self.event(change)).collect();
        self.pending.extend(events);
        self.seen = now;
    }

    /// Queues what other rights show and hide.
    fn compare_rights(&mut self) {
        let before = self.visibility.clone();
        // Marked first: rights that change from here on are compared again.
        if let Some(rights) = &mut self.rights {
            rights.mark_unchanged();
        }
        self.visibility.renew();
        for tool in self.seen.tools() {
            match (before.sees(tool), self.visibility.sees(tool)) {
                (false, true) => self.pending.push_back(WatchEvent::Added(Arc::clone(tool))),
                (true, false) => self.pending.push_back(WatchEvent::Removed(tool.definition.name.clone())),
                _ => {}
            }
        }
    }

    fn event(&self, change: Change) -> Option<WatchEvent> {
        match change {
            Change::Added(tool) => self.visibility.sees(&tool).then_some(WatchEvent::Added(tool)),
            Change::Changed(tool) => self.visible_change(tool, WatchEvent::Changed),
            Change::Degraded(tool) => self.visible_change(tool, WatchEvent::Degraded),
            Change::Removed(name) => self.was_visible(&name).then_some(WatchEvent::Removed(name)),
            Change::DataChanged(digest) => Some(WatchEvent::DataChanged(digest)),
            Change::Problems(problems) => {
                let (now, before) = (self.visible(&problems), self.visible(self.seen.problems()));
                (now != before).then_some(WatchEvent::Problems(now))
            }
        }
    }

    /// The change of a tool. Whether the user sees it may go by its definition, and so may change with it.
    fn visible_change(
        &self,
        tool: Arc<RegisteredTool>,
        event: fn(Arc<RegisteredTool>) -> WatchEvent,
    ) -> Option<WatchEvent> {
        let name = &tool.definition.name;
        match (self.was_visible(name), self.visibility.sees(&tool)) {
            (true, true) => Some(event(tool)),
            (false, true) => Some(WatchEvent::Added(tool)),
            (true, false) => Some(WatchEvent::Removed(name.clone())),
            (false, false) => None,
        }
    }

    /// Whether the user saw the tool in the snapshot before.
    fn was_visible(&self, name: &ToolName) -> bool {
        self.seen.get(name).is_some_and(|tool| self.visibility.sees(tool))
    }

    /// The problems without those of tools that the user may not call.
    fn visible(&self, problems: &[Problem]) -> Vec<Problem> {
        let may_know = |tool: &str| self.visibility.may_call(self.seen.rule_target(tool));
        let concerns = |problem: &&Problem| problem.tool.as_deref().is_none_or(may_know);
        problems.iter().filter(concerns).cloned().collect()
    }
}
