//! Assembles a registered tool from its manifest, messages and executor, or reports every reason why it cannot.

use std::{fmt, sync::Arc};

use prost_reflect::{DescriptorPool, MessageDescriptor};

use serde_json::Value;

use super::{
    behaviour::Execution,
    definition::Definition,
    input::InputSchema,
    manifest::Manifest,
    narration::Narration,
    payload::Payloads,
    problem::{Report, join},
    routing::Routing,
    words::Category,
};
use crate::registry::parts::Status;
use toolwire_contract::transcode::Renderer;
use toolwire_tool::Executor;

/// A tool that can be called.
#[derive(Clone)]
pub struct RegisteredTool {
    pub definition: Definition,
    /// The code of the tool. `None` for a tool without code.
    pub executor: Option<Arc<dyn Executor>>,
    /// Validates and completes the arguments.
    pub input: InputSchema,
    /// Renders its data. `None` for a tool that declares its schema itself.
    pub renderer: Option<Arc<Renderer>>,
    /// The message that its data encodes. `None` for a tool that declares its schema itself.
    pub output: Option<MessageDescriptor>,
    /// The messages about its calls for readers.
    pub narration: Arc<Narration>,
    /// Data for planners without a model, beside the definition. The same `Arc` in every status.
    pub routing: Arc<Routing>,
}

impl fmt::Debug for RegisteredTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { definition, .. } = self;
        write!(f, "RegisteredTool({}, {:?})", definition.name, definition.status)
    }
}

impl RegisteredTool {
    /// Replaces the status.
    pub(super) fn with_status(&self, status: Status) -> Self {
        Self { definition: self.definition.with_status(status), ..self.clone() }
    }
}

/// Assembles the tool that a manifest declares. If problems are reported, the caller must not offer the tool.
pub(super) fn assemble(
    manifest: Manifest,
    (executor, status): (Option<Arc<dyn Executor>>, Status),
    (pool, payloads): (&DescriptorPool, &mut Payloads),
    report: &mut Report,
) -> Option<RegisteredTool> {
    refuse_contradictions(&manifest, executor.as_deref(), &status, report);
    let [taken, returned] = payloads.of(&manifest, pool, report)?;
    let input = taken.compiled(report)?;
    refuse_bad_examples(&manifest, &input, report);
    refuse_no_payload(&manifest, taken.schema.value(), report);
    let routing = Routing::new(&manifest.keywords, &manifest.parameters, taken.schema.value(), report);
    let narration = Narration::new(&manifest, taken.schema.value(), returned.schema.value(), report);
    let typed_method = taken.typed_method.clone();
    let definition = Definition::new(report.file(), manifest, &taken.schema, &returned.schema, typed_method);
    let executor = executor.filter(|_| definition.kind.behaviour().executes);
    let tool = RegisteredTool {
        definition,
        executor,
        input,
        renderer: returned.renderer.clone(),
        output: returned.message.clone(),
        narration: Arc::new(narration),
        routing: Arc::new(routing),
    };
    Some(if status == Status::Ready { tool } else { tool.with_status(status) })
}

fn refuse_contradictions(
    manifest: &Manifest,
    executor: Option<&dyn Executor>,
    status: &Status,
    report: &mut Report,
) {
    if manifest.cache.is_some() && manifest.category != Category::Read {
        let text = format!("only a `read` may be cached, and this is a `{}`", manifest.category.into_str());
        report.add("/cache", "cache-not-read", text);
    }
    if manifest.cache.is_some() && !manifest.kind.behaviour().executes {
        let text =
            format!("a {} executes nothing that could be cached; remove `cache`", manifest.kind.into_str());
        report.add("/cache", "cache-not-executed", text);
    }
    refuse_role(manifest, report);
    match executor.filter(|_| manifest.kind.behaviour().executes) {
        None if manifest.kind.behaviour().executes && *status == Status::Ready => {
            let text = format!("nothing executes `{}`; is it in the list of tools?", manifest.name);
            report.add("", "no-executor", text);
        }
        Some(executor) => {
            refuse_other_message(
                "input",
                manifest.input_message.as_deref(),
                executor.input_message().full_name(),
                report,
            );
            refuse_other_message(
                "output",
                manifest.output_message.as_deref(),
                executor.output_message().full_name(),
                report,
            );
        }
        None => {}
    }
}

/// Delegation needs a role, and no other type may have one.
fn refuse_role(manifest: &Manifest, report: &mut Report) {
    let kind = manifest.kind.into_str();
    match (manifest.kind.behaviour().by, &manifest.agent) {
        (Execution::Delegate, None) => {
            let text = format!("an {kind} needs `agent`, the role that it delegates to, such as `analyst`");
            report.add("/agent", "missing-key", text);
        }
        (Execution::Delegate, Some(_)) | (_, None) => {}
        (_, Some(_)) => {
            let text = format!("a {kind} delegates to nobody; remove `agent`");
            report.add("/agent", "role-not-delegated", text);
        }
    }
}

/// A tool without code needs a parameter with the name and type that its type of tool reads.
fn refuse_no_payload(manifest: &Manifest, schema: &Value, report: &mut Report) {
    let by = manifest.kind.behaviour().by;
    if manifest.memory.is_some() && by != Execution::Log {
        let text = format!("a {} is not only logged; remove `memory`", manifest.kind.into_str());
        report.add("/memory", "memory-not-logged", text);
    }
    let note = manifest.memory.map(|_| ("note", "string"));
    let Some((name, kind)) = by.payload().or(note) else { return };
    let required = schema["required"].as_array().is_some_and(|names| names.iter().any(|it| it == name));
    if !required || schema["properties"][name]["type"] != kind {
        let text = format!(
            "a {} needs the parameter `{name}`, of type {kind} and required",
            manifest.kind.into_str()
        );
        report.add(join("/parameters", name), "missing-parameter", text);
    }
    let documents = &schema["properties"]["documents"];
    if !documents.is_null() && (documents["type"] != "array" || documents["items"]["type"] != "string") {
        let text = "`documents` must be a list of paths: an array of string".to_owned();
        report.add("/parameters/documents", "wrong-type", text);
    }
}

fn refuse_other_message(key: &str, stated: Option<&str>, executed: &str, report: &mut Report) {
    if stated != Some(executed) {
        report.add(
            join("", key),
            "message-mismatch",
            format!("`{key}` must be `{executed}`, which the tool's code has"),
        );
    }
}

fn refuse_bad_examples(manifest: &Manifest, input: &InputSchema, report: &mut Report) {
    for (index, example) in manifest.examples.iter().enumerate() {
        for violation in input.check(example.arguments.clone()).err().into_iter().flatten() {
            let pointer = format!("/examples/{index}/arguments{}", violation.pointer);
            report.add(pointer, "bad-example", violation.description);
        }
    }
}
