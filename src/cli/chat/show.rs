//! The events of a turn, in words for a terminal. Text from outside is shown without control characters.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::markdown::Drawing;
use crate::{explain, table, words};
use toolwire_base::words::visible;
use toolwire_contract::proto::{
    agent::v1::{Paused, Reply, Source, ToolCallFinished, tool_call_finished, turn_event::Event},
    v1::{ConfirmationRequired, ToolResult, tool_result::Outcome},
};
use toolwire_server::console::{self, Failure, Span};

/// Maximum width of a line, in characters.
const MAX_WIDTH: usize = 160;

/// Shows the events of one turn.
#[derive(Debug, Default)]
pub(crate) struct TurnRenderer {
    /// The running calls by `call_id`.
    calls: BTreeMap<String, RunningCall>,
    has_answer: bool,
    ends_line: bool,
    /// The answer as it is drawn, on a terminal that draws.
    drawing: Option<Drawing>,
}

/// A call that runs.
#[derive(Debug)]
struct RunningCall {
    /// The call with its arguments.
    name: String,
    /// Whether it does not only read.
    writes: bool,
}

impl TurnRenderer {
    /// One for standard output.
    pub(crate) fn on_terminal() -> Self {
        let drawing = console::draws().then(|| Drawing::new(console::width()));
        Self { drawing, ..Self::default() }
    }

    /// The lines of an event other than the answer.
    pub(crate) fn lines(&mut self, event: &Event) -> Vec<String> {
        match event {
            Event::ToolCallStarted(call) => {
                let name = describe_call(&call.tool, &call.arguments_json);
                let running = RunningCall { name: name.clone(), writes: !call.request_id.is_empty() };
                self.calls.insert(call.call_id.clone(), running);
                vec![format!("🔧 {name}")]
            }
            Event::ToolCallProgress(it) => {
                it.progress.iter().map(|progress| format!("   {}", shorten(&progress.message))).collect()
            }
            Event::ToolCallFinished(call) => self.finish_call(call).into_iter().collect(),
            Event::Alert(alert) => vec![format!(
                "! {} refuses requests ({}): {}",
                alert.source,
                words::error_code(alert.code()),
                shorten(&alert.message)
            )],
            _ => Vec::new(),
        }
    }

    fn finish_call(&mut self, call: &ToolCallFinished) -> Option<String> {
        let name = self.calls.remove(&call.call_id).map(|it| it.name).unwrap_or_default();
        match call.outcome.as_ref()? {
            tool_call_finished::Outcome::Result(result) => {
                failure(result).map(|why| format!("   {name}: {why}"))
            }
            tool_call_finished::Outcome::ConfirmationRequired(_) => {
                Some(format!("   {name} waits for a person"))
            }
        }
    }

    /// A cancelled turn, and the writes that go on.
    pub(crate) fn cancelled(&self, flags: &str) -> Vec<String> {
        let writes = self.calls.iter().filter(|(_, call)| call.writes).map(|(id, call)| {
            format!("{} had begun, and its outcome is not known: toolwire calls {id}{flags}", call.name)
        });
        ["cancelled".to_owned()].into_iter().chain(writes).collect()
    }

    /// Prints a part of the answer: as it came, or drawn as soon as a block of it is whole.
    pub(crate) fn print_answer(&mut self, text: &str) -> Result<(), Failure> {
        let Some(drawing) = &mut self.drawing else { return console::part(&self.answer(text)).map(|_| ()) };
        let lines = drawing.push(text);
        self.print_lines(&lines)
    }

    /// Prints the end of the answer, and what stands below it.
    pub(crate) fn print_end(&mut self, reply: &Reply) -> Result<(), Failure> {
        match &mut self.drawing {
            None => console::part(self.answer_end()).map(|_| ())?,
            Some(drawing) => {
                let lines = drawing.end();
                self.print_lines(&lines)?;
            }
        }
        let drawing = self.drawing.as_mut();
        for line in end(reply, drawing) {
            // A source stands behind the answer; what is asked or warned of does not.
            if line.starts_with('[') { console::remark(&line) } else { console::say(&line) }
        }
        Ok(())
    }

    fn print_lines(&mut self, lines: &[Vec<Span>]) -> Result<(), Failure> {
        if !lines.is_empty() && !self.has_answer {
            self.has_answer = true;
            console::line("")?;
        }
        lines.iter().try_for_each(|line| console::spans(line).map(|_| ()))
    }

    /// A part of the answer, as it is shown.
    fn answer(&mut self, text: &str) -> String {
        let gap = if self.has_answer { "" } else { "\n" };
        self.has_answer = true;
        self.ends_line = text.ends_with('\n');
        format!("{gap}{text}")
    }

    /// The end of the answer, after its last part.
    fn answer_end(&self) -> &'static str {
        if self.has_answer && !self.ends_line { "\n" } else { "" }
    }
}

