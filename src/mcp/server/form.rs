//! A form in which the client's person reads what waits for approval. It means "look again"; where the operator lets
//! this user decide in the client, and the server lets them decide on this call, it holds the decision.

use std::time::{Duration, SystemTime};

use rmcp::{
    ErrorData,
    model::{
        CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitationSchema, EnumSchema, InputRequest,
        InputRequiredResult, InputResponses, PrimitiveSchemaDefinition,
    },
};
use tonic::Status;

use super::{
    call::{Call, End},
    confirmation_mode::how_to_approve,
    handler::Handler,
    known_tools::KnownTool,
    outcome::Answer,
    request::Invocation,
    state::{Binding, State},
};
use toolwire_base::clock;
use toolwire_contract::proto::v1::{
    Approve, Confirmation, ConfirmationRequired, DecideConfirmationRequest, Deny, GetConfirmationRequest,
    decide_confirmation_request::Decision,
};

/// How long a repeated call waits for the decision before its form is shown again.
const WAIT: Duration = Duration::from_secs(10);

/// The key of the form among the requests of an answer.
const KEY: &str = "confirmation";

/// The face in the record of a decision that was made in a form.
const VIA: &str = "mcp form";

const APPROVE: &str = "approve";
const DENY: &str = "deny";

/// What a person answered in the form.
#[derive(Debug, PartialEq, Eq)]
enum Reply {
    /// Nothing was filled in, or "look again".
    LookAgain,
    Approve {
        tool: String,
        reason: String,
    },
    Deny {
        reason: String,
    },
    /// The form was declined or cancelled.
    Declined,
}

impl Handler {
    /// Carries a call out whose client shows forms.
    pub(super) async fn carry_out_by_form(
        &self,
        mut call: Call,
        mut invocation: Invocation,
        state: Option<State>,
    ) -> Result<Answer, ErrorData> {
        let mut reply = Reply::LookAgain;
        let mut problem = None;
        if let Some(state) = &state {
            reply = Reply::read(&invocation.input_responses);
            problem = self.decide(&state.confirmation_id, &reply).await.err();
            // Not where the form was declined, nor where the decision was refused: nothing is to be waited for.
            if reply != Reply::Declined && problem.is_none() {
                invocation.wait = WAIT;
            }
        }
        match call.run(invocation.clone()).await {
            End::Confirmation(required) if reply != Reply::Declined => {
                self.ask(&mut call, &invocation, &required, problem).await
            }
            end => call.answer(end),
        }
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

    /// The result by which the client shows the form and calls again with the state.
    async fn ask(
        &self,
        call: &mut Call,
        invocation: &Invocation,
        required: &ConfirmationRequired,
        problem: Option<Status>,
    ) -> Result<Answer, ErrorData> {
        // Looked up again, as a process that opens the state does.
        let tool = match self.known().renew(&self.services, &invocation.tool).await {
            Ok(tool) => tool,
            Err(status) => return call.answer(End::Status(status)),
        };
        let definition_digest = tool.as_ref().map_or("", |tool| tool.digest.as_str());
        let binding = Binding { user: &self.user(), invocation, definition_digest };
        let state = State::new(&required.confirmation_id, &required.request_id);
        let sealed = self.confirmations().codec.seal(&state, binding, time_left(required));
        let mut message = how_to_approve(required, &self.flags());
        if let Some(problem) = problem {
            message = format!("Your decision was not taken: {}. {message}", problem.message());
        }
        let confirmation = self.decidable(&required.confirmation_id).await;
        let form = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message,
            requested_schema: schema(confirmation.as_ref())?,
        };
        let form = InputRequest::Elicitation(ElicitRequest::new(form));
        let mut result = InputRequiredResult::new(Some([(KEY.to_owned(), form)].into()), Some(sealed));
        let mut meta = call.facts.metadata();
        meta.insert("toolwire/confirmation_id".to_owned(), required.confirmation_id.clone().into());
        result.meta = Some(meta);
        Ok(CallToolResponse::from(result).into())
    }

    /// The confirmation, if this user may decide on it in the client.
    async fn decidable(&self, id: &str) -> Option<Confirmation> {
        if !self.confirmations().in_client.contains(&self.user()) {
            return None;
        }
        let message = GetConfirmationRequest { confirmation_id: id.to_owned(), wait: None };
        let answer = self.services.confirmations().get_confirmation(message).await.ok()?;
        let confirmation = answer.into_inner().confirmation?;
        confirmation.may_decide.as_ref()?.allowed.then_some(confirmation)
    }

