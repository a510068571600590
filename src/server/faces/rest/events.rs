//! A call as a stream of events: the events of `InvokeTool`, one by one as they come.

use std::sync::Arc;

use axum::response::Response;
use futures_util::StreamExt;
use prost::Message;
use tonic::Status;

use super::message;
use crate::{
    faces::{
        http::{problem::Problem, sse},
        render::{call_event::Invoked, result::ResultForm},
    },
    service::Tools,
};
use toolwire_base::offload;
use toolwire_contract::proto::v1::{InvokeToolResponse, call_event};
use toolwire_engine::pipeline::CallStream;
use toolwire_tool::context::UserId;

/// The events of a started call, until the last one. Dropping them signals the call that its caller is gone.
pub(super) fn answer(started: CallStream, tools: &Tools, form: ResultForm, user: &UserId) -> Response {
    let user = user.shared();
    let events = Invoked::new(started, tools, form)
        .then(move |step| offload::on_behalf(Arc::clone(&user), serialise(step)));
    sse::response(events)
}

/// Serialises an event; a large one on another thread, so that it blocks no other stream.
async fn serialise(step: Result<InvokeToolResponse, Status>) -> sse::Event {
    let bytes = step.as_ref().map_or(0, Message::encoded_len);
    offload::if_large(bytes, move || event(step)).await
}

fn event(step: Result<InvokeToolResponse, Status>) -> sse::Event {
    let event = match step {
        Ok(response) => response.event.unwrap_or_default(),
        Err(status) => {
            return sse::Event { id: None, event: "error", data: Problem::from(status).to_json() };
        }
    };
    let (id, name) = (event.sequence.to_string(), event.event.as_ref().map(name).unwrap_or_default());
    sse::Event { id: Some(id), event: name, data: message::of(&event).to_string() }
}

fn name(event: &call_event::Event) -> &'static str {
    use call_event::Event as Wire;
    match event {
        Wire::Accepted(_) => "accepted",
        Wire::Progress(_) => "progress",
        Wire::Chunk(_) => "chunk",
        Wire::AwaitingConfirmation(_) => "awaiting_confirmation",
        Wire::ConfirmationRequired(_) => "confirmation_required",
        Wire::Result(_) => "result",
    }
}
