//! A manifest as its author wrote it: the keys of `data/tools/<name>.json`, read with every problem reported.
//!
//! What is read here is well formed; whether it agrees with the messages, the executors and the other manifests is
//! checked where those are known (`assemble`, `load`).

mod schema;

use std::{path::Path, time::Duration};

pub use schema::manifest_schema;
use semver::Version;
use serde_json::{Map, Value};

use super::{
    problem::{Report, join},
    words::{CacheScope, CacheTier, Category, ConsequenceLevel, MemoryScope, ToolType},
};
use crate::registry::{
    declared::{Declared, Direction, Mode},
    parts::{CachePolicy, Example, Source},
    reader::{Milliseconds, Reader, Seconds},
};
use toolwire_base::digest::Digest;
use toolwire_contract::{ToolName, json, tool_name::InvalidToolName};

/// The time-out of a tool whose manifest states none (spec 001).
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(15);

/// What a role may be called: what a tool may be.
const ROLE_FORM: &str = "lower-case letters, digits and `_`, a letter first, at most 64";

/// A manifest, each key in its type. What is missing or mistyped is reported and stands in as something harmless.
#[allow(clippy::struct_excessive_bools, reason = "a key each")]
pub(super) struct Manifest {
    pub(super) file: String,
    pub(super) name: ToolName,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) kind: ToolType,
    pub(super) category: Category,
    pub(super) consequence_level: ConsequenceLevel,
    pub(super) requires_confirmation: bool,
    pub(super) timeout: Duration,
    pub(super) version: String,
    pub(super) tags: Vec<String>,
    pub(super) intents: Vec<String>,
    pub(super) utterances: Vec<String>,
    pub(super) keywords: Vec<String>,
    pub(super) examples: Vec<Example>,
    pub(super) depends_on: Vec<String>,
    pub(super) input: Option<String>,
    pub(super) output: Option<String>,
    pub(super) parameters: Vec<Declared>,
    pub(super) returns: Vec<Declared>,
    pub(super) source: Option<Source>,
    pub(super) cache: Option<CachePolicy>,
    pub(super) untrusted: bool,
    pub(super) idempotent: bool,
    pub(super) contained: bool,
    pub(super) agent: Option<String>,
    pub(super) memory: Option<MemoryScope>,
    pub(super) guidance: Vec<String>,
    pub(super) progress: String,
    pub(super) proposal: String,
    pub(super) summary: String,
}

impl Manifest {
    /// Reads a manifest. `None` only when it is not a JSON object.
    pub(super) fn read(file: &str, text: &str, report: &mut Report) -> Option<Self> {
        let object = parse(text, report)?;
        let mut reader = Reader::new(&object, String::new(), report);
        // For editors: the address of the JSON Schema.
        let _: Option<String> = reader.optional("$schema");
        let input: Option<String> = reader.optional("input");
        let output: Option<String> = reader.optional("output");
        let manifest = Self {
            file: file.to_owned(),
            name: name(&mut reader, file),
            title: text_of(&mut reader, "title"),
            description: reader.required("description").unwrap_or_default(),
            // A stand-in that needs no executor, so that one missing key is one problem.
            kind: reader.required("type").unwrap_or(ToolType::NonFunction),
            category: reader.required("category").unwrap_or(Category::Read),
            consequence_level: reader.required("consequence_level").unwrap_or(ConsequenceLevel::Low),
            requires_confirmation: reader.required("requires_confirmation").unwrap_or(false),
            timeout: reader.optional("timeout_ms").map_or(DEFAULT_TIMEOUT, |Milliseconds(timeout)| timeout),
            version: version(&mut reader),
            tags: tags(&mut reader),
            intents: reader.list("intents"),
            utterances: reader.list("utterances"),
            keywords: reader.list("keywords"),
            examples: examples(&mut reader),
            depends_on: reader.list("depends_on"),
            parameters: Declared::read_all(
                &mut reader,
                "parameters",
                Mode { direction: Direction::Input, has_message: input.is_some() },
            ),
            returns: Declared::read_all(
                &mut reader,
                "returns",
                Mode { direction: Direction::Output, has_message: output.is_some() },
            ),
            input,
            output,
            source: source(&mut reader),
            cache: cache(&mut reader),
            untrusted: reader.optional("untrusted").unwrap_or(false),
            idempotent: reader.optional("idempotent").unwrap_or(false),
            contained: reader.optional("contained").unwrap_or(false),
            agent: agent(&mut reader),
            memory: reader.optional("memory"),
            guidance: reader.list("guidance"),
            progress: text_of(&mut reader, "progress"),
            proposal: text_of(&mut reader, "proposal"),
            summary: text_of(&mut reader, "summary"),
        };
        refuse_upstream(&mut reader);
        reader.end();
        Some(manifest)
    }
}

