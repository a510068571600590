//! The service without a face: the pipeline over the bundled tools and data.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]

pub mod authority;
#[path = "../../src/base/capture.rs"]
pub mod capture;
pub mod collector;
pub mod draws;
pub mod memory_idempotency;
pub mod pooler;
pub mod program;
pub mod raw;
pub mod second_calls;
pub mod server;
pub mod state;
pub mod stops;
pub mod stub;

use std::{collections::BTreeMap, fs, os::unix::fs::symlink, path::Path, sync::Arc, time::Duration};

use prost_reflect::{DescriptorPool, ReflectMessage};
use serde_json::Value;
use tempfile::TempDir;
use tonic::{Code, Status};
use tonic_types::StatusExt;
use toolwire::{
    base::{
        clock,
        current::Current,
        files::{Embedded, Tree},
    },
    config::{Auth, AuthUser, Config, ToolPattern},
    contract::{
        ConsoleLinks, Refusal, Terminal, ToolResult,
        arguments::Arguments,
        convert::{self, ResultFormat},
        descriptors,
    },
    domains::{
        self,
        brokerage::{self, source::Brokerage},
    },
    engine::{
        pipeline::{Call, Parts, Pipeline, Target, Tiers, policy::AllowAll},
        registry::{DisabledTool, Manifests, Registry, RegistryInput},
    },
    state::{Store, idempotency::Idempotency},
    tool::{
        Executor,
        context::{Services, SourceStates, ToolContext, UnreadBounds, User, UserId},
    },
};

pub use self::memory_idempotency::MemoryIdempotency;

/// A pipeline and what it is made of.
pub struct Bench {
    pub pipeline: Arc<Pipeline>,
    pub registry: Arc<Registry>,
    pub services: Services,
}

impl Bench {
    /// Everything as bundled; everybody may call everything.
    pub fn new() -> Self {
        Self::of(&bundled_tree(), |_| ())
    }

    /// Everything as bundled, but there is no source of data.
    pub fn without_sources() -> Self {
        Self::of(&bundled_tree(), |parts| parts.services = Services::default())
    }

    /// Calls with a `request_id` are remembered in the given store.
    pub fn storing(store: impl Idempotency + 'static) -> Self {
        Self::of(&bundled_tree(), |parts| parts.idempotency = Arc::new(store))
    }

    /// Calls, confirmations and tasks are recorded in the given store.
    pub fn recording_in(store: &Arc<Store>) -> Self {
        Self::of(&bundled_tree(), |parts| {
            parts.idempotency = Arc::clone(store) as _;
            parts.confirmations = Arc::clone(store);
            parts.tasks = Arc::clone(store);
        })
    }

    /// The user may call only what the patterns name.
    pub fn allowing(patterns: &[&str]) -> Self {
        let pattern = |&text: &&str| ToolPattern::try_from(text.to_owned()).expect("a pattern");
        let tools = patterns.iter().map(pattern).collect();
        let user = AuthUser { tools, ..AuthUser::new(user_id(), "s3cret".into()) };
        Self::of(&bundled_tree(), |parts| {
            parts.policy = Arc::new(Auth { users: vec![user], ..Auth::default() });
        })
    }

    /// One manifest has other values under the given keys.
    pub fn with_manifest(name: &str, changes: &Value) -> Self {
        Self::caching(name, changes, Tiers::in_memory())
    }

    /// The same, and results are cached in the given tiers.
    pub fn caching(name: &str, changes: &Value, tiers: Tiers) -> Self {
        let data = data_directory();
        let paths = ["diagnostics", "tools"].map(|folder| data.path().join(format!("{folder}/{name}.json")));
        let path = paths.iter().find(|path| path.exists()).expect("a manifest");
        patch_json(path, changes);
        Self::of(&Tree::Disk(data.path().to_owned()), |parts| parts.tiers = tiers)
    }

    /// The service over a directory, its brokerage too, as it would run.
    pub fn on_disk(data: &TempDir) -> Self {
        let tree = Tree::Disk(data.path().to_owned());
        let brokerage = Arc::new(Brokerage::open(tree.clone(), user_id()).expect("good data"));
        let states = SourceStates::default().with("brokerage", brokerage::tools::state);
        Self::of(&tree, |parts| parts.services = Services::default().with(brokerage).with(Arc::new(states)))
    }

    /// One more tool, which is its manifest and nothing else.
    pub fn with_tool(manifest: &Value) -> Self {
        let data = data_directory();
        let name = manifest["name"].as_str().expect("a name");
        save(&data.path().join(format!("tools/{name}.json")), &manifest.to_string());
        Self::of_directory(&data)
    }

    fn of_directory(data: &TempDir) -> Self {
        Self::of(&Tree::Disk(data.path().to_owned()), |_| ())
    }

