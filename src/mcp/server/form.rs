//! Forms that a client shows to its user for a call that waits for approval. A form holds the decision if the operator
//! (`in_client`) or the person at this machine (`--decide-here`) has enabled that, and the server lets the user decide
//! on the call. Any other form is shown once for each confirmation, and accepting it means "look again".

mod fields;
mod held;

use std::time::{Duration, SystemTime};

use rmcp::{
    ErrorData,
    model::{
        CallToolResponse, ElicitRequest, ElicitRequestParams, InputRequest, InputRequiredResult,
        InputResponses,
    },
};
use tonic::Status;

use self::fields::{Reply, schema};
use super::{
    approval_words::how_to_approve,
    call::{Call, End},
    confirmation_mode::{ConfirmationMode, FormKind},
    handler::Handler,
    known_tools::KnownTool,
    outcome::Answer,
    request::Invocation,
    settings::Transport,
    state::{Binding, State},
};
use toolwire_base::clock;
use toolwire_contract::{
    convert,
    proto::v1::{
        Approve, Confirmation, ConfirmationRequired, ConfirmationState, DecideConfirmationRequest, Deny,
        GetConfirmationRequest, MayDecide, decide_confirmation_request::Decision,
    },
};

/// The key of the form among the requests of an answer.
const KEY: &str = "confirmation";

/// The face in the record of a decision that was made in a form.
pub const MCP_FORM: &str = "mcp form";

/// How long one query of a call or a confirmation waits for a change.
pub(super) const LONG_POLL: Duration = Duration::from_mins(1);

/// How often a form is shown again after a refused decision, such as one without the tool's name. The limit stops a
/// program that fills in forms by itself.
const MAX_REFUSED: u32 = 3;

/// What a client sent back with its call after it showed a form.
#[derive(Debug)]
pub(super) struct Round {
    state: State,
    reply: Reply,
    /// Why the decision was not taken.
    problem: Option<Status>,
}

impl Round {
    /// Whether the person expects the call to go on.
    fn goes_on(&self) -> bool {
        self.reply != Reply::Declined && self.problem.is_none()
    }
}

impl Handler {
    /// Whether the forms of the request's client can hold a decision.
    pub(super) fn decides_in_forms(&self) -> bool {
        self.confirmations().decide_here || self.confirmations().in_client.contains(&self.user())
    }

    /// Carries out a call for a client that supports forms and no tasks.
    pub(super) async fn carry_out_by_form(
        &self,
        mut call: Call,
        mut invocation: Invocation,
        mode: ConfirmationMode,
        round: Option<Round>,
    ) -> Result<Answer, ErrorData> {
        let patience = call.patience(&invocation);
        if round.as_ref().is_some_and(Round::goes_on) {
            invocation.wait = patience;
        }
        let required = match call.run(invocation.clone()).await {
            End::Confirmation(required) => required,
            end => return call.answer(end),
        };
        if let Some(answer) = self.ask(&mut call, &invocation, &required, mode, round.as_ref()).await? {
            return Ok(answer);
        }
        if round.is_none() && !patience.is_zero() {
            // An earlier call has shown the form, so this one waits as for a client without forms.
            let request_id = required.request_id.parse().ok();
            return call.carry_out(Invocation { request_id, wait: patience, ..invocation }).await;
        }
        call.answer(End::Confirmation(required))
    }

    /// Opens the state that a client sent back with a call.
    pub(super) fn open_state(
        &self,
        sealed: &str,
        invocation: &Invocation,
        tool: Option<&KnownTool>,
    ) -> Result<State, ErrorData> {
        let definition_digest = tool.map_or("", |tool| tool.digest.as_str());
        self.confirmations().codec.open(sealed, Binding { user: &self.user(), invocation, definition_digest })
    }

    /// Takes what the person answered in the form.
    pub(super) async fn take_reply(&self, state: State, responses: &InputResponses) -> Round {
        let reply = responses.get(KEY).map_or(Reply::LookAgain, Reply::read);
        let problem = self.decide(&state.confirmation_id, &reply).await.err();
        Round { state, reply, problem }
    }

    /// Has the client show a form, if one is due.
    pub(super) async fn ask(
        &self,
        call: &mut Call,
        invocation: &Invocation,
        required: &ConfirmationRequired,
        mode: ConfirmationMode,
        round: Option<&Round>,
    ) -> Result<Option<Answer>, ErrorData> {
        let Some(kind) = mode.form else { return Ok(None) };
        let Some(confirmation) = self.confirmation(&required.confirmation_id).await else { return Ok(None) };
        let is_due = match self.decision(&confirmation) {
            Some(_) => round.is_none_or(|round| {
                round.state.confirmation_id != required.confirmation_id
                    || (round.problem.is_some() && round.state.refused < MAX_REFUSED)
            }),
            // A form that decides nothing is shown once, by the call that asked for the confirmation.
            None => {
                kind == FormKind::Answer && !mode.takes_tasks && confirmation.call_id == call.facts.call_id
            }
        };
        if !is_due {
            return Ok(None);
        }
        match kind {
            FormKind::Answer => self.ask_by_answer(call, invocation, required, &confirmation, round).await,
            FormKind::Request => self.ask_by_request(call, invocation, required, confirmation).await,
        }
        .map(Some)
    }

