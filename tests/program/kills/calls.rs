//! Writes and decisions without a task, as any client makes them.

use std::collections::{BTreeMap, HashMap};

use serde_json::json;
use tonic::Status;
use toolwire::{
    contract::proto::v1::{
        Approve, CallState, CallToolRequest, ConfirmationState, DecideConfirmationRequest, Deny,
        GetCallRequest, GetConfirmationRequest, ToolErrorCode, call_tool_request, call_tool_response,
        decide_confirmation_request::Decision, get_call_request, tool_result::Outcome,
    },
    tool::context::RequestId,
};

use super::{Client, Effects};

/// What a caller was told, and what it only began.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// How often it has begun to work.
    round: usize,
    /// The writes that were begun, with the round and their outcome if it was told.
    writes: HashMap<(String, RequestId), (usize, Option<Outcome>)>,
    /// The decisions that were acknowledged, with the round, and whether they approve.
    decisions: BTreeMap<String, (usize, bool)>,
    unknown: usize,
}

/// What all came to.
#[derive(Debug, Default)]
#[allow(dead_code, reason = "they are printed")]
pub(super) struct Figures {
    writes: usize,
    pub(super) told: usize,
    pub(super) decisions: usize,
    unknown: usize,
    not_in_the_log: usize,
}

impl Calls {
    /// Writes, asks, decides and uses, until the server is gone.
    pub(super) async fn load(&mut self, client: &mut Client, number: usize) -> Status {
        self.round += 1;
        for turn in number.. {
            if let Err(status) = self.one(client, turn).await {
                return status;
            }
        }
        unreachable!("numbers do not end")
    }

    async fn one(&mut self, client: &mut Client, turn: usize) -> Result<(), Status> {
        let id = RequestId::generate();
        if !turn.is_multiple_of(3) {
            return self.write(client, "debug_write", id).await.map(|_| ());
        }
        let Some(confirmation) = self.write(client, "debug_confirm", id).await? else { return Ok(()) };
        let approves = turn.is_multiple_of(2);
        decide(client, &confirmation, approves).await?;
        self.decisions.insert(confirmation, (self.round, approves));
        self.write(client, "debug_confirm", id).await.map(|_| ())
    }

    /// A write, told or not; the confirmation that it waits for.
    async fn write(
        &mut self,
        client: &mut Client,
        tool: &str,
        id: RequestId,
    ) -> Result<Option<String>, Status> {
        let key = (tool.to_owned(), id);
        self.writes.entry(key.clone()).or_insert((self.round, None));
        let arguments = json!({"value": id.to_string(), "duration": "0.003s"});
        let message = CallToolRequest {
            target: Some(call_tool_request::Target::Tool(tool.to_owned())),
            input: Some(call_tool_request::Input::ArgumentsJson(arguments.to_string())),
            request_id: id.to_string(),
            ..CallToolRequest::default()
        };
        match client.tools.call_tool(message).await?.into_inner().outcome.expect("an outcome") {
            call_tool_response::Outcome::Result(result) => {
                self.writes.insert(key, (self.round, result.outcome));
                Ok(None)
            }
            call_tool_response::Outcome::ConfirmationRequired(it) => Ok(Some(it.confirmation_id)),
        }
    }

    /// What was told is as it was told; what was not has an end by now, or is said to be unknown.
    pub(super) async fn verify(&mut self, client: &mut Client, is_last: bool) {
        let since = if is_last { 0 } else { self.round };
        let decisions = self.decisions.iter().filter(|(_, (round, _))| *round >= since);
        for (confirmation_id, (_, approves)) in decisions {
            verify_decision(client, confirmation_id, *approves).await;
        }
        let writes = self.writes.iter().filter(|(_, (round, _))| *round >= since);
        let writes: Vec<_> = writes.map(|(key, (_, told))| (key.clone(), told.clone())).collect();
        for ((tool, id), told) in writes {
            match told {
                Some(told) => verify_write(client, &tool, id, told).await,
                None => self.repeat(client, &tool, id).await,
            }
        }
    }

    async fn repeat(&mut self, client: &mut Client, tool: &str, id: RequestId) {
        if let Some(confirmation) = self.write(client, tool, id).await.expect("status OK") {
            // Nothing was done. Whoever asked is gone, and what nobody decides takes room until it expires.
            decide(client, &confirmation, false).await.expect("status OK");
            self.decisions.insert(confirmation, (self.round, false));
        } else if let Some(Outcome::Error(error)) = &self.writes[&(tool.to_owned(), id)].1 {
            let is_unknown = error.code() == ToolErrorCode::OutcomeUnknown;
            self.unknown += usize::from(is_unknown);
            assert!(is_unknown || error.code() == ToolErrorCode::ConfirmationDenied, "{error:?}");
        }
    }
}

impl Figures {
    pub(super) fn add(&mut self, calls: &Calls, effects: &Effects) {
        let told = calls.writes.iter().filter_map(|((_, id), (_, told))| Some((id, told.as_ref()?)));
        self.writes += calls.writes.len();
        self.decisions += calls.decisions.len();
        self.unknown += calls.unknown;
        for (id, outcome) in told {
            self.told += 1;
            self.not_in_the_log += usize::from(matches!(outcome, Outcome::Data(_)) && !effects.has(*id));
        }
    }
}

pub(super) async fn decide(client: &mut Client, confirmation: &str, approves: bool) -> Result<(), Status> {
    let decision = match approves {
        true => Decision::Approve(Approve { tool: "debug_confirm".to_owned(), reason: String::new() }),
        false => Decision::Deny(Deny { reason: "no".to_owned() }),
    };
    let message = DecideConfirmationRequest {
        confirmation_id: confirmation.to_owned(),
        decision: Some(decision),
        on_behalf_of: String::new(),
    };
    client.confirmations.decide_confirmation(message).await.map(|_| ())
}

async fn verify_decision(client: &mut Client, confirmation_id: &str, approves: bool) {
    let message = GetConfirmationRequest { confirmation_id: confirmation_id.to_owned(), wait: None };
    let found = client.confirmations.get_confirmation(message).await.unwrap().into_inner();
    let found = found.confirmation.expect("a confirmation");
    let expected: &[_] = match approves {
        true => &[ConfirmationState::Approved, ConfirmationState::Used],
        false => &[ConfirmationState::Denied],
    };
    assert!(expected.contains(&found.state()), "an acknowledged decision is lost: {found:?}");
}

async fn verify_write(client: &mut Client, tool: &str, id: RequestId, told: Outcome) {
    let message = GetCallRequest {
        call: Some(get_call_request::Call::RequestId(id.to_string())),
        tool: tool.to_owned(),
        ..GetCallRequest::default()
    };
    let found = client.tools.get_call(message).await.expect("what was told is kept").into_inner();
    let state = found.call.expect("a call").state();
    match &told {
        Outcome::Error(error) if error.code() == ToolErrorCode::OutcomeUnknown => {}
        Outcome::Error(_) => assert_eq!(state, CallState::Failed),
        Outcome::Data(_) | Outcome::DataJson(_) | Outcome::DataText(_) => {
            assert_eq!((state, found.result.expect("a result").outcome), (CallState::Succeeded, Some(told)));
        }
    }
}
