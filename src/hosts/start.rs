//! A call on its way to a slot, and what comes back of it.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use crate::{
    outcome,
    wire::{self, outcome::Outcome},
};
use toolwire_contract::{Payload, ToolError, convert, proto::v1};
use toolwire_providers::{Call, Effect, Spec, traceparent};
use toolwire_tool::context::{CallId, RequestId, ToolContext, UserId};

/// A call to be carried out.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) call: CallId,
    pub(crate) message: wire::Start,
    /// Of a write: what identifies it, and what takes its end from another slot.
    pub(crate) write: Option<(Arc<Write>, oneshot::Sender<Outcome>)>,
    pub(crate) reports: Reports,
}

/// Where a call is reported on.
#[derive(Debug)]
pub(crate) struct Reports {
    /// Full while the caller reads slowly: then the host's stream is not read either.
    pub(crate) events: mpsc::Sender<CallEvent>,
    /// Apart, so that the end of a call needs no room.
    pub(crate) end: oneshot::Sender<CallEnd>,
}

/// The other ends of a call.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) events: mpsc::Receiver<CallEvent>,
    pub(crate) end: oneshot::Receiver<CallEnd>,
    /// Of a write.
    pub(crate) late: Option<oneshot::Receiver<Outcome>>,
}

#[derive(Debug)]
pub(crate) enum CallEvent {
    Progress(Option<f64>, String),
    Chunk(Map<String, Value>),
}

/// How a call ends on its slot.
#[derive(Debug)]
pub(crate) enum CallEnd {
    Outcome(Outcome),
    /// The slot was lost, or left, before the call was sent.
    Unsent,
    Lost,
}

/// A write whose outcome may come late.
#[derive(Clone, Debug)]
pub struct Write {
    pub spec: Arc<Spec>,
    pub user: UserId,
    /// By which its outcome is recorded.
    pub request_id: RequestId,
    pub call_id: CallId,
    /// Whether it belongs to a task, whose timeline has the outcome too.
    pub is_of_task: bool,
    /// Whether it was started by a process that has ended since, and may have recorded no outcome.
    pub is_lost: bool,
}

impl Write {
    /// `None` for a read.
    fn of(spec: &Arc<Spec>, context: &ToolContext) -> Option<Self> {
        (spec.effect != Effect::Read).then(|| Self {
            spec: Arc::clone(spec),
            user: context.user.id.clone(),
            request_id: context.lineage.request_id(),
            call_id: context.call_id,
            is_of_task: context.task_id.is_some(),
            is_lost: false,
        })
    }

    /// The result of a late outcome.
    pub(crate) async fn read(&self, outcome: Outcome) -> Result<Payload, ToolError> {
        outcome::read(outcome, self.spec.effect, &self.spec.output).await
    }
}

impl Start {
    /// The digest is the definition's. `is_shared` says whether a cached result of one user answers others.
    pub(crate) fn new(call: &Call<'_>, digest: &str, is_shared: bool) -> (Self, Incoming) {
        let (spec, context) = (call.spec, call.context);
        let request_id = context.lineage.request_id();
        let (event_sender, events) = mpsc::channel(1);
        let (end_sender, end) = oneshot::channel();
        let (write, late) = Write::of(spec, context)
            .map(|write| (Arc::new(write), oneshot::channel()))
            .map_or((None, None), |(write, (sender, late))| (Some((write, sender)), Some(late)));
        let has_request_id = write.is_some() || context.lineage.outermost().is_repeatable;
        let message = wire::Start {
            call_id: context.call_id.to_string(),
            tool: spec.tool.to_string(),
            digest: digest.to_owned(),
            arguments_json: call.text.clone(),
            context: Some(context_message(context, is_shared)),
            timeout: Some(convert::duration(spec.timeout.min(context.remaining()))),
            request_id: if has_request_id { request_id.to_string() } else { String::new() },
            traceparent: traceparent(),
        };
        let reports = Reports { events: event_sender, end: end_sender };
        (Self { call: context.call_id, message, write, reports }, Incoming { events, end, late })
    }
}

/// On whose behalf. The clocks of a host may differ, so it gets no deadline.
fn context_message(context: &ToolContext, is_shared: bool) -> v1::ToolContext {
    let text = |it: Option<String>| it.unwrap_or_default();
    let of_every_user = v1::ToolContext {
        call_id: context.call_id.to_string(),
        parent_call_id: text(context.parent_call_id.as_ref().map(ToString::to_string)),
        ..v1::ToolContext::default()
    };
    // Whatever of the caller came into the result would answer others from the cache.
    if is_shared {
        return of_every_user;
    }
    v1::ToolContext {
        user_id: context.user.id.to_string(),
        user_email: text(context.user.email.clone()),
        user_role: text(context.user.role.clone()),
        task_id: text(context.task_id.as_ref().map(ToString::to_string)),
        session_id: text(context.session_id.as_ref().map(ToString::to_string)),
        attributes: context
            .attributes
            .iter()
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect(),
        ..of_every_user
    }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
