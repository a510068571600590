//! Reads a manifest as its author wrote it: the keys of `data/tools/<name>.json`, with every problem reported.
//!
//! The result is well-formed; whether it agrees with messages, executors and other manifests is checked where those are
//! known (`assemble`, `load`).

mod form;
mod schema;

use std::{path::Path, time::Duration};

pub use schema::manifest_schema;
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::{Map, Value, json};
use strum::VariantNames;

use super::{
    keys::{self, flag, keys, list, text, texts, whole},
    problem::Report,
    words::{Category, ConsequenceLevel, MemoryScope, ToolType},
};
use crate::registry::{
    field_declaration::FieldDeclaration,
    parts::{CachePolicy, Example, Source, Upstream},
};
use schema::{conditions, keywords};
use toolwire_base::digest::Digest;
use toolwire_config::RecordLevel;
use toolwire_contract::{ToolName, json as strict};

keys! {
    /// A manifest, each key in its type.
    #[derive(Clone, Debug)]
    #[allow(clippy::struct_excessive_bools, reason = "a key each")]
    pub struct Manifest {
        /// The tool's name. The file is called `<name>.json`.
        "name" (alias = "tool_id", deserialize_with = "tool_name") pub name: ToolName = keys::name(),
        /// A short name for people.
        "title" (default) pub title: String = text(),
        /// The version of the tool, such as 1.0.0.
        "version" (default) pub version: String = keys::version(),
        /// What a model reads to choose the tool: what it returns, when to use it, when not.
        "description" () pub description: String = text(),
        /// How a call is carried out. Only `function_tool` executes code.
        "type" () pub kind: ToolType = ToolType::form(),
        /// What a call may change. Anything but `read` needs a `request_id`.
        "category" () pub category: Category = Category::form(),
        /// The impact of a call on the real world.
        "consequence_level" () pub consequence_level: ConsequenceLevel = ConsequenceLevel::form(),
        /// Whether a person must approve each call first.
        "requires_confirmation" () pub requires_confirmation: bool = flag(),
        /// Conditions on arguments, a JSON Schema by the name of an argument. A call that breaks one, or does not give
        /// the argument, must be approved by a person.
        "approve_unless" (default) pub approve_unless: Option<Map<String, Value>> = conditions(),
        /// Words to filter by.
        "tags" (default) pub tags: Vec<String> = texts(),
        /// Intents that are routed to this tool. No other tool may have them.
        "intents" (default) pub intents: Vec<String> = texts(),
        /// Questions of users that this tool answers.
        "utterances" (default) pub utterances: Vec<String> = texts(),
        /// Phrases of questions that this tool answers and those beside it do not; for planners without a model.
        "keywords" (default) pub(super) keywords: Vec<String> = keywords(),
        /// Calls that are valid. Start-up checks them against the schema.
        "examples" (default) pub examples: Vec<Example> = list(&Example::schema()),
        /// The tools that this one calls.
        "depends_on" (default) pub depends_on: Vec<String> = texts(),
        /// Full name of the protobuf message of the arguments. Types and structure come from it.
        "input" (default) pub input_message: Option<String> = text(),
        /// Full name of the protobuf message of the result.
        "output" (default) pub output_message: Option<String> = text(),
        /// Constraints on the arguments; without `input` their whole schema.
        "parameters" (default, deserialize_with = "parameters")
            pub(super) parameters: Vec<FieldDeclaration> = json!({"type": "object"}),
        /// Constraints on the result; without `output` its whole schema.
        "returns" (default, deserialize_with = "returns")
            pub(super) returns: Vec<FieldDeclaration> = json!({"type": "object"}),
        /// The bound on one execution in milliseconds. Default 15000.
        "timeout_ms" (default = "default_timeout", deserialize_with = "milliseconds")
            pub timeout: Duration = whole(1),
        /// Where the data comes from. Limits and cool-downs belong to sources.
        "source" (default) pub source: Option<Source> = Source::schema(),
        /// The provider that executes calls, if this server does not. This manifest replaces what its hosts offer under
        /// the name.
        "upstream" (default) pub upstream: Option<Upstream> = Upstream::schema(),
        /// How results are cached. Only a `read` may have it.
        "cache" (default) pub cache: Option<CachePolicy> = CachePolicy::form(),
        /// Whether results contain text that people outside wrote.
        "untrusted" (default) pub untrusted: bool = flag(),
        /// Whether a call that is carried out again, with the same arguments, changes nothing more.
        "idempotent" (default) pub idempotent: bool = flag(),
        /// Whether everything that a call changes stays within the tree of its task.
        "contained" (default) pub contained: bool = flag(),
        /// The most that is recorded of calls, for people who look at them. The settings of a server record less, or
        /// nothing.
        "record" (default, deserialize_with = "record_level")
            pub record: Option<RecordLevel> = json!({"enum": RecordLevel::VARIANTS}),
        /// The role of the agent that calls are delegated to. For `agent_as_tool`, and only for that.
        "agent" (default) pub agent: Option<String> = keys::name(),
        /// For whom the `note` of a call is remembered. For `non_function_tool`, and only for that.
        "memory" (default) pub memory: Option<MemoryScope> = MemoryScope::form(),
        /// Lines for a planner's system prompt. One that begins with `Prioritize:` is about the choice among tools.
        "guidance" (default) pub guidance: Vec<String> = texts(),
        /// What is said when a call begins, with {parameters} in braces.
        "progress" (default) pub progress: String = text(),
        /// The call as an order, with {parameters} in braces: what the embedded planner asks about before it changes
        /// something.
        "proposal" (default) pub proposal: String = text(),
        /// What is said of a result, with {fields} in braces.
        "summary" (default) pub summary: String = text(),
    }
}