    /// The answer by which the client shows the form and calls again with the state.
    async fn ask_by_answer(
        &self,
        call: &mut Call,
        invocation: &Invocation,
        required: &ConfirmationRequired,
        confirmation: &Confirmation,
        round: Option<&Round>,
    ) -> Result<Answer, ErrorData> {
        // Looked up again, as a process that opens the state does.
        let tool = match self.known().renew(&self.services, &invocation.tool).await {
            Ok(tool) => tool,
            Err(status) => return call.answer(End::Status(status)),
        };
        let definition_digest = tool.as_ref().map_or("", |tool| tool.digest.as_str());
        let binding = Binding { user: &self.user(), invocation, definition_digest };
        let problem = round.and_then(|round| round.problem.as_ref());
        let refused = round.filter(|_| problem.is_some()).map_or(0, |round| round.state.refused + 1);
        let state = State::new(&required.confirmation_id, &required.request_id, refused);
        let sealed = self.confirmations().codec.seal(&state, binding, time_left(required));
        let form =
            InputRequest::Elicitation(ElicitRequest::new(self.form(required, confirmation, problem)?));
        let mut result = InputRequiredResult::new(Some([(KEY.to_owned(), form)].into()), Some(sealed));
        let mut meta = call.facts.metadata();
        meta.insert("toolwire/confirmation_id".to_owned(), required.confirmation_id.clone().into());
        result.meta = Some(meta);
        Ok(CallToolResponse::from(result).into())
    }

    /// The message and the fields of the form.
    fn form(
        &self,
        required: &ConfirmationRequired,
        confirmation: &Confirmation,
        problem: Option<&Status>,
    ) -> Result<ElicitRequestParams, ErrorData> {
        let decision = self.decision(confirmation);
        let how = how_to_approve(required, &self.flags());
        let message = match (problem, decision) {
            (Some(problem), _) => format!("Your decision was not taken: {}. {how}", problem.message()),
            (None, Some(_)) => format!("{how}. Or decide here"),
            (None, None) => {
                let why = self.why_undecided(confirmation);
                format!(
                    "{how}. An answer in this form decides nothing, since {why}. Once it is approved, accept, and the call \
                     goes on"
                )
            }
        };
        let requested_schema = schema(decision)?;
        Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
    }

    /// Why the form cannot decide, and which setting would let it.
    fn why_undecided(&self, confirmation: &Confirmation) -> String {
        if self.decides_in_forms() {
            let reason = confirmation.may_decide.as_ref().map_or("", |it| it.reason.as_str());
            return if reason.is_empty() { "it cannot be decided".to_owned() } else { reason.to_owned() };
        }
        match (self.shared.transport, self.user().as_str()) {
            (Transport::Http, user) => format!("`[confirmations] in_client` does not name {user}"),
            (Transport::Stdio, _) => {
                "this program runs without `--decide-here`, which is for the person at this \
                                      machine what `[confirmations] in_client` is for users over HTTP"
                    .to_owned()
            }
        }
    }

    async fn confirmation(&self, id: &str) -> Option<Confirmation> {
        self.confirmation_within(id, None).await
    }

    /// Whether a confirmation is pending, after a wait for the end of that. `None` after a failure.
    pub(super) async fn is_pending(&self, id: &str) -> Option<bool> {
        let confirmation = self.confirmation_within(id, Some(LONG_POLL)).await?;
        Some(confirmation.state() == ConfirmationState::Pending)
    }

    /// The confirmation, after at most this wait for a decision.
    async fn confirmation_within(&self, id: &str, wait: Option<Duration>) -> Option<Confirmation> {
        let message =
            GetConfirmationRequest { confirmation_id: id.to_owned(), wait: wait.map(convert::duration) };
        let answer = self.services.confirmations().get_confirmation(message).await.ok()?;
        answer.into_inner().confirmation
    }

    /// What the server lets this user decide, if the forms of the client can hold a decision.
    fn decision<'a>(&self, confirmation: &'a Confirmation) -> Option<&'a MayDecide> {
        confirmation.may_decide.as_ref().filter(|it| it.allowed && self.decides_in_forms())
    }

    /// Records the decision of a form. It is ignored if the form had no field for it.
    async fn decide(&self, id: &str, reply: &Reply) -> Result<(), Status> {
        let decision = match reply {
            Reply::LookAgain | Reply::Declined => return Ok(()),
            Reply::Approve { tool, reason } => {
                Decision::Approve(Approve { tool: tool.clone(), reason: reason.clone() })
            }
            Reply::Deny { reason } => Decision::Deny(Deny { reason: reason.clone() }),
        };
        let confirmation = self.confirmation(id).await;
        if confirmation.is_none_or(|confirmation| self.decision(&confirmation).is_none()) {
            return Ok(());
        }
        let message = DecideConfirmationRequest {
            confirmation_id: id.to_owned(),
            decision: Some(decision),
            on_behalf_of: String::new(),
        };
        self.services.via(MCP_FORM).confirmations().decide_confirmation(message).await.map(|_| ())
    }
}

fn time_left(required: &ConfirmationRequired) -> Duration {
    let until = required.expires_at.and_then(|at| SystemTime::try_from(at).ok());
    until.and_then(|until| until.duration_since(clock::wall()).ok()).unwrap_or_default()
}
