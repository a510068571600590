//! `toolwire.v1.ConfirmationService`: calls that need a person's approval, listed and decided.

use futures_util::stream;
use serde_json::Value;
use strum::VariantArray as _;
use tonic::{Request, Response};

use super::{Answered, Streamed, face::Face, service::Service, split};
use crate::{
    faces::incoming,
    service::{
        changes::read_ahead,
        confirmations::{
            Choice, ConfirmationView, DecisionRequest, DefinitionChange, Filter, MAX_WAIT, Watch, WatchEvent,
        },
        request,
    },
};
use toolwire_base::clock;
use toolwire_contract::{
    Refusal,
    convert::timestamp,
    json,
    proto::v1::{
        self, ConfirmationWatchType,
        confirmation_service_server::{ConfirmationService, ConfirmationServiceServer},
        decide_confirmation_request::Decision,
    },
};
use toolwire_mcp::server::MCP_FORM;
use toolwire_state::confirmations::{Confirmation, life::State};
use toolwire_transport::{drain_signal, rules::Rule};

/// Longer arguments, as JSON text, are not sent as a structure too: one can take six times as much, and clients take
/// messages of 4 MiB.
const MAX_STRUCTURE: usize = 256 * 1024;

pub(super) fn service() -> Service {
    super::service!(ConfirmationServiceServer, |face| face.clone()).except("WatchConfirmations", Rule::WATCH)
}

#[tonic::async_trait]
impl ConfirmationService for Face {
    type WatchConfirmationsStream = Streamed<v1::WatchConfirmationsResponse>;

    async fn list_confirmations(
        &self,
        request: Request<v1::ListConfirmationsRequest>,
    ) -> Answered<v1::ListConfirmationsResponse> {
        let (user, _, v1::ListConfirmationsRequest { filter, page_size, page_token }) = split(request);
        let filter = read_filter(filter.unwrap_or_default())?;
        let page = self.tools.confirmations().list(&user, &filter, page_size, &page_token).await?;
        let confirmations = page.confirmations.into_iter().map(render).collect();
        Ok(Response::new(v1::ListConfirmationsResponse { confirmations, next_page_token: page.next }))
    }

    async fn get_confirmation(
        &self,
        request: Request<v1::GetConfirmationRequest>,
    ) -> Answered<v1::GetConfirmationResponse> {
        let (user, from, v1::GetConfirmationRequest { confirmation_id, wait }) = split(request);
        let wait = request::wait_within("wait", wait, MAX_WAIT)?;
        let confirmations = self.tools.confirmations();
        let found = confirmations.get(&user, &confirmation_id, wait, &drain_signal(&from)).await?;
        Ok(Response::new(v1::GetConfirmationResponse { confirmation: Some(render(found)) }))
    }

    async fn decide_confirmation(
        &self,
        request: Request<v1::DecideConfirmationRequest>,
    ) -> Answered<v1::DecideConfirmationResponse> {
        let is_by_form = request.metadata().get(incoming::VIA.as_str()).is_some_and(|it| it == MCP_FORM);
        let (user, from, message) = split(request);
        let v1::DecideConfirmationRequest { confirmation_id, decision, on_behalf_of } = message;
        let choice = match decision {
            Some(Decision::Approve(it)) => Choice::Approve { tool: it.tool, reason: it.reason },
            Some(Decision::Deny(it)) => Choice::Deny { reason: it.reason },
            None => return Err(request::refuse("decision", "required", "must be approve or deny").into()),
        };
        let mut origin = incoming::origin(&from);
        if is_by_form && origin.face == "grpc" {
            // Not verified: any program with the user's credentials can send this header.
            origin.face = MCP_FORM;
        }
        let request = DecisionRequest { choice, on_behalf_of, origin };
        let decided = self.tools.confirmations().decide(&user, &confirmation_id, request).await?;
        Ok(Response::new(v1::DecideConfirmationResponse { confirmation: Some(render(decided)) }))
    }

    /// A watch that fails ends with the reason.
    async fn watch_confirmations(
        &self,
        request: Request<v1::WatchConfirmationsRequest>,
    ) -> Answered<Self::WatchConfirmationsStream> {
        let (user, _, v1::WatchConfirmationsRequest { filter, after_sequence }) = split(request);
        let filter = read_filter(filter.unwrap_or_default())?;
        let name = user.id.clone();
        let watch = self.tools.confirmations().watch(user, filter, after_sequence).await?;
        let next = async |watch: Option<Watch>| {
            let mut watch = watch?;
            match watch.next().await {
                Ok(news) => Some((Ok(render_event(news)), Some(watch))),
                Err(refusal) => Some((Err(refusal.into()), None)),
            }
        };
        Ok(Response::new(read_ahead(&name, stream::unfold(Some(watch), next))))
    }
}

fn read_filter(wire: v1::ConfirmationFilter) -> Result<Filter, Refusal> {
    let state = |wire| {
        let what = "must be states of ConfirmationState";
        state_of(wire).ok_or_else(|| request::refuse("filter.states", "enum", what))
    };
    Ok(Filter {
        states: wire.states.into_iter().map(state).collect::<Result<_, _>>()?,
        tools: wire.tools,
        user: request::user_id("filter.user_id", &wire.user_id)?,
        task_id: request::task_id("filter.task_id", &wire.task_id)?,
        decidable: wire.decidable,
    })
}