    /// The service over a data tree, with some of its parts replaced.
    fn of(tree: &Tree, replace: impl FnOnce(&mut Parts)) -> Self {
        let manifests = Manifests::new(tree.clone()).with(tree.clone(), "diagnostics");
        let offered = RegistryInput {
            manifests,
            executors: executors(),
            descriptors: descriptors(),
            choices: Vec::new(),
            approve_unless: BTreeMap::new(),
            floors: BTreeMap::new(),
            disabled: disabled(),
            domains: BTreeMap::new(),
            intent_parameters: domains::bundled()
                .iter()
                .flat_map(|it| it.intent_parameters)
                .copied()
                .collect(),
        };
        let registry = Arc::new(Registry::open(offered).expect("good manifests"));
        let brokerage = Brokerage::open(Tree::Embedded(brokerage::data()), user_id()).expect("good data");
        let state = Arc::new(Store::in_memory());
        let mut parts = Parts {
            registry: Arc::clone(&registry),
            policy: Arc::new(AllowAll),
            quotas: Current::default(),
            idempotency: Arc::new(MemoryIdempotency::default()),
            confirmations: Arc::clone(&state) as _,
            tasks: Arc::clone(&state),
            orchestrate: Arc::new(toolwire::engine::tasks::Orchestrator::new(
                Arc::clone(&state),
                toolwire::state::workspace::Workspace::new(&state),
            )),
            decide_within: Duration::from_mins(10),
            decide_within_tasks: Duration::from_mins(10),
            users_sources: Arc::default(),
            tiers: Tiers::in_memory(),
            services: Services::default()
                .with(Arc::new(brokerage))
                .with(Arc::new(toolwire::engine::kept_results::KeptResults::new(&state))),
            cap: Duration::from_mins(2),
            unread: UnreadBounds::default(),
            log_arguments: false,
            console: ConsoleLinks::default(),
            recorder: toolwire::engine::recordings::Recorder::off(&state),
        };
        replace(&mut parts);
        let services = parts.services.clone();
        Self { pipeline: Pipeline::new(parts), registry, services }
    }

    /// A call of a tool by the default user, with a deadline of an hour.
    pub fn call(tool: &str, input: Value) -> Call {
        Self::call_with(tool, arguments(input))
    }

    pub fn call_with(tool: &str, input: Arguments) -> Call {
        Call::new(context(), Target::Tool(tool.to_owned()), Ok(input))
    }

    pub fn intent(intent: &str, input: Value) -> Call {
        Call::new(context(), Target::Intent(intent.to_owned()), Ok(arguments(input)))
    }

    /// Carries a call out to its end.
    pub async fn run(&self, call: Call) -> Result<Terminal, Refusal> {
        self.pipeline.start(call).await?.terminal().await
    }
}

/// What the bundled domains embed.
pub fn bundled_tree() -> Tree {
    let domains = domains::bundled();
    let embedded = Embedded::of_all(domains.iter().map(|domain| (domain.name, &domain.data)));
    Tree::Embedded(embedded.expect("each path is one domain's"))
}

pub fn user_id() -> UserId {
    "demo".parse().expect("valid")
}

fn context() -> ToolContext {
    ToolContext::new(User::new(user_id()), clock::now() + Duration::from_hours(1))
}

#[track_caller]
pub fn arguments(value: Value) -> Arguments {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}

/// The descriptors of every bundled domain.
pub fn descriptors() -> DescriptorPool {
    let sets = domains::bundled().into_iter().map(|domain| (domain.name, domain.descriptors));
    descriptors::pool(sets).expect("they agree")
}

/// The ProtoJSON of a result.
pub fn wire_json(result: ToolResult) -> Value {
    let wire = convert::tool_result(result, ResultFormat::Struct);
    let message = wire.transcode_to_dynamic();
    assert_eq!(message.descriptor().name(), "ToolResult");
    serde_json::to_value(&message).expect("serialises")
}

/// A length of time in payload JSON, such as `"1.5s"`, in seconds.
#[track_caller]
pub fn seconds(value: &Value) -> f64 {
    value.as_str().and_then(|text| text.strip_suffix('s')?.parse().ok()).expect("a length of time")
}

/// A directory that holds the bundled data as links. A test replaces a file by `save` or `patch_json`: what is written
/// through a link changes the data itself.
pub fn data_directory() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    link(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data"), directory.path());
    directory
}

fn link(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("readable") {
        let entry = entry.expect("readable");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            link(&entry.path(), &target);
        } else {
            symlink(entry.path(), target).expect("linked");
        }
    }
}

/// Replaces the values of the given keys in a file.
pub fn patch_json(path: &Path, changes: &Value) {
    let text = fs::read_to_string(path).expect("readable");
    let mut value: Value = serde_json::from_str(&text).expect("JSON");
    for (key, new) in changes.as_object().expect("an object") {
        value[key] = new.clone();
    }
    save(path, &value.to_string());
}

/// Replaces a file at once: a server that looks meanwhile must not find it empty.
pub fn save(path: &Path, text: &str) {
    let new = path.with_extension("new");
    fs::write(&new, text).expect("written");
    fs::rename(new, path).expect("replaced");
}

/// The bundled tools that cannot be called.
pub fn disabled() -> Vec<DisabledTool> {
    let config = Config::default();
    domains::bundled().iter().flat_map(|domain| (domain.disabled)(&config)).collect()
}

/// What carries out the bundled tools, diagnostics included.
pub fn executors() -> Vec<Arc<dyn Executor>> {
    domains::bundled().into_iter().flat_map(|domain| domain.tools).collect()
}

/// The message of a refusal that has this code and this reason.
#[track_caller]
pub fn assert_refused<T: std::fmt::Debug>(answer: Result<T, Status>, code: Code, reason: &str) -> String {
    let status = answer.expect_err("refused");
    let info = status.get_details_error_info().expect("an ErrorInfo");
    assert_eq!((status.code(), info.reason.as_str()), (code, reason), "{status:?}");
    status.message().to_owned()
}
