//! Reads a model's plan: the one JSON object of its answer, and nothing that was not offered.

use serde_json::{Map, Value};

use crate::ground::plain;
use toolwire_contract::{
    arguments::{self, Unreadable},
    json::{self, ParseError},
    near,
};
use toolwire_planner::Offer;

/// The word for no tool.
const NONE: &str = "none";

/// Maximum length of an unknown name that is reported, in characters.
const LONGEST_NAME: usize = 64;

/// The longest reason that is reported, in characters.
const LONGEST_REASON: usize = 200;

/// What a model decided.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decision {
    /// The tool and its arguments; `None` if no tool is to be called.
    pub(super) call: Option<(String, Map<String, Value>)>,
    /// Why, on one line.
    pub(super) reason: String,
}

/// Why an answer is not a plan, in words for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Wrong {
    #[error("it is not one JSON object.")]
    NotJson,
    #[error("`tool` must be a text: the name of a tool, or \"none\".")]
    NoTool,
    #[error("there is no tool `{name}`{near}")]
    UnknownTool { name: String, near: String },
    #[error("{0}.")]
    Arguments(#[from] Unreadable),
}

impl Wrong {
    /// The same in words for callers, with nothing that the model wrote.
    pub(super) const fn reason(&self) -> &'static str {
        match self {
            Self::NotJson => "the model's plan could not be read",
            Self::NoTool | Self::UnknownTool { .. } => "the model's plan names no tool that there is",
            Self::Arguments(_) => "the model's plan has arguments that are none",
        }
    }
}

/// The plan of an answer.
pub(super) fn read(said: &str, offer: &Offer) -> Result<Decision, Wrong> {
    let mut object = object(said)?;
    let Some(Value::String(tool)) = object.remove("tool") else { return Err(Wrong::NoTool) };
    let reason = object.get("reason").and_then(Value::as_str).map(reason).unwrap_or_default();
    if tool == NONE {
        return Ok(Decision { call: None, reason });
    }
    if offer.get(&tool).is_none() {
        return Err(unknown(&tool, offer));
    }
    let arguments = arguments::from_value(object.remove("arguments").unwrap_or_default())?;
    Ok(Decision { call: Some((tool, arguments)), reason })
}

fn unknown(tool: &str, offer: &Offer) -> Wrong {
    let name: String = plain(tool).chars().take(LONGEST_NAME).collect();
    let near = near::names(&name, offer.tools().iter().map(|tool| tool.definition.name.as_str()));
    Wrong::UnknownTool { near: near::question(&near), name }
}

/// The object that is the whole text, or that stands in its one fence.
fn object(said: &str) -> Result<Map<String, Value>, Wrong> {
    let text = said.trim();
    let read = |text| match json::parse(text) {
        Ok(Value::Object(object)) => Ok(object),
        Err(ParseError::Inexact(inexact)) => Err(Wrong::Arguments(inexact.into())),
        _ => Err(Wrong::NotJson),
    };
    match (read(text), unfence(text)) {
        (Err(Wrong::NotJson), Some(inside)) => read(inside),
        (read, _) => read,
    }
}

/// What stands in the one fence of a text.
fn unfence(text: &str) -> Option<&str> {
    let mut parts = text.split("```");
    let (_, inside, _) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    Some(inside.strip_prefix("json").unwrap_or(inside).trim())
}

/// A reason on one line. It is shown to people unchecked, so it must contain no link.
pub(super) fn reason(text: &str) -> String {
    let line: String = plain(text).chars().take(LONGEST_REASON).collect();
    let lower = line.to_lowercase();
    let leads = ["://", "](", "www.", "<", "mailto:"].iter().any(|sign| lower.contains(sign));
    if leads { String::new() } else { line }
}

#[cfg(test)]
mod tests;
