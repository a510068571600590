//! The templates of answers: `<domain>/answers/<tool>.md` of the data directory, or else as the domain embeds it.
//!
//! Start-up refuses every template that is wrong; afterwards the last good ones stay, and problems are reported as
//! those of manifests are. Templates include nothing, work for a bounded time, and name known values only.

mod files;
mod filter_names;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use arc_swap::ArcSwap;
use minijinja::{
    Environment, Error, Output, State, UndefinedBehavior,
    syntax::SyntaxConfig,
    value::{Serde, Value},
};
use serde_json::Map;

pub use self::files::Folder;
use self::{
    files::{Files, Text},
    filter_names::unknown_filters,
};
use super::{filters, quote::quote};
use crate::ground::ContextItem;
use toolwire_base::files::{Embedded, Problem, Problems, Tree};
use toolwire_engine::registry::{DataSource, SourceHealth};

/// What a template may do, in steps and in pieces of 64 bytes.
const FUEL: u64 = 200_000;

/// The longest template, in bytes.
const LONGEST: usize = 32 * 1024;

const VALUES: [&str; 7] = ["data", "kind", "tool", "title", "arguments", "cite", "as_of"];

/// The templates of all domains, kept current.
pub struct Templates {
    files: Mutex<Files>,
    current: ArcSwap<Environment<'static>>,
}

/// What a template shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Values<'a> {
    pub(super) item: &'a ContextItem,
    /// The tool's title.
    pub(super) title: &'a str,
    pub(super) arguments: &'a Map<String, serde_json::Value>,
}

impl Default for Templates {
    fn default() -> Self {
        let files = Mutex::new(Files::new(Tree::Embedded(Embedded::default()), Vec::new()));
        Self { files, current: ArcSwap::from_pointee(environment()) }
    }
}

impl Templates {
    /// Reads all templates, or tells everything that is wrong with them.
    pub fn open(tree: Tree, folders: Vec<Folder>) -> Result<Self, Problems> {
        let mut files = Files::new(tree, folders);
        let loaded = files.look().map_or_else(|| Ok(environment()), |texts| load(&texts));
        let current = ArcSwap::from_pointee(loaded.map_err(Problems)?);
        Ok(Self { files: Mutex::new(files), current })
    }

    /// The text of a tool's template, if it has one.
    pub(super) fn render(&self, values: &Values<'_>) -> Option<Result<String, Error>> {
        let environment = self.current.load();
        let template = environment.get_template(&values.item.tool).ok()?;
        Some(template.render(values.to_value()).map(|text| text.trim().to_owned()))
    }
}

impl DataSource for Templates {
    fn name(&self) -> &'static str {
        "answers"
    }

    /// Takes over edits: all of them, or none and what is wrong. No result depends on them, so no digest tells of them.
    fn refresh(&self) -> SourceHealth {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(texts) = files.look() {
            files.problems = match load(&texts) {
                Ok(environment) => {
                    self.current.store(Arc::new(environment));
                    Vec::new()
                }
                Err(problems) => problems,
            };
        }
        SourceHealth { problems: files.problems.clone(), ..SourceHealth::default() }
    }
}

impl fmt::Debug for Templates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Templates({} tools)", self.current.load().templates().count())
    }
}

impl Values<'_> {
    fn to_value(self) -> Value {
        let Self { item, title, arguments } = self;
        let cite = item.source_ids.iter().map(|id| format!("[{id}]")).collect::<Vec<_>>().join(" ");
        let values = BTreeMap::from([
            ("data", Value::from(Serde(&item.data))),
            ("kind", Value::from(&item.kind)),
            ("tool", Value::from(&item.tool)),
            ("title", Value::from(title)),
            ("arguments", Value::from(Serde(arguments))),
            ("cite", Value::from_safe_string(cite)),
            ("as_of", Value::from(&item.as_of)),
        ]);
        Value::from(values)
    }
}

fn load(texts: &[Text]) -> Result<Environment<'static>, Vec<Problem>> {
    let (mut environment, mut problems) = (environment(), Vec::new());
    for text in texts {
        problems.extend(add(&mut environment, text));
    }
    if problems.is_empty() { Ok(environment) } else { Err(problems) }
}

/// Takes a template, or tells what is wrong with it.
fn add(environment: &mut Environment<'static>, text: &Text) -> Option<Problem> {
    let Text { tool, content, .. } = text;
    let content = match content {
        Ok(content) if content.len() <= LONGEST => content.clone(),
        Ok(_) => return Some(text.problem("too-long", format!("a template has at most {LONGEST} bytes"))),
        Err(reason) => return Some(text.problem("unreadable", reason.clone())),
    };
    if let Err(error) = environment.add_template_owned(tool.clone(), content) {
        return Some(text.problem("bad-template", in_words(&error)));
    }
    let template = environment.get_template(tool).ok()?;
    let mut unknown: Vec<_> = template.undeclared_variables(false).into_iter().collect();
    unknown.retain(|name| !VALUES.contains(&name.as_str()));
    unknown.sort_unstable();
    if !unknown.is_empty() {
        let what = format!("no such value: {}; there are {}", unknown.join(", "), VALUES.join(", "));
        return Some(text.problem("unknown-value", what));
    }
    let (line, name) = unknown_filters(environment, template.source()).into_iter().next()?;
    Some(text.problem("unknown-filter", format!("line {line}: no such filter: {name}")))
}

fn in_words(error: &Error) -> String {
    let what = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    error.line().map_or_else(|| what.clone(), |line| format!("line {line}: {what}"))
}

/// What all templates can use.
fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    // A block on a line of its own leaves no empty line.
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the usual signs of blocks are not ambiguous"));
    environment.set_formatter(show);
    // They would turn text from outside into Markdown.
    for name in ["safe", "escape", "e"] {
        environment.remove_filter(name);
    }
    environment.add_filter("num", filters::num);
    environment.add_filter("money", filters::money);
    environment.add_filter("pct", filters::pct);
    environment.add_filter("date", filters::date);
    environment.add_filter("quote", filters::quote_filter);
    environment.add_filter("link", filters::link);
    environment.add_filter("rest", filters::rest);
    environment
}

/// Shows a value: what a filter of ours made as it is, anything else as text from outside.
fn show(out: &mut Output<'_>, _state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    let written = match value.as_str() {
        Some(text) if value.is_safe() => out.write_str(text),
        Some(text) => out.write_str(&quote(text)),
        None if value.is_none() => out.write_str(filters::ABSENT),
        None => out.write_str(&quote(&value.to_string())),
    };
    written.map_err(Error::from)
}
