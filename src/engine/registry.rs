//! The registry: the tools that are offered, made from manifests, messages and executors, and kept current.
//!
//! Start-up refuses every problem at once. Afterwards a reload takes over all manifests or none, and the last good
//! state stays in service. A reader takes a snapshot, which never changes. Not here: who may call a tool, and calling
//! it.

mod assemble;
pub mod behaviour;
mod choice;
mod cooperative;
mod declared;
mod definition;
mod disabled;
pub mod docs;
mod extract;
mod guidance;
mod health;
mod input;
mod keys;
pub mod lint;
mod load;
mod manifest;
mod manifests;
mod narration;
mod offered;
mod parallel;
mod parts;
mod payload;
mod planner;
mod problem;
mod routing;
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
pub use behaviour::{Behaviour, Execution};
pub use choice::Choice;
pub use definition::Definition;
pub use disabled::Disabled;
pub use extract::Extract;
pub use guidance::guidance_for_planner;
pub use health::{DataSource, SourceHealth};
pub use input::InputSchema;
pub use manifest::{Manifest, manifest_schema};
pub use manifests::Manifests;
pub use narration::Narration;
pub use offered::Offered;
pub use parts::{CachePolicy, Example, Source, Status};
pub use planner::describe_for_planner;
pub use routing::Routing;
pub use schema::pattern_in_words;
pub use snapshot::{Change, Snapshot};
pub use words::{CacheScope, CacheTier, Category, ConsequenceLevel, ExtractKind, MemoryScope, ToolType};

use self::{
    cooperative::Pace,
    load::{Kept, Loaded},
    manifests::Contents,
};
use toolwire_base::{
    digest::Digest,
    files::{Problem, Problems},
};

/// Holds the present snapshot and tells of every new one.
pub struct Registry {
    current: ArcSwap<Snapshot>,
    changes: watch::Sender<Arc<Snapshot>>,
    /// Locked while files are looked at, which may take long: only another look waits for it.
    files: Mutex<Files>,
    /// Locked while a snapshot is made.
    state: Mutex<State>,
    intent_parameters: BTreeSet<&'static str>,
}

/// The files, as they were at the last look.
struct Files {
    offered: Offered,
    /// Good or not.
    listing: Option<manifests::Listing>,
    digest: Digest,
    kept: Kept,
    /// What reloads have replaced. Whoever comes to know of the new one last would else give the tools' memory back,
    /// a thread that carries calls.
    replaced: Vec<Arc<Snapshot>>,
}

/// What the next snapshot is made from.
struct State {
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
        let mut kept = Kept::default();
        let Contents { files, digest, listing } = offered.manifests.read_all();
        let Loaded { tools, problems } = load::load(files, &offered, &mut kept, &Pace::alone());
        if !problems.is_empty() {
            return Err(Problems(problems));
        }
        let intent_parameters = offered.intent_parameters.clone();
        let state = State { tools, problems, sources: health::Sources::default() };
        let files = Files { offered, listing, digest, kept, replaced: Vec::new() };
        let snapshot = state.snapshot();
        let changes = watch::Sender::new(Arc::clone(&snapshot));
        let (files, state) = (Mutex::new(files), Mutex::new(state));
        Ok(Self { current: ArcSwap::new(snapshot), changes, files, state, intent_parameters })
    }

    /// The parameters that an intent passes on even where its tool does not take them.
    pub fn intent_parameters(&self) -> &BTreeSet<&'static str> {
        &self.intent_parameters
    }

    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Every state from now on; a slow reader misses those in between.
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.changes.subscribe()
    }

    /// Looks at the manifests again and takes them over if they changed: all of them, or none and their problems.
    pub fn reload(&self) {
        let mut files = lock(&self.files);
        files.replaced.retain(|snapshot| Arc::strong_count(snapshot) > 1);
        let Some(loaded) = files.look() else { return };
        let mut state = lock(&self.state);
        state.take_over(loaded);
        files.replaced.push(self.publish(&state));
    }

    /// Takes over what a source says of its data.
    pub fn set_source_health(&self, source: &str, health: SourceHealth) {
        let mut state = lock(&self.state);
        if state.sources.set(source, health) {
            self.publish(&state);
        }
    }

    /// Takes over which sources refuse us, and why: no tool of theirs is ready. The others no longer do.
    pub fn set_refused(&self, refused: BTreeMap<String, String>) {
        let mut state = lock(&self.state);
        if state.sources.set_refused(refused) {
            self.publish(&state);
        }
    }

    /// The snapshot that is no longer the present one.
    fn publish(&self, state: &State) -> Arc<Snapshot> {
        let snapshot = state.snapshot();
        self.current.store(Arc::clone(&snapshot));
        self.changes.send_replace(snapshot)
    }
}

/// A panic in the middle of a look leaves the last good state, which is what is wanted.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Files {
    /// What the files amount to, if they are others than at the last look.
    fn look(&mut self) -> Option<Loaded> {
        let pace = Pace::beside_calls();
        let listing = self.offered.manifests.list(&pace);
        if self.listing.as_ref() == Some(&listing) {
            return None;
        }
        let known = |place: &_, stamp| self.kept.digest(place, stamp);
        let Contents { files, digest, listing } = self.offered.manifests.read(listing, &pace, known);
        self.listing = listing;
        if digest == self.digest {
            self.kept.refresh(&files);
            return None;
        }
        self.digest = digest;
        Some(load::load(files, &self.offered, &mut self.kept, &pace))
    }
}

impl State {
    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::new(Snapshot::new(&self.tools, &self.problems, &self.sources))
    }

    /// Tools without problems are taken over; of the others only the problems are told.
    fn take_over(&mut self, Loaded { tools, problems }: Loaded) {
        log_problems(&self.problems, &problems);
        if problems.is_empty() {
            tracing::info!(tools = tools.len(), "manifests were taken over");
            self.tools = tools;
        }
        self.problems = problems;
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
