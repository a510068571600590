//! Tasks and entries of timelines as messages. Not here: requests (`requests`).

use prost_types::Struct;
use serde_json::{Map, Value};

use crate::service::tasks::WatchEvent;
use toolwire_base::clock;
use toolwire_contract::{
    convert::{self, timestamp},
    json,
    proto::tasks::v1::{self, TaskWatchType, timeline_entry, waiting},
};
use toolwire_state::tasks::{
    self as store,
    entry::{
        Answer, Body, Created, Decision, DocumentVersion, Ended, Entry, Message, Opaque, Speaker, Started,
        Text, ToolCall, WaitTarget,
    },
    life::{Reason, State},
};

pub(super) fn task(task: store::Task) -> v1::Task {
    let is_over = task.state.is_final();
    let unknown_call_ids = task.unknown_calls().map(|id| id.to_string()).collect();
    v1::Task {
        task_id: task.id.to_string(),
        root_id: task.root.to_string(),
        parent_id: task.parent.map(|id| id.to_string()).unwrap_or_default(),
        user_id: task.user.to_string(),
        kind: kind(task.kind).into(),
        role: task.role,
        request: task.request,
        documents: paths(task.documents),
        state: state(task.state).into(),
        block_reason: reason(task.state.reason()).into(),
        waiting: task.waits.into_iter().map(waiting).collect(),
        result: task.result.as_deref().and_then(structure),
        result_documents: paths(task.result_documents),
        message: task.message,
        depth: task.depth,
        next_sequence: task.next_sequence,
        lease: task.lease.filter(|lease| !is_over && lease.expires_at > clock::wall()).map(lease),
        unknown_call_ids,
        created_at: Some(timestamp(task.created_at)),
        updated_at: Some(timestamp(task.updated_at)),
        ended_at: task.ended_at.map(timestamp),
        deadline: Some(timestamp(task.deadline)),
        labels: task.labels.into_iter().collect(),
        position: task.position,
        tainted: task.tainted,
        newest_step: task.newest_step,
    }
}

/// An entry. Its external texts are named, not included.
pub(super) fn entry(entry: Entry) -> v1::TimelineEntry {
    use timeline_entry::Entry as Wire;
    let body = match entry.body {
        Body::Created(it) => Wire::Created(render_created(it)),
        Body::Started(Started { holder, token }) => Wire::Started(v1::TaskStarted { holder, token }),
        Body::Message(it) => Wire::Message(message(it)),
        Body::ToolCall(it) => Wire::ToolCall(tool_call(it)),
        Body::Answer(it) => Wire::Answer(answer(it)),
        Body::Ended(it) => Wire::Ended(render_ended(it)),
        Body::Decision(it) => Wire::Decision(decision(it)),
    };
    v1::TimelineEntry {
        task_id: entry.task.to_string(),
        sequence: entry.sequence,
        timestamp: Some(timestamp(entry.at)),
        step: entry.step,
        call_id: entry.call_id.map(|id| id.to_string()).unwrap_or_default(),
        trace_id: entry.trace_id.unwrap_or_default(),
        entry: Some(body),
        position: entry.position,
    }
}

