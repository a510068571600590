//! The registry: the tools on offer, assembled from manifests, messages and executors, and reloaded when files change.
//!
//! Start-up reports all problems at once. Later, a reload applies all manifests or none, and the last good state stays
//! in service. Readers take an immutable snapshot. Not here: which users may call a tool, and calls.

mod assemble;
pub mod behaviour;
mod choice;
mod conditions;
mod contradictions;
mod cooperative;
mod definition;
mod disabled_tool;
pub mod docs;
mod extract;
mod field_declaration;
mod guidance;
mod health;
mod input;
mod keys;
pub mod lint;
mod load;
mod manifest;
mod manifests;
mod narration;
mod old_snapshots;
mod parallel;
mod parts;
mod payload;
mod planner;
mod planner_hints;
mod problem;
mod provider_tools;
mod providers;
mod registry_input;
mod requirements;
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
use serde_json::{Map, Value};
use tokio::{sync::watch, time::Instant};

pub use assemble::{MakeExecutor, RegisteredTool};
pub use behaviour::{Behaviour, Execution};
pub use choice::Choice;
pub use conditions::Conditions;
pub use definition::{Definition, OfDomain};
pub use disabled_tool::DisabledTool;
pub use extract::Extract;
pub use guidance::guidance_for_planner;
pub use health::{DataSource, SourceHealth};
pub use input::{InputSchema, Invalid};
pub use manifest::{Manifest, manifest_schema};
pub use manifests::Manifests;
pub use narration::Narration;
pub use parts::{CachePolicy, Example, Source, Status};
pub use planner::{Detail, describe_for_planner};
pub use planner_hints::PlannerHints;
pub use providers::{ProviderTool, Provision};
pub use registry_input::RegistryInput;
pub use schema::pattern_in_words;
pub use snapshot::{Change, Snapshot};
pub use words::{CacheScope, CacheTier, Category, ConsequenceLevel, ExtractKind, MemoryScope, ToolType};

use self::{
    cooperative::Pace,
    load::{FileCache, Loaded},
    manifests::Contents,
    old_snapshots::OldSnapshots,
    providers::Providers,
};
use toolwire_base::{
    clock,
    digest::Digest,
    files::{Problem, Problems},
};
use toolwire_config::ProviderFloor;

/// Holds the current snapshot and publishes new ones.
pub struct Registry {
    current: ArcSwap<Snapshot>,
    changes: watch::Sender<Arc<Snapshot>>,
    /// Locked while files are read, which may take long; only another reload waits for it.
    files: Mutex<Files>,
    /// Locked while a snapshot is built.
    state: Mutex<SnapshotInput>,
    intent_parameters: BTreeSet<&'static str>,
    approve_unless: BTreeMap<String, Map<String, Value>>,
    floors: BTreeMap<String, ProviderFloor>,
    opened: Instant,
}

/// The files as of the last reload.
struct Files {
    input: RegistryInput,
    /// The listing of the last reload, whether or not its manifests were valid.
    listing: Option<manifests::Listing>,
    digest: Digest,
    cache: FileCache,
}

/// The input of the next snapshot.
struct SnapshotInput {
    /// The last good tools of files, without the degradations of sources.
    tools: Vec<Arc<RegisteredTool>>,
    providers: Providers,
    /// Whether tools of providers have changed since the present snapshot.
    is_pending: bool,
    problems: Vec<Problem>,
    sources: health::Sources,
    old_snapshots: OldSnapshots,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registry").field(&self.current.load()).finish()
    }
}

impl Registry {
    /// Reads the manifests and checks them against the messages, the executors and each other.
    pub fn open(input: RegistryInput) -> Result<Self, Problems> {
        let mut cache = FileCache::default();
        let Contents { files, digest, listing } = input.manifests.read_all();
        let Loaded { tools, mut problems } = load::load(files, &input, &mut cache, &Pace::alone());
        if problems.is_empty() {
            problems = load::unmatched_conditions(&input.approve_unless, &tools);
        }
        if !problems.is_empty() {
            return Err(Problems(problems));
        }
        let intent_parameters = input.intent_parameters.clone();
        let (approve_unless, floors) = (input.approve_unless.clone(), input.floors.clone());
        let mut state = SnapshotInput {
            tools,
            providers: Providers::default(),
            is_pending: false,
            problems,
            sources: health::Sources::default(),
            old_snapshots: OldSnapshots::default(),
        };
        let files = Files { input, listing, digest, cache };
        let snapshot = state.snapshot();
        let changes = watch::Sender::new(Arc::clone(&snapshot));
        let (files, state) = (Mutex::new(files), Mutex::new(state));
        let current = ArcSwap::new(snapshot);
        Ok(Self {
            current,
            changes,
            files,
            state,
            intent_parameters,
            approve_unless,
            floors,
            opened: clock::now(),
        })
    }

