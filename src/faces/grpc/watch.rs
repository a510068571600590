//! `WatchTools`: the present definitions, then every change, with heartbeats in between.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use tokio::{sync::watch, time::timeout};
use tonic::Status;

use super::face::Face;
use crate::{
    clock,
    context::User,
    contract::{
        convert,
        proto::v1::{ToolDefinition, ToolView, WatchEventType, WatchToolsResponse},
    },
    files::Problem,
    registry::{Change, RegisteredTool, Snapshot},
};

/// A silent stream says that it is alive this often.
const HEARTBEAT: Duration = Duration::from_secs(20);

/// Watches on behalf of one user.
struct Watcher {
    face: Face,
    user: User,
    view: ToolView,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    seen: Arc<Snapshot>,
    pending: VecDeque<WatchToolsResponse>,
}

/// The stream. It ends only with the server or the registry.
pub(super) fn watch(
    face: Face,
    user: User,
    view: ToolView,
) -> BoxStream<'static, Result<WatchToolsResponse, Status>> {
    let mut snapshots = face.registry.watch();
    let seen = Arc::clone(&snapshots.borrow_and_update());
    let mut watcher = Watcher { face, user, view, snapshots, seen, pending: VecDeque::new() };
    watcher.state();
    stream::unfold(watcher, |mut watcher| async {
        let message = watcher.next().await?;
        Some((Ok(message), watcher))
    })
    .boxed()
}

impl Watcher {
    /// Says what there is.
    fn state(&mut self) {
        let seen = Arc::clone(&self.seen);
        let visible = seen.tools().filter(|tool| self.may_call(&tool.definition.name));
        let state: Vec<_> = visible.map(|tool| self.about(WatchEventType::Added, tool)).collect();
        self.pending.extend(state);
        if !seen.problems().is_empty() {
            self.pending.push_back(self.problem(seen.problems()));
        }
        self.pending.push_back(message(WatchEventType::Synced));
    }

    async fn next(&mut self) -> Option<WatchToolsResponse> {
        while self.pending.is_empty() {
            match timeout(HEARTBEAT, self.snapshots.changed()).await {
                Err(_) => return Some(message(WatchEventType::Heartbeat)),
                Ok(Err(_)) => return None,
                Ok(Ok(())) => self.advance(),
            }
        }
        self.pending.pop_front()
    }

    /// Says what has changed since; several changes at once are told as one.
    fn advance(&mut self) {
        let now = Arc::clone(&self.snapshots.borrow_and_update());
        for change in now.changes_since(&self.seen) {
            self.pending.extend(self.told(&change));
        }
        self.seen = now;
    }

    fn told(&self, change: &Change) -> Option<WatchToolsResponse> {
        let about = |kind, tool: &Arc<RegisteredTool>| {
            self.may_call(&tool.definition.name).then(|| self.about(kind, tool))
        };
        match change {
            Change::Added(tool) => about(WatchEventType::Added, tool),
            Change::Changed(tool) => about(WatchEventType::Changed, tool),
            Change::Degraded(tool) => about(WatchEventType::Degraded, tool),
            Change::Removed(name) => self.may_call(name).then(|| removed(name)),
            Change::DataChanged(digest) => {
                let data_digest = digest.clone();
                Some(WatchToolsResponse { data_digest, ..message(WatchEventType::DataChanged) })
            }
            Change::Problems(problems) => Some(self.problem(problems)),
        }
    }

    fn about(&self, kind: WatchEventType, tool: &RegisteredTool) -> WatchToolsResponse {
        WatchToolsResponse { tool: Some(tool.definition.wire(self.view).clone()), ..message(kind) }
    }

    /// What is wrong now, but for what concerns tools that are not the user's.
    fn problem(&self, problems: &[Problem]) -> WatchToolsResponse {
        let concerns = |problem: &&Problem| tool_of(&problem.file).is_none_or(|tool| self.may_call(tool));
        let problems = problems.iter().filter(concerns).cloned().map(Into::into).collect();
        WatchToolsResponse { problems, ..message(WatchEventType::Problem) }
    }

    fn may_call(&self, tool: &str) -> bool {
        self.face.policy.may_call(&self.user, tool)
    }
}

fn removed(name: &str) -> WatchToolsResponse {
    let tool = Some(ToolDefinition { name: name.to_owned(), ..ToolDefinition::default() });
    WatchToolsResponse { tool, ..message(WatchEventType::Removed) }
}

/// The tool that a manifest declares: its name is the file's.
fn tool_of(file: &str) -> Option<&str> {
    file.rsplit('/').next()?.strip_suffix(".json").filter(|_| !file.starts_with("brokerage/"))
}

fn message(kind: WatchEventType) -> WatchToolsResponse {
    WatchToolsResponse {
        r#type: kind.into(),
        event_time: Some(convert::timestamp(clock::wall())),
        ..WatchToolsResponse::default()
    }
}
