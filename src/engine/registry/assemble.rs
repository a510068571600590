//! Assembles a registered tool from its manifest, messages and executor, or reports every reason why it cannot.

use std::{any::Any, fmt, sync::Arc};

use prost_reflect::{DescriptorPool, MessageDescriptor};

use serde_json::{Map, Value, json};

use super::{
    behaviour::Execution,
    conditions::{Conditions, Configured},
    contradictions::refuse_contradictions,
    definition::{Definition, Linkage, OfDomain},
    field_declaration::FieldDeclaration,
    input::InputSchema,
    manifest::Manifest,
    narration::Narration,
    payload::{Payload, Payloads},
    planner_hints::PlannerHints,
    problem::{Report, join},
};
use crate::registry::parts::Status;
use toolwire_contract::transcode::Renderer;
use toolwire_state::workspace::Workspace;
use toolwire_tool::Executor;

/// Makes the executor of a tool by one definition of it, or says why it cannot.
pub type MakeExecutor = dyn Fn(&Definition) -> Result<Arc<dyn Executor>, String> + Send + Sync;

/// A tool that can be called.
#[derive(Clone)]
pub struct RegisteredTool {
    pub definition: Definition,
    /// The code of the tool. `None` for a tool without code.
    pub executor: Option<Arc<dyn Executor>>,
    /// Validates and completes the arguments.
    pub input: InputSchema,
    /// Conditions on the arguments; a call that does not meet them needs a person's approval. `None` for nearly all
    /// tools.
    pub conditions: Option<Arc<Conditions>>,
    /// Renders its data. `None` for a tool that declares its schema itself.
    pub renderer: Option<Arc<Renderer>>,
    /// The message that its data encodes. `None` for a tool that declares its schema itself.
    pub output: Option<MessageDescriptor>,
    /// The messages about its calls for readers.
    pub narration: Arc<Narration>,
    /// Data for planners without a model, beside the definition. The same `Arc` in every status.
    pub hints: Arc<PlannerHints>,
}

impl fmt::Debug for RegisteredTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { definition, .. } = self;
        write!(f, "RegisteredTool({}, {:?})", definition.name, definition.status)
    }
}

impl RegisteredTool {
    /// Whether calls are refused outside a task, whose documents the code works on.
    pub fn works_on_documents(&self) -> bool {
        self.needs_service::<Workspace>()
    }

    /// Whether its code declares a service.
    pub(super) fn needs_service<S: Any + Send + Sync>(&self) -> bool {
        self.executor.as_ref().is_some_and(|executor| executor.services().needs::<S>())
    }

    /// Replaces the status.
    pub(super) fn with_status(&self, status: Status) -> Self {
        Self { definition: self.definition.with_status(status), ..self.clone() }
    }

    /// Assembles a tool of a file that its provider executes. The conditions of the offer hold beside its own. If it
    /// declares no result, it has the result that the offer declares.
    pub(super) fn with_execution(
        &self,
        conditions: &Map<String, Value>,
        output: &Value,
        make: &MakeExecutor,
        report: &mut Report,
    ) -> Option<Self> {
        let own = self.conditions.as_deref();
        let conditions = if conditions.is_empty() {
            self.conditions.clone()
        } else {
            Some(Arc::new(Conditions::join(own, conditions, &self.input, report)))
        };
        let definition = self.definition.with_offer(conditions.as_deref().map(Conditions::to_map), output);
        Self { definition, conditions, ..self.clone() }.executed_by(make, report)
    }

    fn executed_by(mut self, make: &MakeExecutor, report: &mut Report) -> Option<Self> {
        match make(&self.definition) {
            Ok(executor) => self.executor = Some(executor),
            Err(reason) => {
                report.add("/returns", "bad-schema", format!("the schema does not compile: {reason}"));
                return None;
            }
        }
        Some(self)
    }

    /// Whether a file declares that this provider executes it.
    pub(super) fn is_declared_for(&self, provider: &str) -> bool {
        self.definition.upstream.as_ref().is_some_and(|upstream| upstream.provider == provider)
    }
}

