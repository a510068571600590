//! The registry: the tools that are offered, made from manifests, messages and executors, and kept current.
//!
//! Start-up refuses every problem at once. Afterwards a reload takes over all manifests or none, and the last good
//! state stays in service. A reader takes a snapshot, which never changes. Not here: who may call a tool, and calling
//! it.

mod assemble;
mod choice;
mod definition;
pub mod docs;
mod guidance;
mod health;
mod input;
pub mod lint;
mod load;
mod manifest;
mod manifests;
mod narration;
mod offered;
mod planner;
mod problem;
mod schema;
mod snapshot;
mod template;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arc_swap::ArcSwap;
use tokio::sync::watch;

pub use assemble::RegisteredTool;
pub use choice::Choice;
pub use definition::{CachePolicy, Definition, Example, Source, Status};
pub use guidance::guidance_for_planner;
pub use health::{DataSource, SourceHealth};
pub use input::InputSchema;
pub use manifest::manifest_schema;
pub use manifests::Manifests;
pub use narration::Narration;
pub use offered::Offered;
pub use planner::describe_for_planner;
pub use schema::pattern_in_words;
pub use snapshot::{Change, Snapshot};
pub use words::{CacheScope, CacheTier, Category, ConsequenceLevel, ToolType};

use self::{load::Loaded, manifests::Contents};
use crate::{
    digest::Digest,
    files::{Problem, Problems},
};

/// Holds the present snapshot and tells of every new one.
pub struct Registry {
    current: ArcSwap<Snapshot>,
    changes: watch::Sender<Arc<Snapshot>>,
    state: Mutex<State>,
    intent_parameters: BTreeSet<&'static str>,
}

/// What the next snapshot is made from.
struct State {
    offered: Offered,
    /// The files at the last look, good or not.
    stamps: Option<manifests::Stamps>,
    digest: Digest,
    /// The last good tools, in full health.
    tools: Vec<Arc<RegisteredTool>>,
    problems: Vec<Problem>,
    sources: health::Sources,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registry").field(&self.current.load()).finish()
    }
}

impl Registry {
    /// Reads the manifests and checks them against the messages, the executors and each other.
    pub fn open(offered: Offered) -> Result<Self, Problems> {
        let Contents { files, digest, stamps } = offered.manifests.read();
        let Loaded { tools, problems } = load::load(&files, &offered);
        if !problems.is_empty() {
            return Err(Problems(problems));
        }
        let intent_parameters = offered.intent_parameters.clone();
        let sources = health::Sources::default();
        let state = State { offered, stamps, digest, tools, problems, sources };
        let snapshot = state.snapshot();
        let changes = watch::Sender::new(Arc::clone(&snapshot));
        Ok(Self { current: ArcSwap::new(snapshot), changes, state: Mutex::new(state), intent_parameters })
    }

    /// The parameters that an intent passes on even where its tool does not take them.
    pub fn intent_parameters(&self) -> &BTreeSet<&'static str> {
        &self.intent_parameters
    }

    /// The present state.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Every state from now on; a slow reader misses those in between.
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.changes.subscribe()
    }

    /// Looks at the manifests again and takes them over if they changed: all of them, or none and their problems.
    pub fn reload(&self) {
        let mut state = self.lock();
        if state.look() {
            self.publish(&state);
        }
    }

    /// Takes over what a source says of its data.
    pub fn set_source_health(&self, source: &str, health: SourceHealth) {
        let mut state = self.lock();
        if state.sources.set(source, health) {
            self.publish(&state);
        }
    }

    /// Takes over which sources refuse us, and why: no tool of theirs is ready. The others no longer do.
    pub fn set_refused(&self, refused: BTreeMap<String, String>) {
        let mut state = self.lock();
        if state.sources.set_refused(refused) {
            self.publish(&state);
        }
    }

    fn publish(&self, state: &State) {
        let snapshot = state.snapshot();
        self.current.store(Arc::clone(&snapshot));
        self.changes.send_replace(snapshot);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic in the middle of a look leaves the last good state, which is what is wanted.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::new(Snapshot::new(&self.tools, &self.problems, &self.sources))
    }

    /// Whether the files are others than at the last look. If they are good, they are taken over.
    fn look(&mut self) -> bool {
        if self.stamps.as_ref() == Some(&self.offered.manifests.stamps()) {
            return false;
        }
        let Contents { files, digest, stamps } = self.offered.manifests.read();
        self.stamps = stamps;
        if digest == self.digest {
            return false;
        }
        let loaded = load::load(&files, &self.offered);
        log_problems(&self.problems, &loaded.problems);
        if loaded.problems.is_empty() {
            tracing::info!(tools = loaded.tools.len(), "manifests were taken over");
            self.tools = loaded.tools;
        }
        (self.problems, self.digest) = (loaded.problems, digest);
        true
    }
}

/// Says each problem with a manifest once, when it appears, and once that all are fixed. Sources report their own.
fn log_problems(before: &[Problem], now: &[Problem]) {
    for problem in now.iter().filter(|problem| !before.contains(problem)) {
        tracing::warn!(%problem, "a manifest is wrong; the last good state stays in service");
    }
    if now.is_empty() && !before.is_empty() {
        tracing::info!("all problems with manifests are fixed");
    }
}
