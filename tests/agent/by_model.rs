//! What tests of models share: a server whose agent asks a scripted one, and what was asked of it.

use toolwire::{
    agent::ModelParts,
    sources::models::{
        Message, Model, Request, ToolCall,
        scripted::{self, Script},
    },
};

use super::*;

/// How a model is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) mode: Mode,
    pub(crate) fallback: bool,
}

pub(crate) const PROMPTED: Asked = Asked { mode: Mode::Plan, fallback: false };
pub(crate) const NATIVE: Asked = Asked { mode: Mode::Native, fallback: false };

impl House {
    /// A server whose agent asks a model.
    pub(crate) fn asking(
        model: impl Model + 'static,
        asked: Asked,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let model: Arc<dyn Model> = Arc::new(model);
        let replace = |parts| Parts {
            mode: asked.mode,
            model: model.id().to_owned(),
            model_parts: Some(ModelParts { model, answers: true, fallback: asked.fallback }),
            ..parts
        };
        Self::of(change, replace, |_| ())
    }

    /// One that gives these answers, one after the other; and what it is asked.
    pub(crate) fn saying(
        asked: Asked,
        scripts: impl IntoIterator<Item = Script>,
    ) -> (Self, scripted::Scripted) {
        let model = scripted::Scripted::saying(scripts);
        (Self::asking(model.clone(), asked, |_| ()), model)
    }
}

/// A plain message.
pub(crate) fn message(text: &str) -> TurnInput {
    let say = Some(Say::Message(text.to_owned()));
    TurnInput { say, result_format: ResultFormat::Json.into(), ..Default::default() }
}

/// A plan in words.
pub(crate) fn plan(tool: &str, arguments: &Value) -> Script {
    scripted::text(&json!({"tool": tool, "reason": "to know it", "arguments": arguments}).to_string())
}

/// No more plans.
pub(crate) fn none() -> Script {
    scripted::text(r#"{"tool": "none", "reason": "it is there", "arguments": {}}"#)
}

pub(crate) fn tool_call(id: &str, tool: &str, arguments: &Value) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        tool: tool.to_owned(),
        arguments: arguments.clone(),
        signatures: vec![format!("signature of {id}")],
    }
}

/// The whole of what a request says.
pub(crate) fn whole(request: &Request) -> String {
    let message = |message: &Message| match message {
        Message::User(text) | Message::System(text) => text.clone(),
        Message::Assistant { text, calls } => format!("{text} {calls:?}"),
        Message::Results(outputs) => outputs.iter().map(|it| it.text.clone()).collect::<Vec<_>>().join("\n"),
    };
    let messages: Vec<_> = request.messages.iter().map(message).collect();
    format!("{}\n{}", request.system, messages.join("\n"))
}

/// The names of the tools that were called.
pub(crate) fn started_tools(events: &[TurnEvent]) -> Vec<String> {
    let begun = events.iter().filter_map(|event| match &event.event {
        Some(Event::ToolCallStarted(started)) => Some(started.tool.clone()),
        _ => None,
    });
    begun.collect()
}

/// The concatenated deltas.
pub(crate) fn deltas(events: &[TurnEvent]) -> String {
    let deltas = events.iter().filter_map(|event| match &event.event {
        Some(Event::AnswerDelta(delta)) => Some(delta.text.as_str()),
        _ => None,
    });
    deltas.collect()
}