/// Assembles the tool that a manifest declares. If problems are reported, the caller must not offer the tool.
pub(super) fn assemble(
    manifest: Manifest,
    configured: &[Configured<'_>],
    (executor, status, domain): (Option<Arc<dyn Executor>>, Status, Option<OfDomain>),
    (pool, payloads): (&DescriptorPool, &mut Payloads),
    report: &mut Report,
) -> Option<RegisteredTool> {
    refuse_contradictions(&manifest, report);
    refuse_other_executor(&manifest, executor.as_deref(), &status, report);
    let payloads = payloads.of(&manifest, pool, report)?;
    let provider: Option<Arc<str>> = manifest.upstream.as_ref().map(|it| it.provider.as_str().into());
    let domain = domain.filter(|_| provider.is_none());
    let linkage = Linkage { typed_method: None, provider, domain };
    let tool = of_payloads((manifest, configured), executor, payloads, linkage, report)?;
    Some(if status == Status::Ready { tool } else { tool.with_status(status) })
}

/// Assembles a tool of a provider, which has the schemas. If problems are reported, the caller must not offer the tool.
pub(super) fn assemble_provider_tool(
    provider: &str,
    (manifest, configured): (Manifest, &[Configured<'_>]),
    [input, output]: [&Value; 2],
    make: &MakeExecutor,
    report: &mut Report,
) -> Option<RegisteredTool> {
    refuse_contradictions(&manifest, report);
    let input = with_bound(input, &manifest.parameters, report);
    let payloads =
        [Payload::of_schema(&input, &manifest.parameters, report), Payload::of_schema(output, &[], report)];
    let linkage = Linkage { provider: Some(provider.into()), ..Linkage::default() };
    let tool = of_payloads((manifest, configured), None, payloads, linkage, report)?;
    tool.executed_by(make, report)
}

fn of_payloads(
    (mut manifest, configured): (Manifest, &[Configured<'_>]),
    executor: Option<Arc<dyn Executor>>,
    [taken, returned]: [Arc<Payload>; 2],
    linkage: Linkage,
    report: &mut Report,
) -> Option<RegisteredTool> {
    let input = taken.compile(report)?;
    refuse_bad_examples(&manifest, &input, report);
    if let Some(misfit) = input.misfit_of_hidden() {
        report.add(format!("/parameters{}", misfit.pointer), "bad-fixed", misfit.description);
    }
    let conditions = Conditions::new(&manifest, configured, &input, report);
    manifest.approve_unless = conditions.as_ref().map(Conditions::to_map);
    refuse_no_payload(&manifest, taken.schema.value(), report);
    let hints = PlannerHints::new(&manifest.keywords, &manifest.parameters, taken.schema.value(), report);
    let narration = Narration::new(&manifest, taken.schema.value(), returned.schema.value(), report);
    let linkage = Linkage { typed_method: taken.typed_method.clone(), ..linkage };
    let definition = Definition::new(report.file(), manifest, &taken.schema, &returned.schema, linkage);
    let executor = executor.filter(|_| definition.kind.behaviour().executes);
    Some(RegisteredTool {
        definition,
        executor,
        input,
        conditions: conditions.map(Arc::new),
        renderer: returned.renderer.clone(),
        output: returned.message.clone(),
        narration: Arc::new(narration),
        hints: Arc::new(hints),
    })
}

fn refuse_other_executor(
    manifest: &Manifest,
    executor: Option<&dyn Executor>,
    status: &Status,
    report: &mut Report,
) {
    match executor.filter(|_| manifest.kind.behaviour().executes) {
        None if manifest.kind.behaviour().executes && *status == Status::Ready => {
            let text = format!("nothing executes `{}`; is it in the list of tools?", manifest.name);
            report.add("", "no-executor", text);
        }
        Some(executor) => {
            if let Some((input, output)) = executor.schema().messages() {
                refuse_other_message("input", manifest.input_message.as_deref(), input.full_name(), report);
                refuse_other_message(
                    "output",
                    manifest.output_message.as_deref(),
                    output.full_name(),
                    report,
                );
            }
        }
        None => {}
    }
}

/// The schema of an offer with the arguments that are bound to the call. The offer's own schema does not have them: it
/// is what callers see.
fn with_bound(schema: &Value, declared: &[FieldDeclaration], report: &mut Report) -> Value {
    let mut schema = schema.clone();
    for FieldDeclaration { name, pointer, .. } in declared {
        if !schema["properties"][name].is_null() {
            let text = format!("`{name}` is bound, so that no caller gives it; remove it from the schema");
            report.add(pointer, "bound-in-schema", text);
        }
        schema["properties"][name] = json!({"type": "string"});
    }
    schema
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