pub(super) fn watch_event(news: WatchEvent) -> v1::WatchTasksResponse {
    let silent =
        |kind: TaskWatchType, position| v1::WatchTasksResponse { r#type: kind.into(), task: None, position };
    match news {
        WatchEvent::Changed(task) => {
            let position = task.position;
            let task = Some(self::task(*task));
            v1::WatchTasksResponse { r#type: TaskWatchType::Changed.into(), task, position }
        }
        WatchEvent::Synced(position) => silent(TaskWatchType::Synced, position),
        WatchEvent::Heartbeat(position) => silent(TaskWatchType::Heartbeat, position),
    }
}

/// A call that has no end yet.
pub(super) fn open_call(call: store::OpenCall) -> v1::OpenCall {
    let state = match call.state {
        store::OpenCallState::UnderWay => v1::OpenCallStanding::UnderWay,
        store::OpenCallState::Left => v1::OpenCallStanding::Left,
        store::OpenCallState::Approved => v1::OpenCallStanding::Approved,
    };
    v1::OpenCall {
        standing: state.into(),
        position: call.position,
        call_id: call.call_id.to_string(),
        request_id: call.request_id.to_string(),
        tool: call.tool,
        tool_call_id: call.tool_call_id,
        step: call.step,
        input_json: call.input,
    }
}

/// Why a task is blocked.
pub(super) const fn reason(reason: Option<Reason>) -> v1::BlockReason {
    match reason {
        None => v1::BlockReason::Unspecified,
        Some(Reason::Child) => v1::BlockReason::Child,
        Some(Reason::Question) => v1::BlockReason::Question,
        Some(Reason::Authorization) => v1::BlockReason::Authorization,
        Some(Reason::UnknownOutcome) => v1::BlockReason::UnknownOutcome,
    }
}

pub(super) const fn state(state: State) -> v1::TaskState {
    match state {
        State::Pending => v1::TaskState::Pending,
        State::Running => v1::TaskState::Running,
        State::Blocked(_) => v1::TaskState::Blocked,
        State::AwaitingConfirmation => v1::TaskState::AwaitingConfirmation,
        State::Completed => v1::TaskState::Completed,
        State::Failed => v1::TaskState::Failed,
        State::Cancelled => v1::TaskState::Cancelled,
    }
}

pub(super) const fn kind(kind: store::Kind) -> v1::TaskKind {
    match kind {
        store::Kind::Root => v1::TaskKind::Root,
        store::Kind::Agent => v1::TaskKind::Agent,
        store::Kind::Question => v1::TaskKind::Question,
    }
}

fn waiting(wait: store::Waiting) -> v1::Waiting {
    let thing = match wait.target {
        WaitTarget::Child(id) | WaitTarget::Question(id) => waiting::Thing::TaskId(id.to_string()),
        WaitTarget::Confirmation(id) => waiting::Thing::ConfirmationId(id.to_string()),
        WaitTarget::Source(source) => waiting::Thing::Source(source),
        WaitTarget::Call(id) => waiting::Thing::CallId(id.to_string()),
    };
    v1::Waiting { sequence: wait.sequence, thing: Some(thing) }
}

fn lease(lease: store::Lease) -> v1::Lease {
    v1::Lease { holder: lease.holder, token: lease.token, expires_at: Some(timestamp(lease.expires_at)) }
}

fn render_created(it: Created) -> v1::TaskCreated {
    v1::TaskCreated {
        r#type: it.tool_type.into_str().to_owned(),
        tool: it.tool,
        request: it.request,
        documents: references(it.documents),
    }
}

fn message(it: Message) -> v1::Message {
    let role = match it.speaker {
        Speaker::User => v1::MessageRole::User,
        Speaker::Assistant => v1::MessageRole::Assistant,
    };
    v1::Message {
        role: role.into(),
        text: inline_text(it.text, "input", &mut Vec::new()),
        opaque: it.opaque.map(|Opaque { provider, data }| v1::OpaquePart { provider, data }),
    }
}

fn tool_call(it: ToolCall) -> v1::ToolCall {
    let mut kept_apart = Vec::new();
    let input_json = inline_text(it.input, "input", &mut kept_apart);
    let result_json =
        it.result.map(|result| inline_text(result, "result", &mut kept_apart)).unwrap_or_default();
    v1::ToolCall {
        r#type: it.tool_type.into_str().to_owned(),
        tool: it.tool.into(),
        tool_call_id: it.tool_call_id,
        input_json,
        result_json,
        error: it.error.map(convert::tool_error),
        status: it.status,
        documents: references(it.documents),
        provenance: Some(convert::provenance(it.provenance)),
        category: it.category.into(),
        kept_apart,
    }
}

fn answer(it: Answer) -> v1::Answer {
    let mut kept_apart = Vec::new();
    let result_json =
        it.result.map(|result| inline_text(result, "result", &mut kept_apart)).unwrap_or_default();
    v1::Answer {
        answers: it.answers,
        status: it.status,
        result_json,
        error: it.error.map(convert::tool_error),
        documents: references(it.documents),
        origin: it.origin,
        provenance: Some(convert::provenance(it.provenance)),
        kept_apart,
    }
}

fn decision(it: Decision) -> v1::Decision {
    v1::Decision {
        decides: it.decides,
        confirmation_id: it.confirmation.to_string(),
        status: it.status,
        error: it.error.map(convert::tool_error),
    }
}

fn render_ended(it: Ended) -> v1::TaskEnded {
    v1::TaskEnded {
        state: it.end.state().into_str().to_owned(),
        result: it.result.as_ref().and_then(Text::inline).and_then(structure),
        documents: references(it.documents),
        message: it.message,
        cause: it.cause.into_str().to_owned(),
    }
}

/// The text of a part, if it is inline; an external one is added to `kept_apart`.
fn inline_text(part: Text, name: &str, kept_apart: &mut Vec<v1::KeptApart>) -> String {
    match part {
        Text::Inline(text) => text,
        Text::External { size_bytes, digest } => {
            kept_apart.push(v1::KeptApart { part: name.to_owned(), size_bytes, digest });
            String::new()
        }
    }
}

fn paths(documents: Vec<DocumentVersion>) -> Vec<String> {
    documents.into_iter().map(|it| it.path).collect()
}

fn references(documents: Vec<DocumentVersion>) -> Vec<v1::DocumentReference> {
    let reference = |DocumentVersion { path, version }| v1::DocumentReference { path, version };
    documents.into_iter().map(reference).collect()
}

/// The structure of the text of a JSON object.
fn structure(text: &str) -> Option<Struct> {
    let object: Map<String, Value> = serde_json::from_str(text).ok()?;
    json::to_exact_struct(&object)
}
