//! A timeline is rendered whole, in order, within its budget, and deterministically.

mod cuts;
mod documents;
mod properties;
mod questions;
mod rounds;
mod system;

use std::collections::BTreeMap;

use super::{
    blocks::{Block, Content},
    input::{
        Body, Document, DocumentContent, DocumentSummary, DocumentVersion, Event, Notes, Outcome,
        RenderInput, Request, Speaker, ToolCall,
    },
    *,
};

const SECRET: &[u8] = b"of this task";

/// The input of a render, owned.
#[derive(Clone, Debug, Default)]
struct Task {
    contents: Vec<DocumentSummary>,
    notes: Notes,
    before: u64,
    request: Request,
    unread: u64,
    events: Vec<Event>,
    documents: BTreeMap<DocumentVersion, Document>,
    media_types: Vec<String>,
    provider: String,
}

impl Task {
    fn of(request: &str, events: Vec<Event>) -> Self {
        Self {
            request: Request { text: request.to_owned(), ..Request::default() },
            events,
            ..Self::default()
        }
    }

    fn render(&self, budget: u64) -> Result<Rendering, BudgetTooSmall> {
        render(&RenderInput {
            role: "You are the analyst.",
            contents: &self.contents,
            notes: &self.notes,
            request: self.request.clone(),
            before: self.before,
            unread: self.unread,
            events: &self.events,
            documents: &self.documents,
            secret: SECRET,
            budget,
            media_types: &self.media_types,
            provider: &self.provider,
        })
    }
}

fn event(sequence: u64, step: u64, position: u32, body: Body) -> Event {
    Event { sequence, step, position, body }
}

fn said(speaker: Speaker, text: &str) -> Body {
    Body::Message { speaker, text: text.to_owned(), tokens: None, opaque: None }
}

fn outcome(content: &str) -> Outcome {
    Outcome { content: content.to_owned(), ..Outcome::default() }
}

fn called(id: &str, tool: &str, content: &str) -> Body {
    let (id, tool, input) = (id.to_owned(), tool.to_owned(), "{\"a\":1}".to_owned());
    Body::Call(ToolCall { id, tool, input, outcome: outcome(content), ..ToolCall::default() })
}

fn reference(path: &str, version: u32) -> DocumentVersion {
    DocumentVersion { path: path.to_owned(), version }
}

fn text_document(text: &str) -> Document {
    Document {
        mime_type: "text/plain".to_owned(),
        size: text.len() as u64,
        tokens: Some(tokens::count(text)),
        summary: "A text.".to_owned(),
        content: Some(DocumentContent::Text(text.to_owned())),
    }
}

fn line(block: &Block) -> String {
    match &block.content {
        Content::Text(text) => format!("text {text}"),
        Content::Use { id, tool, input } => format!("use {id} {tool} {input}"),
        Content::Result { id, content, is_error, tokens_cut, .. } => {
            let failed = if *is_error { " failed" } else { "" };
            let cut = if *tokens_cut > 0 { format!(" cut {tokens_cut}") } else { String::new() };
            format!("result {id}{failed}{cut} {content}")
        }
        Content::Document { reference, text, data, is_reference, .. } => {
            let inner = text.lines().nth(1).unwrap_or_default();
            let how = if *is_reference { "reference" } else { "whole" };
            format!("document {}@{} {how} {inner}{}", reference.path, reference.version, data.len())
        }
        Content::Opaque(data) => format!("opaque {}", data.len()),
    }
}

fn lines(rendered: &Rendering) -> Vec<String> {
    let of = |message: &Message| {
        let who = if message.role == Speaker::User { "user" } else { "assistant" };
        let (first, last) = message.sequences;
        let blocks: Vec<_> = message.blocks.iter().map(line).collect();
        format!("{who} {first}-{last}: {}", blocks.join(" | "))
    };
    rendered.messages.iter().map(of).collect()
}
