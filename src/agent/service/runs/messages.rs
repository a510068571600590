//! Converts a rendered task to a model's messages, and declares the tools to it.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use toolwire_engine::{
    exports::{self, Format, Options},
    registry::RegisteredTool,
    tasks::render::{self, blocks::Content, input::Speaker},
};
use toolwire_sources::models::{Message, Model, ToolCall, ToolForm, ToolOutput};

/// What a provider wants back with the calls of one response, by call.
#[derive(Debug)]
pub(super) struct Opaques;

impl Opaques {
    /// As it is kept; `None` if there is nothing.
    pub(super) fn of(calls: &[ToolCall]) -> Option<Vec<u8>> {
        let all: BTreeMap<_, _> =
            calls.iter().filter(|it| !it.signatures.is_empty()).map(|it| (&it.id, &it.signatures)).collect();
        (!all.is_empty()).then(|| serde_json::to_vec(&all).unwrap_or_default())
    }

    fn read(data: &[u8]) -> BTreeMap<String, Vec<String>> {
        serde_json::from_slice(data).unwrap_or_default()
    }
}

/// The messages as a model takes them.
pub(super) fn of(messages: Vec<render::Message>) -> Vec<Message> {
    messages
        .into_iter()
        .flat_map(|message| match message.role {
            Speaker::Assistant => vec![assistant(message)],
            Speaker::User => user(message),
        })
        .collect()
}

fn assistant(message: render::Message) -> Message {
    let (mut texts, mut calls, mut signatures) = (Vec::new(), Vec::new(), BTreeMap::new());
    for block in message.blocks {
        match block.content {
            Content::Text(text) | Content::Document { text, .. } => texts.push(text),
            Content::Use { id, tool, input } => {
                let arguments = serde_json::from_str(&input).unwrap_or_default();
                calls.push(ToolCall { id, tool, arguments, signatures: Vec::new() });
            }
            Content::Opaque(data) => signatures.extend(Opaques::read(&data)),
            Content::Result { .. } => {}
        }
    }
    for call in &mut calls {
        call.signatures = signatures.remove(&call.id).unwrap_or_default();
    }
    Message::Assistant { text: texts.join("\n\n"), calls }
}

/// What calls returned comes first, in a message of its own; then documents and texts.
fn user(message: render::Message) -> Vec<Message> {
    let (mut results, mut texts) = (Vec::new(), Vec::new());
    for block in message.blocks {
        match block.content {
            Content::Result { id, tool, content, .. } => {
                results.push(ToolOutput { call_id: id, tool, text: content });
            }
            Content::Text(text) | Content::Document { text, .. } => texts.push(text),
            Content::Use { .. } | Content::Opaque(_) => {}
        }
    }
    let results = (!results.is_empty()).then_some(Message::Results(results));
    let texts = (!texts.is_empty()).then(|| Message::User(texts.join("\n\n")));
    results.into_iter().chain(texts).collect()
}

/// The tools as the model's provider takes them: the export, and nothing else. `None` if there are none.
pub(super) fn declare(model: &dyn Model, tools: &[Arc<RegisteredTool>]) -> Option<Arc<Value>> {
    let format = match model.form() {
        ToolForm::Gemini => Format::Gemini,
        ToolForm::Openai => Format::Openai,
        ToolForm::Anthropic => Format::Anthropic,
    };
    let definitions: Vec<_> = tools.iter().map(|tool| &tool.definition).collect();
    let export = exports::export(format, &definitions, &Options::default());
    let tools: Value = serde_json::from_str(&export.json).expect("an export is JSON");
    tools.as_array().is_some_and(|tools| !tools.is_empty()).then(|| Arc::new(tools))
}