/// The lines below an answer: its sources, warnings, and the question back. Sources are footnotes of an answer that was
/// drawn, by the numbers that it has.
fn end(reply: &Reply, mut drawing: Option<&mut Drawing>) -> Vec<String> {
    let response = reply.response.clone().unwrap_or_default();
    let cited = reply.sources.iter().filter(|source| response.citations.contains(&source.source_id));
    let mut cited: Vec<_> = cited
        .map(|it| {
            let number = drawing.as_mut().map(|drawing| drawing.number(&it.source_id));
            (number, source(it, number))
        })
        .collect();
    cited.sort_by_key(|(number, _)| *number);
    let mut lines: Vec<_> = cited.into_iter().map(|(_, line)| line).collect();
    lines.extend(reply.warnings.iter().map(|warning| format!("warning: {}", shorten(warning))));
    let question = response.clarifying_question.filter(|question| *question != response.answer_markdown);
    lines.extend(question.map(|question| format!("? {}", visible(&question))));
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

/// The calls that wait for a person, and the commands that decide on them, resume the turn, or cancel it.
pub(crate) fn waiting(turn_id: &str, paused: &Paused, flags: &str) -> Vec<String> {
    let required = paused.pending.iter().filter_map(|call| call.confirmation_required.as_ref());
    let call = |it: &ConfirmationRequired| {
        let deny = format!("toolwire deny {}{flags} --reason \"...\"", it.confirmation_id);
        [
            format!("Waits for a person: {}", visible(&it.summary)),
            format!("  {}", explain::approve(it, flags)),
            format!("  {deny}"),
        ]
    };
    let mut lines: Vec<_> = required.flat_map(call).collect();
    lines.push(format!("Then go on: toolwire chat --resume {turn_id}{flags}"));
    lines.push(format!("Or cancel:  toolwire chat --cancel {turn_id}{flags}"));
    lines
}

fn source(source: &Source, footnote: Option<usize>) -> String {
    let as_of = if source.as_of.is_empty() { String::new() } else { format!(", as of {}", source.as_of) };
    let cached = if source.from_cache { ", from the cache" } else { "" };
    match footnote {
        None => format!("[{}] {}{as_of}{cached}", source.source_id, source.tool),
        Some(number) => format!("[{number}] {}{as_of}{cached} ({})", source.tool, source.source_id),
    }
}

/// `get_quotes("AAPL")`: a call with the values of its arguments.
fn describe_call(tool: &str, arguments: &str) -> String {
    let arguments: Map<String, Value> = serde_json::from_str(arguments).unwrap_or_default();
    let values: Vec<_> = arguments.values().map(Value::to_string).collect();
    shorten(&format!("{tool}({})", values.join(", ")))
}

fn failure(result: &ToolResult) -> Option<String> {
    match &result.outcome {
        Some(Outcome::Error(error)) => {
            Some(format!("{}: {}", words::error_code(error.code()), shorten(&error.message)))
        }
        _ => None,
    }
}

fn shorten(text: &str) -> String {
    let text = visible(text);
    table::shorten(&text, MAX_WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_contract::proto::{
        agent::v1::{LlmResponse, PendingCall, ToolCallStarted},
        v1::ConsequenceLevel,
    };

    #[test]
    fn a_call_is_shown_with_the_values_of_its_arguments() {
        let started = ToolCallStarted {
            tool: "get_quotes".to_owned(),
            arguments_json: r#"{"symbol":"AAPL"}"#.to_owned(),
            ..Default::default()
        };
        let lines = TurnRenderer::default().lines(&Event::ToolCallStarted(started));
        assert_eq!(lines, [r#"🔧 get_quotes("AAPL")"#]);
    }

    #[test]
    fn a_cancelled_turn_names_the_writes_that_go_on() {
        let mut renderer = TurnRenderer::default();
        for (call_id, request_id) in [("c1", ""), ("c2", "r")] {
            let started = ToolCallStarted {
                call_id: call_id.to_owned(),
                tool: "pay".to_owned(),
                request_id: request_id.to_owned(),
                ..Default::default()
            };
            renderer.lines(&Event::ToolCallStarted(started));
        }
        let expected =
            ["cancelled", "pay() had begun, and its outcome is not known: toolwire calls c2 --data d"];
        assert_eq!(renderer.cancelled(" --data d"), expected);
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
        assert_eq!(end(&reply, None), ["", "[tool:a:v1] t, as of 2026-01-15"]);
        let mut drawing = Drawing::new(None);
        drawing.push("It is so [tool:c:v1], and so [tool:a:v1].\n\n");
        drawing.end();
        let drawn = end(&reply, Some(&mut drawing));
        assert_eq!(drawn, ["", "[2] t, as of 2026-01-15 (tool:a:v1)"]);
    }

    #[test]
    fn what_waits_is_said_with_the_whole_commands() {
        let required = ConfirmationRequired {
            confirmation_id: "conf_1".to_owned(),
            tool: "pay".to_owned(),
            summary: "Pay".to_owned(),
            consequence_level: ConsequenceLevel::High.into(),
            ..Default::default()
        };
        let call = PendingCall { confirmation_required: Some(required), ..Default::default() };
        let lines = waiting("T", &Paused { pending: vec![call], ..Default::default() }, " --data d");
        assert_eq!(
            lines,
            [
                "Waits for a person: Pay",
                "  toolwire approve conf_1 --tool pay --data d",
                "  toolwire deny conf_1 --data d --reason \"...\"",
                "Then go on: toolwire chat --resume T --data d",
                "Or cancel:  toolwire chat --cancel T --data d",
            ]
        );
    }

    #[test]
    fn an_answer_ends_with_one_line_break() {
        let mut renderer = TurnRenderer::default();
        assert_eq!((renderer.answer("a").as_str(), renderer.answer_end()), ("\na", "\n"));
        assert_eq!((renderer.answer("b\n").as_str(), renderer.answer_end()), ("b\n", ""));
    }
}
