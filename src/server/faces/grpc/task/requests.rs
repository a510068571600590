//! Decodes requests about tasks.

use super::wire;
use crate::service::{
    request::{self, refuse},
    tasks::{LeaseTarget, LeaseWish, NewTask},
};
use toolwire_contract::{
    Refusal,
    arguments::Arguments,
    proto::tasks::v1::{
        self, end_task_request::End, initial_document, lease_task_request::Target,
        resolve_unknown_request::Resolution,
    },
};
use toolwire_engine::tasks::{Content, InitialDocument};
use toolwire_state::tasks::{
    Filter, Kind, NewEnd, NewMessage, Scope, StepRef,
    entry::{Opaque, Speaker},
    life::State,
};
use toolwire_tool::context::RequestId;

/// The root to create, and its idempotency key.
pub(super) fn new_task(message: v1::CreateTaskRequest) -> Result<(NewTask, Option<RequestId>), Refusal> {
    let initial = |it: v1::InitialDocument| {
        let content = match it.content {
            Some(initial_document::Content::Text(text)) => Content::Text(text),
            Some(initial_document::Content::CopyOf(path)) => Content::CopyOf(path),
            None => return Err(refuse("documents.content", "required", "must be text or copy_of")),
        };
        Ok(InitialDocument { path: it.path, content, mime_type: it.mime_type })
    };
    let new = NewTask {
        request: message.request,
        role: message.role,
        documents: message.documents.into_iter().map(initial).collect::<Result<_, _>>()?,
        timeout: request::wait("timeout", message.timeout)?,
        labels: message.labels.into_iter().collect(),
    };
    Ok((new, request::request_id("request_id", &message.request_id)?))
}

/// The lease that is to be taken or renewed.
pub(super) fn lease(message: v1::LeaseTaskRequest) -> Result<LeaseWish, Refusal> {
    let wanted = match message.target {
        Some(Target::TaskId(id)) => LeaseTarget::Task(id),
        Some(Target::AnyOf(v1::Roles { roles })) => LeaseTarget::AnyOf(roles),
        None => return Err(refuse("target", "required", "must be task_id or any_of")),
    };
    Ok(LeaseWish {
        wanted,
        holder: message.holder,
        duration: request::wait("duration", message.duration)?,
        token: message.token,
        wait: request::wait("wait", message.wait)?.unwrap_or_default(),
    })
}

/// The message that is to be added.
pub(super) fn new_message(said: Option<v1::Message>, step_ref: StepRef) -> Result<NewMessage, Refusal> {
    let said = said.unwrap_or_default();
    let speaker = match said.role() {
        v1::MessageRole::User => Speaker::User,
        v1::MessageRole::Assistant => Speaker::Assistant,
        v1::MessageRole::Unspecified => {
            return Err(refuse("message.role", "required", "must be USER or ASSISTANT"));
        }
    };
    let opaque = said.opaque.map(|it| Opaque { provider: it.provider, data: it.data });
    Ok(NewMessage { speaker, text: said.text, opaque, step_ref })
}

/// The end of a task.
pub(super) fn new_end(end: Option<End>) -> Result<NewEnd, Refusal> {
    match end {
        Some(End::Completed(it)) => {
            let result = request::object("completed.result", it.result.unwrap_or_default())?;
            Ok(NewEnd::Completed(result, it.documents))
        }
        Some(End::Failed(why)) => Ok(NewEnd::Failed(why)),
        None => Err(refuse("end", "required", "must be completed or failed")),
    }
}

/// The result of a write; `None` if it was not done.
pub(super) fn resolution(resolution: Option<Resolution>) -> Result<Option<Arguments>, Refusal> {
    match resolution {
        Some(Resolution::Done(result)) => request::object("done", result).map(Some),
        Some(Resolution::NotDone(true)) => Ok(None),
        Some(Resolution::NotDone(false)) | None => {
            Err(refuse("resolution", "required", "must be done, or not_done: true"))
        }
    }
}

/// The tasks that are looked for, where no tree is named among all of this scope.
pub(super) fn filter(wire: v1::TaskFilter, otherwise: Scope) -> Result<Filter, Refusal> {
    let scope = match wire.root_id.as_str() {
        "" => otherwise,
        id => Scope::Tree(request::kept_task_id("filter.root_id", id)?),
    };
    let states = wire.states().map(state_word).collect::<Option<_>>();
    let kinds = wire.kinds().map(kind_of).collect::<Option<_>>();
    let unknown = |field| refuse(field, "enum", "must be values of their enum, and not its first");
    Ok(Filter {
        scope,
        states: states.ok_or_else(|| unknown("filter.states"))?,
        kinds: kinds.ok_or_else(|| unknown("filter.kinds"))?,
        roles: wire.roles,
        labels: wire.labels.into_iter().collect(),
    })
}

/// The word of a state, whatever a blocked one waits for.
fn state_word(state: v1::TaskState) -> Option<&'static str> {
    State::ALL.into_iter().find(|it| wire::state(*it) == state).map(Into::into)
}

fn kind_of(kind: v1::TaskKind) -> Option<Kind> {
    [Kind::Root, Kind::Agent, Kind::Question].into_iter().find(|it| wire::kind(*it) == kind)
}
