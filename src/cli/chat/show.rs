//! What a turn says, in words for a terminal. Text from outside is shown without what could steer the terminal.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::{
    cli::words,
    contract::proto::{
        agent::v1::{Reply, Source, ToolCallFinished, tool_call_finished, turn_event::Event},
        v1::{ToolResult, tool_result::Outcome},
    },
    words::visible,
};

/// So many characters of a line are shown.
const WIDEST: usize = 160;

/// Shows the events of one turn.
#[derive(Debug, Default)]
pub(super) struct Shower {
    /// The calls that have begun.
    calls: HashMap<String, String>,
    has_answer: bool,
    ends_line: bool,
}

impl Shower {
    /// The lines of an event that is no part of the answer.
    pub(super) fn lines(&mut self, event: &Event) -> Vec<String> {
        match event {
            Event::ToolCallStarted(call) => {
                let name = called(&call.tool, &call.arguments_json);
                self.calls.insert(call.call_id.clone(), name.clone());
                vec![format!("🔧 {name}")]
            }
            Event::ToolCallProgress(it) => {
                it.progress.iter().map(|progress| format!("   {}", shortened(&progress.message))).collect()
            }
            Event::ToolCallFinished(call) => self.finished(call).into_iter().collect(),
            Event::Alert(alert) => vec![format!(
                "! {} refuses us ({}): {}",
                alert.source,
                words::error_code(alert.code()),
                shortened(&alert.message)
            )],
            _ => Vec::new(),
        }
    }

    fn finished(&mut self, call: &ToolCallFinished) -> Option<String> {
        let name = self.calls.remove(&call.call_id).unwrap_or_default();
        match call.outcome.as_ref()? {
            tool_call_finished::Outcome::Result(result) => {
                failure(result).map(|why| format!("   {name}: {why}"))
            }
            tool_call_finished::Outcome::ConfirmationRequired(_) => {
                Some(format!("   {name} waits for a person"))
            }
        }
    }

    /// A part of the answer, as it is shown.
    pub(super) fn answer(&mut self, text: &str) -> String {
        let shown: String = text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect();
        let gap = if self.has_answer { "" } else { "\n" };
        self.has_answer = true;
        self.ends_line = shown.ends_with('\n');
        format!("{gap}{shown}")
    }

    /// What ends the answer.
    pub(super) fn answer_end(&self) -> &'static str {
        if self.has_answer && !self.ends_line { "\n" } else { "" }
    }
}

/// What stands below an answer: its sources, what a reader should know, and what is asked back.
pub(super) fn end(reply: &Reply) -> Vec<String> {
    let response = reply.response.clone().unwrap_or_default();
    let cited = reply.sources.iter().filter(|source| response.citations.contains(&source.source_id));
    let mut lines: Vec<_> = cited.map(source).collect();
    lines.extend(reply.warnings.iter().map(|warning| format!("warning: {}", shortened(warning))));
    let question = response.clarifying_question.filter(|question| *question != response.answer_markdown);
    lines.extend(question.map(|question| format!("? {}", visible(&question))));
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

fn source(source: &Source) -> String {
    let as_of = if source.as_of.is_empty() { String::new() } else { format!(", as of {}", source.as_of) };
    let cached = if source.from_cache { ", from the cache" } else { "" };
    format!("[{}] {}{as_of}{cached}", source.source_id, source.tool)
}

/// `get_quotes("AAPL")`: a call with the values of its arguments.
fn called(tool: &str, arguments: &str) -> String {
    let arguments: Map<String, Value> = serde_json::from_str(arguments).unwrap_or_default();
    let values: Vec<_> = arguments.values().map(Value::to_string).collect();
    shortened(&format!("{tool}({})", values.join(", ")))
}

fn failure(result: &ToolResult) -> Option<String> {
    match &result.outcome {
        Some(Outcome::Error(error)) => {
            Some(format!("{}: {}", words::error_code(error.code()), shortened(&error.message)))
        }
        _ => None,
    }
}

fn shortened(text: &str) -> String {
    let text = visible(text);
    if text.chars().count() <= WIDEST {
        return text;
    }
    text.chars().take(WIDEST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::proto::agent::v1::{LlmResponse, ToolCallStarted};

    #[test]
    fn a_call_is_shown_with_the_values_of_its_arguments() {
        let started = ToolCallStarted {
            tool: "get_quotes".to_owned(),
            arguments_json: r#"{"symbol":"AAPL"}"#.to_owned(),
            ..Default::default()
        };
        let lines = Shower::default().lines(&Event::ToolCallStarted(started));
        assert_eq!(lines, [r#"🔧 get_quotes("AAPL")"#]);
    }

    #[test]
    fn only_what_is_cited_stands_below_an_answer_and_a_question_is_not_said_twice() {
        let source = |id: &str| Source {
            source_id: id.to_owned(),
            tool: "t".to_owned(),
            as_of: "2026-01-15".to_owned(),
            ..Default::default()
        };
        let response = LlmResponse {
            answer_markdown: "Which one?".to_owned(),
            citations: vec!["tool:a:v1".to_owned()],
            clarifying_question: Some("Which one?".to_owned()),
            ..Default::default()
        };
        let reply = Reply {
            response: Some(response),
            sources: vec![source("tool:a:v1"), source("tool:b:v1")],
            ..Default::default()
        };
        assert_eq!(end(&reply), ["", "[tool:a:v1] t, as of 2026-01-15"]);
    }

    #[test]
    fn what_could_steer_the_terminal_is_not_shown() {
        let mut shower = Shower::default();
        assert_eq!(shower.answer("a\u{1b}[31mb\n"), "\na [31mb\n");
        assert_eq!(shower.answer_end(), "");
    }
}
