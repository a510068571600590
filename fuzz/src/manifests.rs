//! A text as a manifest: it makes a tool whose definition, schema and words can be written, or problems that say what
//! is wrong and where.

use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, LazyLock},
};

use prost_reflect::DescriptorPool;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolwire::{
    base::files::{Problems, Tree},
    contract::ToolName,
    engine::registry::{
        Detail, Manifests, Registry, RegistryInput, describe_for_planner, docs, guidance_for_planner, lint,
    },
    tool::Executor,
};

use super::arguments;

/// What carries tools out, and what they are made of. The manifests are replaced by the one that is tried.
struct Made {
    executors: Vec<Arc<dyn Executor>>,
    descriptors: DescriptorPool,
}

static MADE: LazyLock<Made> = LazyLock::new(|| {
    let RegistryInput { executors, descriptors, .. } = arguments::offered();
    Made { executors, descriptors }
});

/// Reads a manifest, alone in its directory.
pub fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let directory = TempDir::new().expect("a directory");
    fs::create_dir(directory.path().join("tools")).expect("a directory");
    let file = format!("tools/{}.json", name(&text));
    fs::write(directory.path().join(file), &*text).expect("written");
    let offered = || RegistryInput {
        manifests: Manifests::new(Tree::Disk(directory.path().to_owned())),
        executors: MADE.executors.clone(),
        descriptors: MADE.descriptors.clone(),
        choices: Vec::new(),
        approve_unless: BTreeMap::new(),
        floors: BTreeMap::new(),
        domains: BTreeMap::new(),
        disabled: Vec::new(),
        intent_parameters: ["symbol"].into(),
    };
    let found = lint::lint(&offered());
    assert!(found.iter().all(|problem| !problem.description.is_empty() && !problem.rule.is_empty()));
    match Registry::open(offered()) {
        Ok(registry) => check(&registry),
        Err(Problems(problems)) => assert!(!problems.is_empty()),
    }
}

/// The name that the manifest gives itself, or else some tool's.
fn name(text: &str) -> String {
    let declared = serde_json::from_str::<Value>(text).ok();
    let name = declared.and_then(|manifest| manifest["name"].as_str()?.parse::<ToolName>().ok());
    name.map_or_else(|| "get_quotes".to_owned(), |name| name.to_string())
}

/// What is asked of every tool that is offered.
fn check(registry: &Registry) {
    let snapshot = registry.snapshot();
    for tool in snapshot.tools() {
        assert_eq!(tool.input.schema()["type"], "object");
        for example in &tool.definition.examples {
            let accepted = tool.input.check(example.arguments.clone()).expect("an example is accepted");
            let data = json!({"symbol": "AAPL", "quotes": [{"price": -1.5}], "count": 2});
            let accepted = Value::Object(accepted);
            drop(tool.narration.progress(&accepted));
            drop(tool.narration.summary(&tool.definition.name, &accepted, &accepted, &data));
        }
    }
    assert!(!docs::render(&snapshot).is_empty());
    let tools: Vec<_> = snapshot.tools().collect();
    for detail in [Detail::Line, Detail::Parameters] {
        drop(describe_for_planner(tools.iter().copied(), detail));
    }
    drop(guidance_for_planner(tools.iter().copied(), &[]));
}