fn render_event(news: WatchEvent) -> v1::WatchConfirmationsResponse {
    let (kind, told) = match news {
        WatchEvent::Requested(told) => (ConfirmationWatchType::Requested, told),
        WatchEvent::Changed(told) => (ConfirmationWatchType::Changed, told),
        WatchEvent::Synced(sequence) => return silent(ConfirmationWatchType::Synced, sequence),
        WatchEvent::Heartbeat(sequence) => return silent(ConfirmationWatchType::Heartbeat, sequence),
    };
    let sequence = told.viewed.position;
    v1::WatchConfirmationsResponse {
        r#type: kind.into(),
        confirmation: Some(render(*told.viewed)),
        sequence,
        event_time: Some(timestamp(told.at)),
    }
}

fn silent(kind: ConfirmationWatchType, sequence: u64) -> v1::WatchConfirmationsResponse {
    let event_time = Some(timestamp(clock::wall()));
    v1::WatchConfirmationsResponse { r#type: kind.into(), confirmation: None, sequence, event_time }
}

fn render(viewed: ConfirmationView) -> v1::Confirmation {
    let ConfirmationView { confirmation, why_not, name_required, position, url, definition_changes } = viewed;
    let Confirmation { id, state: at, key, asked, decided, used, .. } = confirmation;
    let is_cut = confirmation.is_cut;
    let arguments = Value::Object(asked.arguments.filter(|_| !is_cut).unwrap_or_default());
    let arguments_json = if is_cut { String::new() } else { arguments.to_string() };
    // Large arguments go out once, as JSON: a Struct of the same size would double the message.
    let is_shown_twice = !is_cut && arguments_json.len() <= MAX_STRUCTURE;
    let structure = arguments.as_object().filter(|_| is_shown_twice).and_then(json::to_exact_struct);
    let decided_at = decided.as_ref().map(|it| timestamp(it.at));
    let (decided_by, decided_via, on_behalf_of) =
        decided.map(|it| (it.by.to_string(), it.via, it.on_behalf_of)).unwrap_or_default();
    v1::Confirmation {
        confirmation_id: id.to_string(),
        state: state(at).into(),
        tool: key.tool.into(),
        path: asked.path.into_iter().map(Into::into).collect(),
        summary: asked.summary,
        arguments: structure,
        arguments_json,
        arguments_digest: confirmation.arguments_digest.to_string(),
        definition_digest: asked.definition_digest.to_string(),
        category: asked.category.into(),
        consequence_level: asked.consequence_level.into(),
        cause: v1::ConfirmationCause::from(asked.cause).into(),
        user_id: key.user.to_string(),
        user_email: asked.user_email.unwrap_or_default(),
        task_id: asked.task_id.map(|id| id.to_string()).unwrap_or_default(),
        session_id: asked.session_id.map(|id| id.to_string()).unwrap_or_default(),
        call_id: asked.outermost.call_id.to_string(),
        request_id: asked.outermost.request_id.to_string(),
        created_at: Some(timestamp(confirmation.created_at)),
        expires_at: Some(timestamp(confirmation.expires_at)),
        decided_at,
        decided_by,
        decided_via,
        on_behalf_of,
        reason: confirmation.reason,
        used_at: used.map(|(at, _)| timestamp(at)),
        used_by_call_id: used.map(|(_, call_id)| call_id.to_string()).unwrap_or_default(),
        may_decide: Some(v1::MayDecide {
            allowed: why_not.is_none(),
            reason: why_not.unwrap_or_default(),
            name_required,
        }),
        sequence: position,
        arguments_cut: is_cut,
        url,
        face: asked.face,
        client: asked.client,
        definition_changes: definition_changes.listed.into_iter().map(render_definition_change).collect(),
        definition_changes_left_out: u32::try_from(definition_changes.left_out).unwrap_or(u32::MAX),
    }
}

fn render_definition_change(change: DefinitionChange) -> v1::DefinitionChange {
    let DefinitionChange { pointer, before, after, is_excerpt } = change;
    v1::DefinitionChange { pointer, before_json: before, after_json: after, excerpt: is_excerpt }
}

fn state(state: State) -> v1::ConfirmationState {
    match state {
        State::Pending => v1::ConfirmationState::Pending,
        State::Approved => v1::ConfirmationState::Approved,
        State::Used => v1::ConfirmationState::Used,
        State::Denied => v1::ConfirmationState::Denied,
        State::Expired => v1::ConfirmationState::Expired,
        State::Voided => v1::ConfirmationState::Voided,
        State::Withdrawn => v1::ConfirmationState::Withdrawn,
    }
}

/// The state of one on the wire; `None` for one that is not stated or not known.
fn state_of(wire: i32) -> Option<State> {
    State::VARIANTS.iter().copied().find(|it| i32::from(state(*it)) == wire)
}