    /// The parameters that a call by intent may contain even if its tool does not declare them.
    pub fn intent_parameters(&self) -> &BTreeSet<&'static str> {
        &self.intent_parameters
    }

    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Subscribes to snapshots; a slow reader sees only the latest.
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.changes.subscribe()
    }

    /// Reads the manifests again. If they changed, publishes a snapshot with all of them, or with the old tools and the
    /// problems.
    pub fn reload(&self) {
        // Files before the state, which is locked only while it changes: sources set their health meanwhile.
        let mut files = lock(&self.files);
        lock(&self.state).old_snapshots.free();
        let Some(loaded) = files.load_if_changed() else { return };
        let mut state = lock(&self.state);
        state.apply(loaded);
        self.publish(&mut state);
    }

    /// Updates the health of a source's data.
    pub fn set_source_health(&self, source: &str, health: SourceHealth) {
        let mut state = lock(&self.state);
        if state.sources.set(source, health) {
            self.publish(&mut state);
        }
    }

    /// Replaces the set of sources that refuse requests, with reasons. Tools of these sources are degraded.
    pub fn set_refused(&self, refused: BTreeMap<String, String>) {
        let mut state = lock(&self.state);
        if state.sources.set_refused(refused) {
            self.publish(&mut state);
        }
    }

    fn publish(&self, state: &mut SnapshotInput) {
        state.is_pending = false;
        let snapshot = state.snapshot();
        // Stored before it is announced: a watcher that reacts by a call must find it.
        self.current.store(Arc::clone(&snapshot));
        state.old_snapshots.push(self.changes.send_replace(snapshot));
    }
}

/// A poisoned lock is usable: a panic during a reload leaves the last good state.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Files {
    /// Loads the manifests if they differ from the last reload.
    fn load_if_changed(&mut self) -> Option<Loaded> {
        let pace = Pace::beside_calls();
        let listing = self.input.manifests.list(&pace);
        if self.listing.as_ref() == Some(&listing) {
            return None;
        }
        let known = |place: &_, stamp| self.cache.digest(place, stamp);
        let Contents { files, digest, listing } = self.input.manifests.read(listing, &pace, known);
        self.listing = listing;
        if digest == self.digest {
            self.cache.refresh(&files);
            return None;
        }
        self.digest = digest;
        Some(load::load(files, &self.input, &mut self.cache, &pace))
    }
}

impl SnapshotInput {
    fn snapshot(&mut self) -> Arc<Snapshot> {
        if self.providers.is_empty() {
            return Arc::new(Snapshot::new(&self.tools, &self.problems, &self.sources));
        }
        let tools = self.providers.join(&self.tools);
        Arc::new(Snapshot::new(&tools, &self.problems, &self.sources))
    }

    /// Applies loaded tools if there are no problems; otherwise only records the problems.
    fn apply(&mut self, Loaded { tools, problems }: Loaded) {
        log_problems(&self.problems, &problems);
        if problems.is_empty() {
            tracing::info!(tools = tools.len(), "manifests were loaded");
            self.tools = tools;
        }
        self.problems = problems;
    }
}

/// Logs each problem once, when it appears, and once that all are fixed. Sources log their own problems.
fn log_problems(before: &[Problem], now: &[Problem]) {
    for problem in now.iter().filter(|problem| !before.contains(problem)) {
        tracing::warn!(%problem, "a manifest has a problem; the last good state stays in service");
    }
    if now.is_empty() && !before.is_empty() {
        tracing::info!("all problems with manifests are fixed");
    }
}
