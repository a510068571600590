//! A `TypedDict`: by a class where all members have names that may stand there, else by a call.

use std::fmt::Write as _;

use crate::generate::python::{names::is_member, text};

/// The class of an object with members.
#[derive(Debug)]
pub(super) struct Class {
    name: String,
    words: Vec<String>,
    pub(super) members: Vec<Member>,
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) hint: String,
    pub(super) is_required: bool,
    pub(super) words: String,
}

impl Class {
    pub(super) fn new(name: &str, description: Option<&str>) -> Self {
        let words = text::docstring_lines(description.unwrap_or_default());
        Self { name: name.to_owned(), words, members: Vec::new() }
    }

    pub(super) fn has_optional(&self) -> bool {
        self.members.iter().any(|member| !member.is_required)
    }

    pub(super) fn render(&self) -> String {
        let Self { name, words, members } = self;
        let is_class = members.iter().all(|member| is_member(&member.key));
        let mut text = if is_class {
            format!("class {name}(TypedDict):\n")
        } else {
            format!("{name} = TypedDict({}, {{\n", text::literal(name))
        };
        if is_class && !words.is_empty() {
            text.push_str(&text::docstring(words, "    "));
            text.push('\n');
        }
        for member in members {
            for line in text::comment_lines(&member.words) {
                let _ = writeln!(text, "{}", format!("    #: {line}").trim_end());
            }
            let hint = member.hint();
            let _ = if is_class {
                writeln!(text, "    {}: {hint}", member.key)
            } else {
                // The hints of a call are read at once, and may name what comes later.
                writeln!(text, "    {}: {},", text::literal(&member.key), text::literal(&hint))
            };
        }
        if !is_class {
            text.push_str("})\n");
        }
        text
    }
}

impl Member {
    fn hint(&self) -> String {
        if self.is_required { self.hint.clone() } else { format!("NotRequired[{}]", self.hint) }
    }
}
