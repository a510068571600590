//! The messages that the events of a run make, as AG-UI's clients put them together. Not here: those of earlier runs.

use serde_json::{Value, json};

use super::event::Event;

/// The messages of a run so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Transcript(Vec<Value>);

impl Transcript {
    /// Adds what an event contributes.
    pub(super) fn take(&mut self, event: &Event) {
        match event {
            Event::ToolCallStart { tool_call_id, tool_call_name } => {
                let function = json!({"name": tool_call_name, "arguments": ""});
                let call = json!({"id": tool_call_id, "type": "function", "function": function});
                self.0.push(json!({"id": tool_call_id, "role": "assistant", "toolCalls": [call]}));
            }
            Event::ToolCallArgs { tool_call_id, delta } => {
                if let Some(message) = self.find(tool_call_id) {
                    append(&mut message["toolCalls"][0]["function"]["arguments"], delta);
                }
            }
            Event::ToolCallResult { message_id, tool_call_id, content, .. } => self.0.push(json!({
                "id": message_id, "role": "tool", "toolCallId": tool_call_id, "content": content,
            })),
            Event::TextMessageStart { message_id, .. } => {
                self.0.push(json!({"id": message_id, "role": "assistant", "content": ""}));
            }
            Event::TextMessageContent { message_id, delta } => {
                if let Some(message) = self.find(message_id) {
                    append(&mut message["content"], delta);
                }
            }
            _ => {}
        }
    }

    pub(super) fn messages(&self) -> &[Value] {
        &self.0
    }

    fn find(&mut self, id: &str) -> Option<&mut Value> {
        self.0.iter_mut().rev().find(|message| message["id"] == id)
    }
}

fn append(text: &mut Value, delta: &str) {
    if let Value::String(text) = text {
        text.push_str(delta);
    }
}
