//! Manifests in a temporary directory, and executors of real messages that do nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::Arc,
};

use prost_reflect::DescriptorPool;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use toolwire::{
    base::files::{Problem, Problems, Tree},
    contract::{Provenance, descriptors},
    domains::{self, brokerage::proto::v1 as brokerage, diagnostics::proto::v1 as diagnostics},
    engine::registry::{InputSchema, Manifests, Registry, RegistryInput},
    tool::{
        Executor, Reply, Tool,
        context::{ToolContext, Unfinished},
        erase,
    },
};

macro_rules! idle_tools {
    ($($tool:ident = $name:literal: $input:ty => $output:ty;)*) => {
        $(
            struct $tool;

            impl Tool for $tool {
                const NAME: &'static str = $name;
                type Input = $input;
                type Output = $output;

                async fn execute(
                    &self,
                    _input: Self::Input,
                    _context: &ToolContext,
                ) -> Result<Reply<Self::Output>, Unfinished> {
                    Ok(Reply { data: Self::Output::default(), provenance: Provenance::default() })
                }
            }
        )*

        /// One executor for each.
        pub(super) fn executors() -> Vec<Arc<dyn Executor>> {
            vec![$(erase($tool)),*]
        }
    };
}

idle_tools! {
    GetQuotes = "get_quotes": brokerage::GetQuotesRequest => brokerage::GetQuotesOutput;
    GetPositions = "get_positions": brokerage::GetPositionsRequest => brokerage::GetPositionsOutput;
    GetPositionsList = "get_positions_list": brokerage::GetPositionsListRequest => brokerage::GetPositionsListOutput;
    GetTransfers = "get_transfers": brokerage::GetTransfersRequest => brokerage::GetTransfersOutput;
    RankPortfolio = "rank_portfolio": brokerage::RankPortfolioRequest => brokerage::RankPortfolioOutput;
    DebugStream = "debug_stream": diagnostics::DebugStreamInput => diagnostics::DebugStreamOutput;
    DebugSleep = "debug_sleep": diagnostics::DebugSleepInput => diagnostics::DebugSleepOutput;
}

/// The descriptors of every bundled domain.
pub(super) fn descriptors() -> DescriptorPool {
    let sets = domains::bundled().into_iter().map(|domain| (domain.name, domain.descriptors));
    descriptors::pool(sets).expect("they agree")
}

/// A data directory.
pub(super) struct Data(TempDir);

impl Data {
    pub(super) fn new() -> Self {
        let data = TempDir::new().expect("a temporary directory");
        for directory in ["tools", "diagnostics"] {
            fs::create_dir(data.path().join(directory)).expect("a directory");
        }
        Self(data)
    }

    /// A directory with the given manifests.
    pub(super) fn with(manifests: &[Value]) -> Self {
        let data = Self::new();
        for manifest in manifests {
            data.put(manifest);
        }
        data
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a manifest where its name says.
    pub(super) fn put(&self, manifest: &Value) {
        let name = manifest["name"].as_str().expect("a name");
        self.write(&format!("tools/{name}.json"), &manifest.to_string());
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    pub(super) fn remove(&self, path: &str) {
        fs::remove_file(self.0.path().join(path)).expect("a file");
    }

    pub(super) fn offered(&self) -> RegistryInput {
        let tree = || Tree::Disk(self.0.path().to_owned());
        RegistryInput {
            choices: Vec::new(),
            approve_unless: BTreeMap::new(),
            floors: BTreeMap::new(),
            disabled: Vec::new(),
            domains: BTreeMap::new(),
            intent_parameters: BTreeSet::new(),
            manifests: Manifests::new(tree()).with(tree(), "diagnostics"),
            executors: executors(),
            descriptors: descriptors(),
        }
    }

    #[track_caller]
    pub(super) fn open(&self) -> Registry {
        Registry::open(self.offered()).expect("good manifests")
    }

    #[track_caller]
    pub(super) fn problems(&self) -> Vec<Problem> {
        self.problems_if_any().expect("bad manifests")
    }

    pub(super) fn problems_if_any(&self) -> Option<Vec<Problem>> {
        Registry::open(self.offered()).err().map(|Problems(problems)| problems)
    }
}

/// A good manifest of a tool with messages, with some keys replaced; a null removes one.
pub(super) fn manifest(name: &str, changes: &Value) -> Value {
    let executors = executors();
    let executor = executors.iter().find(|it| it.name() == name);
    let mut manifest = json!({
        "name": name,
        "description": "Returns something.",
        "type": if executor.is_some() { "function_tool" } else { "non_function_tool" },
        "category": "read",
        "consequence_level": "low",
        "requires_confirmation": false,
    });
    if let Some((input, output)) = executor.and_then(|executor| executor.schema().messages()) {
        merge(&mut manifest, &json!({"input": input.full_name(), "output": output.full_name()}));
    }
    merge(&mut manifest, changes);
    manifest
}

fn merge(manifest: &mut Value, changes: &Value) {
    let manifest = manifest.as_object_mut().expect("an object");
    for (key, value) in changes.as_object().expect("an object") {
        match value {
            Value::Null => drop(manifest.shift_remove(key)),
            value => drop(manifest.insert(key.clone(), value.clone())),
        }
    }
}

/// The input schema at work of one good manifest.
#[track_caller]
pub(super) fn input_of(name: &str, changes: &Value) -> InputSchema {
    let registry = Data::with(&[manifest(name, changes)]).open();
    registry.snapshot().get(name).expect("the tool").input.clone()
}

pub(super) fn object(value: &Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}
