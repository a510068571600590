//! The prompts of models: `prompts/<name>.md` of the data directory, or else as they are built in.
//!
//! Start-up refuses every prompt that is wrong; afterwards the last good ones stay, and what is wrong is told like what
//! is wrong with manifests. A prompt includes nothing, works for a bounded time, and names no value that there is not.
//! Not here: what is said beside them.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use arc_swap::ArcSwap;
use include_dir::{Dir, include_dir};
use minijinja::{Environment, Error, UndefinedBehavior, syntax::SyntaxConfig, value::Value};

use crate::{
    clock,
    files::{Problem, Problems, Stamp, Tree},
    registry::{DataSource, SourceHealth},
};

/// Those that are built in.
static BUILT_IN: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/data/prompts");

/// What a prompt may do, in steps and in pieces of 64 bytes.
const FUEL: u64 = 200_000;

/// A file written so recently may be written again without its stamp telling.
const SETTLES_AFTER: Duration = Duration::from_secs(2);

/// The longest prompt, in bytes.
const LONGEST: usize = 32 * 1024;

/// The values that a prompt may have.
const VALUES: [&str; 7] =
    ["account", "available_tools", "guidance", "persona", "problem", "sources", "today"];

/// A prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// Who the model is, and what holds for all it says: part of the others.
    Persona,
    /// Which tool is called next (spec 003).
    ToolPlanner,
    /// The answer from what tools returned (spec 003).
    ToolAnswer,
    /// Calls and answer in one conversation (specs 002, 004).
    Agent,
    /// What was wrong with a plan.
    RepairPlan,
    /// What was wrong with an answer.
    RepairAnswer,
}

/// The values of a prompt. Empty ones are as if they were not there.
#[derive(Clone, Debug, Default)]
pub struct Values<'a> {
    /// The account of the request.
    pub account: &'a str,
    /// The tools, a line each.
    pub available_tools: &'a str,
    /// How to use them well.
    pub guidance: &'a str,
    /// What was wrong.
    pub problem: &'a str,
    /// What may be cited.
    pub sources: &'a str,
    /// The day.
    pub today: &'a str,
}

/// All prompts, kept current.
pub struct Prompts {
    tree: Tree,
    looked: Mutex<Looked>,
    current: ArcSwap<Environment<'static>>,
}

/// What was found at the last look.
#[derive(Default)]
struct Looked {
    stamps: Option<Vec<Stamp>>,
    problems: Vec<Problem>,
}

impl Prompt {
    /// Every prompt.
    pub const ALL: [Self; 6] = [
        Self::Persona,
        Self::ToolPlanner,
        Self::ToolAnswer,
        Self::Agent,
        Self::RepairPlan,
        Self::RepairAnswer,
    ];

    /// Its name: that of its file without `.md`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Persona => "persona",
            Self::ToolPlanner => "tool_planner",
            Self::ToolAnswer => "tool_answer",
            Self::Agent => "agent",
            Self::RepairPlan => "repair_plan",
            Self::RepairAnswer => "repair_answer",
        }
    }

    fn path(self) -> String {
        format!("prompts/{}.md", self.name())
    }
}

impl Prompts {
    /// Reads all prompts, or tells everything that is wrong with them.
    pub fn open(tree: Tree) -> Result<Self, Problems> {
        let stamps = stamps(&tree);
        let current = ArcSwap::from_pointee(load(&tree).map_err(Problems)?);
        let looked = Mutex::new(Looked { stamps, problems: Vec::new() });
        Ok(Self { tree, looked, current })
    }

    /// The text of a prompt with these values. One that fails at work, as no prompt that start-up took does, is empty.
    pub fn render(&self, prompt: Prompt, values: &Values<'_>) -> String {
        let environment = self.current.load();
        let persona = rendered(&environment, Prompt::Persona, values, "");
        let text = persona.and_then(|persona| rendered(&environment, prompt, values, &persona));
        text.unwrap_or_else(|error| {
            tracing::error!(prompt = prompt.name(), %error, "a prompt failed");
            String::new()
        })
    }
}

impl DataSource for Prompts {
    fn name(&self) -> &'static str {
        "prompts"
    }

    /// Takes over edits: all of them, or none and what is wrong. No result depends on them, so no digest tells of them.
    fn refresh(&self) -> SourceHealth {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let stamps = stamps(&self.tree);
        if looked.stamps.is_none() || looked.stamps != stamps {
            looked.stamps = stamps;
            looked.problems = match load(&self.tree) {
                Ok(environment) => {
                    self.current.store(Arc::new(environment));
                    Vec::new()
                }
                Err(problems) => problems,
            };
        }
        SourceHealth { problems: looked.problems.clone(), ..SourceHealth::default() }
    }
}

