//! JSON text as arguments of a tool: its first line names the tool, the rest is the text.
//!
//! What is accepted is accepted again unchanged, and fits the tool's message the same way by the compiled encoder and
//! by the walk over its descriptor. What is refused says why, within bounds.

use std::sync::{Arc, LazyLock};

use prost::Message;
use prost_reflect::DynamicMessage;
use serde_json::Value;
use toolwire::{
    config::Config,
    contract::{arguments::Arguments, json, transcode::Encoder},
    domains,
    engine::registry::{RegisteredTool, Registry, RegistryInput},
    server::app,
};

static TOOLS: LazyLock<Vec<(String, Arc<RegisteredTool>)>> = LazyLock::new(|| {
    let registry = Registry::open(offered()).expect("the bundled manifests are good");
    let snapshot = registry.snapshot();
    snapshot.tools().map(|tool| (tool.definition.name.to_string(), Arc::clone(tool))).collect()
});

/// What the bundled tools are made from, those of the diagnostics too.
pub(super) fn offered() -> RegistryInput {
    let (mut config, domains) = (Config::default(), domains::bundled());
    config.server.diagnostics = true;
    let tree = app::tree(&config, &domains).expect("each path is one domain's");
    app::gather(&tree, &domains, &config).expect("they agree")
}

/// Every bundled tool.
pub(super) fn tools() -> &'static [(String, Arc<RegisteredTool>)] {
    &TOOLS
}

/// Reads arguments, and checks them.
pub fn run(input: &[u8]) {
    let (tool, text) = super::choice(input, tools());
    let Ok(Value::Object(raw)) = json::parse(&String::from_utf8_lossy(text)) else { return };
    if !json::is_within_depth(&Value::Object(raw.clone())) {
        return;
    }
    match tool.input.check(raw) {
        Ok(accepted) => {
            assert_eq!(tool.input.check(accepted.clone()).as_ref(), Ok(&accepted));
            assert_fits(tool, accepted);
        }
        Err(violations) => {
            assert!((1..=100).contains(&violations.len()), "{} violations", violations.len());
            assert!(violations.iter().all(|violation| !violation.description.is_empty()));
        }
    }
}

/// What is accepted fits the message of the tool, and is encoded as the walk over its descriptor has it.
fn assert_fits(tool: &RegisteredTool, accepted: Arguments) {
    let Some(executor) = &tool.executor else { return };
    let (message, _) = executor.schema().messages().expect("a tool of messages");
    let encoded = Encoder::new(&message).bytes(&accepted);
    let walked = DynamicMessage::deserialize(message.clone(), Value::Object(accepted)).expect("it fits");
    if let Some(bytes) = encoded {
        let encoded = DynamicMessage::decode(message, bytes.as_slice()).expect("a message");
        assert_eq!(encoded.encode_to_vec(), walked.encode_to_vec());
    }
}
