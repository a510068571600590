//! Prompts as templates: checked when they are read, rendered with their values.

use std::collections::BTreeMap;

use minijinja::{Environment, Error, UndefinedBehavior, syntax::SyntaxConfig, value::Value};

use super::{
    files::{Text, path},
    prompt::{Prompt, Values},
};
use toolwire_base::files::Problem;

/// What a prompt may do, in steps and in pieces of 64 bytes.
const FUEL: u64 = 200_000;

/// The longest prompt, in bytes.
pub(super) const LONGEST: usize = 32 * 1024;

/// The value that is a prompt itself.
const PERSONA: &str = "persona";

/// What is wrong: the rule, and in words.
type Wrong = (&'static str, String);

/// All prompts, or everything that is wrong with them.
pub(super) fn load(texts: Vec<Text>) -> Result<Environment<'static>, Vec<Problem>> {
    let (mut environment, mut problems) = (environment(), Vec::new());
    for Text { name, content } in texts {
        let content = content.map_err(|error| ("unreadable", error));
        let added = content.and_then(|content| add(&mut environment, &name, content));
        problems.extend(added.err().map(|(rule, what)| Problem::new(&path(&name), rule, what)));
    }
    if problems.is_empty() { Ok(environment) } else { Err(problems) }
}

fn add(environment: &mut Environment<'static>, name: &str, text: String) -> Result<(), Wrong> {
    if text.len() > LONGEST {
        return Err(("too-long", format!("a prompt has at most {LONGEST} bytes")));
    }
    let bad = |error: Error| {
        let what = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
        let line = error.line().map(|line| format!("line {line}: ")).unwrap_or_default();
        ("bad-prompt", format!("{line}{what}"))
    };
    environment.add_template_owned(name.to_owned(), text).map_err(bad)?;
    let template = environment.get_template(name).map_err(bad)?;
    let mut known: Vec<_> = Values::default().names().into_iter().map(|(name, _)| name).collect();
    known.push(PERSONA);
    known.sort_unstable();
    let mut unknown: Vec<_> = template.undeclared_variables(false).into_iter().collect();
    unknown.retain(|name| !known.contains(&name.as_str()));
    unknown.sort_unstable();
    if !unknown.is_empty() {
        let what = format!("no such value: {}; there are {}", unknown.join(", "), known.join(", "));
        return Err(("unknown-value", what));
    }
    // Errors that only a render shows, such as an unknown filter.
    with(environment, name, &Values::default(), "").map_err(bad)?;
    Ok(())
}

/// The text of a prompt; `None` if there is none of this name.
pub(super) fn render(
    environment: &Environment<'_>,
    name: &str,
    values: &Values<'_>,
) -> Option<Result<String, Error>> {
    environment.get_template(name).ok()?;
    let persona = with(environment, Prompt::Persona.into_str(), values, "");
    Some(persona.and_then(|persona| with(environment, name, values, &persona)))
}

fn with(
    environment: &Environment<'_>,
    name: &str,
    values: &Values<'_>,
    persona: &str,
) -> Result<String, Error> {
    let all = values.names().into_iter().chain([(PERSONA, persona)]);
    let all: BTreeMap<_, _> = all.map(|(name, value)| (name, Value::from(value))).collect();
    let text = environment.get_template(name)?.render(Value::from(all))?;
    Ok(text.trim().to_owned())
}

/// What all prompts can use. A prompt is not shown as Markdown: nothing is escaped.
fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    // A block on a line of its own leaves no empty line.
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the usual signs of blocks are not ambiguous"));
    environment
}