impl fmt::Debug for Prompts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prompts({})", self.current.load().templates().count())
    }
}

/// How the files on disk are; `None` if one is so new that it may be written again without its stamp telling.
fn stamps(tree: &Tree) -> Option<Vec<Stamp>> {
    let stamps: Vec<_> = Prompt::ALL.into_iter().map(|prompt| tree.stamp(&prompt.path())).collect();
    stamps.iter().all(is_settled).then_some(stamps)
}

/// One that is not there is as it was built in.
fn is_settled(stamp: &Stamp) -> bool {
    stamp.is_none_or(|(at, _)| clock::wall().duration_since(at).is_ok_and(|age| age >= SETTLES_AFTER))
}

fn load(tree: &Tree) -> Result<Environment<'static>, Vec<Problem>> {
    let (mut environment, mut problems) = (environment(), unknown(tree));
    for prompt in Prompt::ALL {
        let added = text(tree, prompt).and_then(|text| add(&mut environment, prompt, text));
        problems.extend(added.err().map(|(rule, what)| Problem::new(&prompt.path(), rule, what)));
    }
    if problems.is_empty() { Ok(environment) } else { Err(problems) }
}

/// Files that are no prompt, as one is that is misspelled.
fn unknown(tree: &Tree) -> Vec<Problem> {
    let names = Prompt::ALL.map(Prompt::name);
    let files = tree.list("prompts", "md").unwrap_or_default();
    let is_known = |path: &&String| Prompt::ALL.into_iter().any(|prompt| prompt.path() == **path);
    let problem = |path: String| {
        let what = format!("no such prompt; there are {}", names.join(", "));
        Problem::new(&path, "unknown-prompt", what)
    };
    files.iter().filter(|path| !is_known(path)).cloned().map(problem).collect()
}

/// What is wrong: the rule, and in words.
type Wrong = (&'static str, String);

/// The text of a prompt: that on disk, or else the built-in one.
fn text(tree: &Tree, prompt: Prompt) -> Result<String, Wrong> {
    let on_disk = tree.read(&prompt.path()).map_err(|error| ("unreadable", error.to_string()))?;
    let built_in = || {
        let file = BUILT_IN.get_file(format!("{}.md", prompt.name()));
        file.and_then(|file| file.contents_utf8()).expect("every prompt is built in").to_owned()
    };
    Ok(on_disk.unwrap_or_else(built_in))
}

fn add(environment: &mut Environment<'static>, prompt: Prompt, text: String) -> Result<(), Wrong> {
    if text.len() > LONGEST {
        return Err(("too-long", format!("a prompt has at most {LONGEST} bytes")));
    }
    let bad = |error: Error| {
        let what = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
        let line = error.line().map(|line| format!("line {line}: ")).unwrap_or_default();
        ("bad-prompt", format!("{line}{what}"))
    };
    environment.add_template_owned(prompt.name(), text).map_err(bad)?;
    let template = environment.get_template(prompt.name()).map_err(bad)?;
    let mut unknown: Vec<_> = template.undeclared_variables(false).into_iter().collect();
    unknown.retain(|name| !VALUES.contains(&name.as_str()));
    unknown.sort_unstable();
    if !unknown.is_empty() {
        let what = format!("no such value: {}; there are {}", unknown.join(", "), VALUES.join(", "));
        return Err(("unknown-value", what));
    }
    // What is wrong at work only, such as a filter that there is not.
    rendered(environment, prompt, &Values::default(), "").map_err(bad)?;
    Ok(())
}

fn rendered(
    environment: &Environment<'_>,
    prompt: Prompt,
    values: &Values<'_>,
    persona: &str,
) -> Result<String, Error> {
    let Values { account, available_tools, guidance, problem, sources, today } = *values;
    let all = [
        ("account", account),
        ("available_tools", available_tools),
        ("guidance", guidance),
        ("persona", persona),
        ("problem", problem),
        ("sources", sources),
        ("today", today),
    ];
    let all: BTreeMap<_, _> = all.into_iter().map(|(name, value)| (name, Value::from(value))).collect();
    let text = environment.get_template(prompt.name())?.render(Value::from(all))?;
    Ok(text.trim().to_owned())
}

/// What all prompts can use. They are no Markdown that is shown: nothing is escaped.
fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    // A block on a line of its own leaves no empty line.
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the usual signs of blocks are not ambiguous"));
    environment
}

#[cfg(test)]
mod tests;