    /// Records the decision of a form. One that the form did not offer is ignored.
    async fn decide(&self, id: &str, reply: &Reply) -> Result<(), Status> {
        let decision = match reply {
            Reply::LookAgain | Reply::Declined => return Ok(()),
            Reply::Approve { tool, reason } => {
                Decision::Approve(Approve { tool: tool.clone(), reason: reason.clone() })
            }
            Reply::Deny { reason } => Decision::Deny(Deny { reason: reason.clone() }),
        };
        if self.decidable(id).await.is_none() {
            return Ok(());
        }
        let message = DecideConfirmationRequest {
            confirmation_id: id.to_owned(),
            decision: Some(decision),
            on_behalf_of: String::new(),
        };
        self.services.via(VIA).confirmations().decide_confirmation(message).await.map(|_| ())
    }
}

impl Reply {
    fn read(responses: &InputResponses) -> Self {
        let Some(response) = responses.get(KEY) else { return Self::LookAgain };
        let text = |name: &str| response["content"][name].as_str().unwrap_or_default().to_owned();
        match (response["action"].as_str(), text("decision").as_str()) {
            (Some("accept"), APPROVE) => Self::Approve { tool: text("tool"), reason: text("reason") },
            (Some("accept"), DENY) => {
                let reason = text("reason");
                // The service demands a reason.
                Self::Deny {
                    reason: if reason.is_empty() { "Denied in the client".to_owned() } else { reason },
                }
            }
            (Some("accept"), _) => Self::LookAgain,
            _ => Self::Declined,
        }
    }
}

/// The fields of the form. With the confirmation, it holds the decision.
fn schema(confirmation: Option<&Confirmation>) -> Result<ElicitationSchema, ErrorData> {
    let form = ElicitationSchema::builder();
    let form = match confirmation {
        None => form.bool_property("look_again", |it| {
            it.title("Look again").description("Look again whether it is approved").with_default(true)
        }),
        Some(confirmation) => {
            let decisions = EnumSchema::builder(vec![APPROVE.to_owned(), DENY.to_owned()]).build();
            let form = form
                .required_property("decision", PrimitiveSchemaDefinition::Enum(decisions))
                .string_property("reason", |it| it.title("Reason").max_length(1_000));
            if confirmation.may_decide.as_ref().is_some_and(|it| it.name_required) {
                form.string_property("tool", |it| {
                    it.title("Tool").description("The tool's name, to approve a call of high consequence")
                })
            } else {
                form
            }
        }
    };
    form.build().map_err(|error| ErrorData::internal_error(error.to_owned(), None))
}

fn time_left(required: &ConfirmationRequired) -> Duration {
    let until = required.expires_at.and_then(|at| SystemTime::try_from(at).ok());
    until.and_then(|until| until.duration_since(clock::wall()).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(response: Value) -> Reply {
        Reply::read(&[(KEY.to_owned(), response)].into())
    }

    #[test]
    fn a_form_is_read_for_what_was_filled_in() {
        let approve =
            json!({"action": "accept", "content": {"decision": "approve", "tool": "pay", "reason": "fine"}});
        assert_eq!(read(approve), Reply::Approve { tool: "pay".to_owned(), reason: "fine".to_owned() });
        assert!(matches!(
            read(json!({"action": "accept", "content": {"decision": "deny"}})),
            Reply::Deny { .. }
        ));
        assert_eq!(read(json!({"action": "accept", "content": {"look_again": true}})), Reply::LookAgain);
        assert_eq!(read(json!({"action": "decline"})), Reply::Declined);
        assert_eq!(read(json!({"action": "cancel"})), Reply::Declined);
        assert_eq!(Reply::read(&InputResponses::new()), Reply::LookAgain);
    }

    #[test]
    fn a_form_holds_the_decision_only_where_it_may_be_made() {
        let plain = json!(schema(None).unwrap());
        assert!(plain["properties"]["decision"].is_null() && !plain["properties"]["look_again"].is_null());
        let deciding = json!(schema(Some(&Confirmation::default())).unwrap());
        assert_eq!(deciding["properties"]["decision"]["enum"], json!(["approve", "deny"]));
    }
}
