//! A manifest, its messages and its executor become a registered tool, or every reason why they cannot.

use std::{fmt, sync::Arc};

use prost_reflect::{DescriptorPool, MessageDescriptor};
use serde_json::Value;

use super::{
    definition::{Definition, Derived, Status},
    input::InputSchema,
    manifest::Manifest,
    narration::Narration,
    problem::{Report, join},
    schema::{self, Direction},
    words::{Category, ToolType},
};
use crate::{
    contract::{near::did_you_mean, payload::Omitted, transcode::Renderer},
    tool::Executor,
};

/// A tool that can be called.
#[derive(Clone)]
pub struct RegisteredTool {
    /// What callers see.
    pub definition: Definition,
    /// What executes it. `None` for a tool that executes nothing.
    pub executor: Option<Arc<dyn Executor>>,
    /// Checks and completes its arguments.
    pub input: InputSchema,
    /// Renders its data. `None` for a tool that declares its schema itself.
    pub renderer: Option<Arc<Renderer>>,
    /// What its data is an encoding of. `None` for a tool that declares its schema itself.
    pub output: Option<MessageDescriptor>,
    /// What is said of its calls.
    pub narration: Arc<Narration>,
}

impl fmt::Debug for RegisteredTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { definition, .. } = self;
        write!(f, "RegisteredTool({}, {:?})", definition.name, definition.status)
    }
}

impl RegisteredTool {
    /// The same tool in another status.
    pub(super) fn with_status(&self, status: Status) -> Self {
        Self { definition: self.definition.with_status(status), ..self.clone() }
    }
}

/// The tool that a manifest declares. Whatever is reported, the caller must not offer it.
pub(super) fn assemble(
    manifest: Manifest,
    executor: Option<Arc<dyn Executor>>,
    pool: &DescriptorPool,
    report: &mut Report,
) -> Option<RegisteredTool> {
    refuse_unaccepted(&manifest, report);
    refuse_contradictions(&manifest, executor.as_deref(), report);
    let input_message = message(manifest.input.as_deref(), pool, Direction::Input, report);
    let output_message = message(manifest.output.as_deref(), pool, Direction::Output, report);
    let typed_method = input_message.as_ref().and_then(|message| typed_method(message, pool));
    let input = schema_of(&manifest, input_message.as_ref(), Direction::Input, report);
    let output = schema_of(&manifest, output_message.as_ref(), Direction::Output, report);
    let ((input_schema, _), (output_schema, omitted)) = (input?, output?);
    let input = compile(&input_schema, input_message, report)?;
    refuse_bad_examples(&manifest, &input, report);
    let narration = Narration::new(&manifest, &input_schema, &output_schema, report);
    let definition = Definition::new(manifest, Derived { input_schema, output_schema, typed_method });
    let executor = executor.filter(|_| definition.kind == ToolType::Function);
    Some(RegisteredTool {
        definition,
        executor,
        input,
        renderer: output_message.as_ref().map(|message| Arc::new(Renderer::new(message, omitted))),
        output: output_message,
        narration: Arc::new(narration),
    })
}

/// What this stage does not carry out yet. Each line goes when its layer lands.
fn refuse_unaccepted(manifest: &Manifest, report: &mut Report) {
    let kind = manifest.kind;
    if !matches!(kind, ToolType::Function | ToolType::NonFunction) {
        report.add(
            "/type",
            "not-accepted-yet",
            format!("tools of type {} are not accepted yet", kind.word()),
        );
    }
    if manifest.requires_confirmation && kind == ToolType::Function {
        let text = "no executable tool may require confirmation yet: nothing would ask for it";
        report.add("/requires_confirmation", "not-accepted-yet", text);
    }
}

fn refuse_contradictions(manifest: &Manifest, executor: Option<&dyn Executor>, report: &mut Report) {
    if manifest.cache.is_some() && manifest.category != Category::Read {
        let text = format!("only a `read` may be cached, and this is a `{}`", manifest.category.word());
        report.add("/cache", "cache-not-read", text);
    }
    match (manifest.kind, executor) {
        (ToolType::Function, None) => {
            let text = format!("nothing executes `{}`; is it in the list of tools?", manifest.name);
            report.add("", "no-executor", text);
        }
        (ToolType::Function, Some(executor)) => {
            refuse_other_message(
                "input",
                manifest.input.as_deref(),
                executor.input_message().full_name(),
                report,
            );
            refuse_other_message(
                "output",
                manifest.output.as_deref(),
                executor.output_message().full_name(),
                report,
            );
        }
        _ => {}
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

/// The message of a name; `None` for none, or for an unknown one, which is reported.
fn message(
    name: Option<&str>,
    pool: &DescriptorPool,
    direction: Direction,
    report: &mut Report,
) -> Option<MessageDescriptor> {
    let name = name?;
    let Some(message) = pool.get_message_by_name(name) else {
        let known: Vec<_> = pool.all_messages().map(|message| message.full_name().to_owned()).collect();
        let hint = did_you_mean(name, known.iter().map(String::as_str));
        report.add(direction.message_pointer(), "unknown-message", format!("no message `{name}`{hint}"));
        return None;
    };
    schema::refuse_unsupported(&message, direction, report);
    Some(message)
}

/// The schema of one direction. `None` if its message is unknown or cannot be a payload, which is reported.
fn schema_of(
    manifest: &Manifest,
    message: Option<&MessageDescriptor>,
    direction: Direction,
    report: &mut Report,
) -> Option<(Value, Omitted)> {
    let (stated, declared) = match direction {
        Direction::Input => (&manifest.input, &manifest.parameters),
        Direction::Output => (&manifest.output, &manifest.returns),
    };
    match (stated, message) {
        (Some(_), Some(message)) if schema::is_payload(message, direction) => {
            Some(schema::from_message(message, declared, direction, report))
        }
        (Some(_), _) => None,
        (None, _) => Some((schema::from_manifest(declared, direction, report), Omitted::new())),
    }
}

fn compile(schema: &Value, message: Option<MessageDescriptor>, report: &mut Report) -> Option<InputSchema> {
    let compiled = InputSchema::new(schema.clone(), message);
    // What a constraint broke was reported where the constraint stands.
    if let (Err(reason), 0) = (&compiled, report.len()) {
        report.add("/parameters", "bad-schema", format!("the schema does not compile: {reason}"));
    }
    compiled.ok()
}

fn refuse_bad_examples(manifest: &Manifest, input: &InputSchema, report: &mut Report) {
    for (index, example) in manifest.examples.iter().enumerate() {
        for violation in input.check(example.arguments.clone()).err().into_iter().flatten() {
            let pointer = format!("/examples/{index}/arguments{}", violation.pointer);
            report.add(pointer, "bad-example", violation.description);
        }
    }
}

/// The RPC of a typed service whose request is the given message.
fn typed_method(input: &MessageDescriptor, pool: &DescriptorPool) -> Option<String> {
    let services = pool.services().filter(|service| service.package_name() != "toolwire.v1");
    let mut methods = services.flat_map(|service| service.methods().collect::<Vec<_>>());
    let method = methods.find(|method| method.input().full_name() == input.full_name())?;
    Some(format!("{}/{}", method.parent_service().full_name(), method.name()))
}