impl Manifest {
    /// Reads a manifest. Malformed parts are reported and dropped, so that the rest is checked too. `None` if nothing
    /// can be read.
    pub(super) fn read(file: &str, text: &str, report: &mut Report) -> Option<Self> {
        let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let value = parse(text, report)?;
        form::check(&value, report);
        let Value::Object(mut object) = value else { return None };
        object.shift_remove("$schema");
        if report.len() > 0 {
            mend(&mut object, stem, report);
        }
        let name = if object.contains_key("tool_id") { "/tool_id" } else { "/name" };
        match Self::deserialize(Value::Object(object)) {
            Ok(manifest) => {
                manifest.refuse_another_name(stem, name, report);
                manifest.refuse_equal_tags(report);
                Some(manifest)
            }
            Err(error) => {
                // The schema accepted what the type refuses, which is a bug here: better a problem than a panic.
                if report.len() == 0 {
                    report.add("", "wrong-type", error.to_string());
                }
                None
            }
        }
    }

    /// Whether a call may need approval because of the definition alone.
    pub fn may_need_confirmation(&self) -> bool {
        self.requires_confirmation || self.approve_unless.is_some()
    }

    /// Whether repeating a call with the same arguments has no further effect.
    pub(super) fn is_repeatable(&self) -> bool {
        self.idempotent || self.category == Category::Read
    }

    /// Checks the form of conditions that stand elsewhere, as if they were those of a manifest.
    pub(super) fn check_conditions(conditions: &Map<String, Value>, report: &mut Report) {
        let mut object = Map::from_iter([("approve_unless".to_owned(), conditions.clone().into())]);
        object.insert("description".to_owned(), "It stands for the rest.".into());
        mend(&mut object, "", report);
        form::check(&object.into(), report);
    }

    fn refuse_another_name(&self, stem: &str, pointer: &str, report: &mut Report) {
        let name = &self.name;
        if **name != *stem && *name != stand_in(stem) {
            let fix = format!("the file of `{name}` must be called {name}.json");
            report.add(pointer, "name-not-file-name", fix);
        }
    }

    fn refuse_equal_tags(&self, report: &mut Report) {
        let twice = self.tags.iter().enumerate().find(|(index, tag)| self.tags[..*index].contains(tag));
        if let Some((_, tag)) = twice {
            report.add("/tags", "duplicate", format!("the tag `{tag}` stands twice; keep one"));
        }
    }
}

/// Parses a JSON object.
fn parse(text: &str, report: &mut Report) -> Option<Value> {
    match strict::parse(text) {
        Ok(value) if value.is_object() => return Some(value),
        Ok(_) => report.add("", "wrong-type", "a manifest is a JSON object"),
        // The message of serde_json ends with line and column.
        Err(error) => report.add("", "bad-json", format!("not JSON: {error}")),
    }
    None
}

/// Drops malformed values and adds harmless ones for required keys, so that one mistake is reported as one problem.
fn mend(object: &mut Map<String, Value>, stem: &str, report: &Report) {
    for problem in report.problems() {
        let mut segments = problem.pointer.split('/').skip(1);
        match (segments.next(), segments.next(), problem.rule) {
            // Fields are read without their malformed keys, and a role with a bad name still counts as a role.
            (Some("parameters" | "returns"), Some(_), _) | (Some("agent"), _, "bad-name") | (None, ..) => {}
            (Some(key), ..) => drop(object.shift_remove(&key.replace("~1", "/").replace("~0", "~"))),
        }
    }
    if !object.contains_key("tool_id") {
        object.entry("name").or_insert_with(|| stand_in(stem).as_str().into());
    }
    for (key, value) in [
        ("description", json!("")),
        // This type needs no executor.
        ("type", json!(ToolType::NonFunction.into_str())),
        ("category", json!(Category::Read.into_str())),
        ("consequence_level", json!(ConsequenceLevel::Low.into_str())),
        ("requires_confirmation", json!(false)),
    ] {
        object.entry(key).or_insert(value);
    }
}

/// A name for a manifest without a valid one. It is unique per file, so that no duplicate name is reported as well.
fn stand_in(stem: &str) -> ToolName {
    stem.parse().unwrap_or_else(|_| {
        let name = format!("t{}", Digest::of_bytes(stem.as_bytes()));
        name[..17].parse().expect("a letter and hexadecimal digits")
    })
}

/// The time-out of a tool whose manifest states none.
fn default_timeout() -> Duration {
    Duration::from_secs(15)
}

fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let count = keys::whole_number(&Value::deserialize(deserializer)?);
    count.map(Duration::from_millis).ok_or_else(|| D::Error::custom("expected a whole number"))
}

fn tool_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ToolName, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

fn record_level<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RecordLevel>, D::Error> {
    String::deserialize(deserializer)?.parse().map(Some).map_err(D::Error::custom)
}

fn parameters<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<FieldDeclaration>, D::Error> {
    Map::deserialize(deserializer).map(|fields| FieldDeclaration::read_all(fields, "/parameters"))
}

fn returns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<FieldDeclaration>, D::Error> {
    Map::deserialize(deserializer).map(|fields| FieldDeclaration::read_all(fields, "/returns"))
}
