//! The prompts of models: `prompts/<name>.md` of the data directory, or else as they are built in; those of roles are
//! `prompts/roles/<name>.md`.
//!
//! Start-up refuses every prompt that is wrong; afterwards the last good ones stay, and problems are reported as those
//! of manifests are. A prompt includes nothing, works for a bounded time, and names known values only. Not here: the
//! rest of the conversation.

mod files;
mod prompt;
mod template;

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use arc_swap::ArcSwap;
use minijinja::Environment;

pub use self::prompt::{Prompt, Values};
use self::{
    files::{Files, of_role},
    template::{load, render},
};
use toolwire_base::files::{Embedded, Problem, Problems, Tree};
use toolwire_engine::registry::{DataSource, SourceHealth};

/// All prompts, kept current.
pub struct Prompts {
    looked: Mutex<LastLook>,
    current: ArcSwap<Environment<'static>>,
}

/// What was found at the last look.
struct LastLook {
    files: Files,
    problems: Vec<Problem>,
}

impl Prompts {
    /// Reads all prompts, or tells everything that is wrong with them. `wanted` are the prompts of roles that must be
    /// there.
    pub fn open(tree: Tree, wanted: Vec<String>) -> Result<Self, Problems> {
        let mut files = Files::new(tree, wanted);
        files.look();
        let current = ArcSwap::from_pointee(read(&files).map_err(Problems)?);
        Ok(Self { looked: Mutex::new(LastLook { files, problems: Vec::new() }), current })
    }

    /// Those that are built in.
    ///
    /// # Panics
    /// If one of them is wrong: a test reads them all.
    pub fn built_in() -> Self {
        Self::open(Tree::Embedded(Embedded::default()), Vec::new()).expect("what is built in is right")
    }

    /// The text of a prompt with these values. One that fails at work, as no prompt that start-up took does, is empty.
    pub fn render(&self, prompt: Prompt, values: &Values<'_>) -> String {
        self.text(prompt.into_str(), values).unwrap_or_default()
    }

    /// The text of a role's prompt; `None` if it has none.
    pub fn render_role(&self, name: &str, values: &Values<'_>) -> Option<String> {
        self.text(&of_role(name), values)
    }

    fn text(&self, name: &str, values: &Values<'_>) -> Option<String> {
        let text = render(&self.current.load(), name, values)?;
        Some(text.unwrap_or_else(|error| {
            tracing::error!(prompt = name, %error, "a prompt failed");
            String::new()
        }))
    }
}

impl DataSource for Prompts {
    fn name(&self) -> &'static str {
        "prompts"
    }

    /// Takes over edits: all of them, or none and what is wrong. No result depends on them, so no digest tells of them.
    fn refresh(&self) -> SourceHealth {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.files.look() {
            looked.problems = match read(&looked.files) {
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

/// All prompts as the files say them, or everything that is wrong.
fn read(files: &Files) -> Result<Environment<'static>, Vec<Problem>> {
    let mut problems = files.problems();
    match load(files.read()) {
        Ok(environment) if problems.is_empty() => Ok(environment),
        loaded => {
            problems.extend(loaded.err().unwrap_or_default());
            Err(problems)
        }
    }
}

impl fmt::Debug for Prompts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prompts({})", self.current.load().templates().count())
    }
}

#[cfg(test)]
mod tests;