fn parse(text: &str, report: &mut Report) -> Option<Map<String, Value>> {
    match json::parse(text) {
        Ok(Value::Object(object)) => return Some(object),
        Ok(_) => report.add("", "wrong-type", "a manifest is a JSON object"),
        // The message of serde_json ends with line and column.
        Err(error) => report.add("", "bad-json", format!("not JSON: {error}")),
    }
    None
}

fn text_of(reader: &mut Reader<'_>, key: &'static str) -> String {
    reader.optional(key).unwrap_or_default()
}

/// `name`, or spec 002's `tool_id`.
fn name(reader: &mut Reader<'_>, file: &str) -> ToolName {
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let key = match (reader.value("name"), reader.value("tool_id")) {
        (None, Some(_)) => "tool_id",
        (Some(_), Some(_)) => {
            reader.refuse("tool_id", "alias-and-name", "`tool_id` is an alias of `name`; keep `name` only");
            "name"
        }
        _ => "name",
    };
    let Some(text) = reader.required::<String>(key) else { return stand_in(stem) };
    match text.parse() {
        Err(error) => reader.refuse(key, "bad-name", InvalidToolName::to_string(&error)),
        Ok(_) if text != stem => {
            let fix = format!("the file of `{text}` must be called {text}.json");
            reader.refuse(key, "name-not-file-name", fix);
        }
        Ok(name) => return name,
    }
    text.parse().unwrap_or_else(|_| stand_in(stem))
}

/// A name for a manifest whose own is missing or refused: other files get other ones, so that it is one problem.
fn stand_in(stem: &str) -> ToolName {
    stem.parse().unwrap_or_else(|_| {
        let name = format!("t{}", Digest::of_bytes(stem.as_bytes()));
        name[..17].parse().expect("a letter and hexadecimal digits")
    })
}

/// The role of the agent that calls are delegated to.
fn agent(reader: &mut Reader<'_>) -> Option<String> {
    let role: String = reader.optional("agent")?;
    if role.parse::<ToolName>().is_err() {
        let text = format!("the role `{role}` must be a name such as `analyst`: {ROLE_FORM}");
        reader.refuse("agent", "bad-name", text);
    }
    Some(role)
}

fn tags(reader: &mut Reader<'_>) -> Vec<String> {
    let tags: Vec<String> = reader.list("tags");
    let twice = tags.iter().enumerate().find(|(index, tag)| tags[..*index].contains(tag));
    if let Some((_, tag)) = twice {
        reader.refuse("tags", "duplicate", format!("the tag `{tag}` stands twice; keep one"));
    }
    tags
}

fn version(reader: &mut Reader<'_>) -> String {
    let version = text_of(reader, "version");
    if !version.is_empty() && Version::parse(&version).is_err() {
        let fix = format!("`{version}` is not a valid semantic version; write one such as 1.0.0");
        reader.refuse("version", "bad-version", fix);
    }
    version
}

fn examples(reader: &mut Reader<'_>) -> Vec<Example> {
    let pointer = reader.at("examples");
    let objects: Vec<Map<String, Value>> = reader.list("examples");
    objects
        .iter()
        .enumerate()
        .map(|(index, object)| {
            let mut reader = Reader::new(object, join(&pointer, index), reader.report);
            let description = reader.required("description").unwrap_or_default();
            let arguments = reader.required("arguments").unwrap_or_default();
            reader.end();
            Example { description, arguments }
        })
        .collect()
}

fn source(reader: &mut Reader<'_>) -> Option<Source> {
    let mut reader = reader.object("source")?;
    let source =
        Source { name: reader.required("name").unwrap_or_default(), sections: reader.list("sections") };
    reader.end();
    Some(source)
}

fn cache(reader: &mut Reader<'_>) -> Option<CachePolicy> {
    let mut reader = reader.object("cache")?;
    let ttl = match reader.value("ttl_s") {
        Some(_) => reader.optional("ttl_s"),
        None => reader.required("ttl"),
    };
    let tier = reader.required("tier");
    let scope = reader.optional("scope").unwrap_or(CacheScope::User);
    // Known also where `ttl_s` is given, so that the message below is the only one.
    if reader.value("ttl").is_some() && reader.value("ttl_s").is_some() {
        reader.refuse("ttl", "alias-and-name", "give `ttl_s` or `ttl`, not both");
    }
    reader.end();
    Some(CachePolicy {
        ttl: ttl.map_or(Duration::ZERO, |Seconds(ttl)| ttl),
        tier: tier.unwrap_or(CacheTier::Request),
        scope,
    })
}

fn refuse_upstream(reader: &mut Reader<'_>) {
    if reader.value("upstream").is_some() {
        reader.refuse(
            "upstream",
            "not-supported-yet",
            "upstream tools are not supported yet; remove the block",
        );
    }
}
