//! Kill -9 at random points of a mixed load, again and again on one state (issue 10, acceptance 3): nothing
//! acknowledged is lost, nothing is done twice, no sequence has a gap, and what was under way ends as
//! `OUTCOME_UNKNOWN`.
//!
//! `KILL_ROUNDS` says how often. Without the prefix of settings, which a server refuses that it does not know.

#![allow(
    clippy::match_bool,
    clippy::single_match,
    clippy::single_match_else,
    reason = "two cases beside each other"
)]
#![allow(clippy::print_stdout, reason = "the figures of a run on demand")]

use std::{
    collections::{BTreeMap, HashMap},
    env,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tonic::{Status, transport::Channel};
use toolwire::{
    context::RequestId,
    contract::proto::v1::{
        Approve, CallState, CallToolRequest, ConfirmationState, DecideConfirmationRequest, Deny,
        GetCallRequest, GetConfirmationRequest, ToolErrorCode, call_tool_request, call_tool_response,
        confirmation_service_client::ConfirmationServiceClient, decide_confirmation_request::Decision,
        get_call_request, tool_result::Outcome, tool_service_client::ToolServiceClient,
    },
    store::backup,
};

use crate::support::program::Program;

const CALLERS: usize = 4;

/// What the callers were told, and what they only began. It outlives the servers.
#[derive(Debug, Default)]
struct Known {
    /// The writes that were begun, with their outcome if it was told.
    writes: HashMap<(String, RequestId), Option<Outcome>>,
    /// The decisions that were acknowledged, and whether they approve.
    decisions: BTreeMap<String, bool>,
}

#[derive(Clone)]
struct Caller {
    tools: ToolServiceClient<Channel>,
    confirmations: ConfirmationServiceClient<Channel>,
    known: Arc<Mutex<Known>>,
}

/// What a call came to.
enum Came {
    Outcome(Outcome),
    Asks(String),
}

impl Caller {
    async fn of(program: &Program, known: &Arc<Mutex<Known>>) -> Self {
        let channel = program.channel().await;
        Self {
            tools: ToolServiceClient::new(channel.clone()),
            confirmations: ConfirmationServiceClient::new(channel),
            known: Arc::clone(known),
        }
    }

    async fn call(&mut self, tool: &str, id: RequestId) -> Result<Came, Status> {
        let arguments = json!({"value": id.to_string(), "duration": "0.003s"});
        let message = CallToolRequest {
            target: Some(call_tool_request::Target::Tool(tool.to_owned())),
            input: Some(call_tool_request::Input::ArgumentsJson(arguments.to_string())),
            request_id: id.to_string(),
            ..CallToolRequest::default()
        };
        match self.tools.call_tool(message).await?.into_inner().outcome.expect("an outcome") {
            call_tool_response::Outcome::Result(result) => {
                Ok(Came::Outcome(result.outcome.expect("an outcome")))
            }
            call_tool_response::Outcome::ConfirmationRequired(it) => Ok(Came::Asks(it.confirmation_id)),
        }
    }

    /// A write, told or not.
    async fn write(&mut self, tool: &str, id: RequestId) -> Result<Option<String>, Status> {
        let key = (tool.to_owned(), id);
        self.known.lock().unwrap().writes.entry(key.clone()).or_insert(None);
        match self.call(tool, id).await? {
            Came::Outcome(outcome) => {
                self.known.lock().unwrap().writes.insert(key, Some(outcome));
                Ok(None)
            }
            Came::Asks(confirmation) => Ok(Some(confirmation)),
        }
    }

    async fn decide(&mut self, confirmation: String, approves: bool) -> Result<(), Status> {
        let decision = match approves {
            true => Decision::Approve(Approve { tool: "debug_confirm".to_owned(), reason: String::new() }),
            false => Decision::Deny(Deny { reason: "no".to_owned() }),
        };
        let message = DecideConfirmationRequest {
            confirmation_id: confirmation.clone(),
            decision: Some(decision),
            on_behalf_of: String::new(),
        };
        self.confirmations.decide_confirmation(message).await?;
        self.known.lock().unwrap().decisions.insert(confirmation, approves);
        Ok(())
    }

    /// Writes, asks, decides and uses, until the server is gone.
    async fn load(mut self, number: usize) {
        for turn in number.. {
            let id = RequestId::generate();
            let done = async {
                if turn % 3 > 0 {
                    return self.write("debug_write", id).await.map(|_| ());
                }
                let Some(confirmation) = self.write("debug_confirm", id).await? else { return Ok(()) };
                self.decide(confirmation, turn % 2 == 0).await?;
                self.write("debug_confirm", id).await.map(|_| ())
            };
            if done.await.is_err() {
                return;
            }
        }
    }
}

async fn serve(state: &TempDir) -> Program {
    let state = state.path().to_str().expect("a name");
    let variables = [("TOOLWIRE_STATE", state), ("TOOLWIRE_LOG_FILTER", "toolwire::diagnostics=debug")];
    Program::start(Path::new("."), &[], &variables).await
}

/// Counts what was done, as the log says, which is outside of what is killed.
fn count(log: &str, effects: &mut HashMap<String, usize>) {
    for line in log.lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
        if line["message"] == "wrote" {
            *effects.entry(line["request_id"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_and_nothing_is_done_twice_wherever_the_server_is_killed() {
    let rounds = env::var("KILL_ROUNDS").map_or(20, |text| text.parse().expect("a number"));
    let state = tempfile::tempdir().expect("a directory");
    let known = Arc::new(Mutex::new(Known::default()));
    let (mut effects, mut unknown) = (HashMap::new(), 0);
    for _ in 0..rounds {
        let program = serve(&state).await;
        let mut callers = Vec::new();
        for number in 0..CALLERS {
            callers.push(tokio::spawn(Caller::of(&program, &known).await.load(number)));
        }
        // Any point will do: it is drawn from the bytes of an identifier.
        let drawn = RequestId::generate().as_bytes()[0];
        tokio::time::sleep(Duration::from_millis(20 + u64::from(drawn))).await;
        count(&program.kill().await, &mut effects);
        for caller in callers {
            caller.await.expect("no panic");
        }
        let checked = backup::check(state.path()).await.expect("readable");
        assert_eq!(checked.problems, Vec::<String>::new());

        let program = serve(&state).await;
        unknown += verify(Caller::of(&program, &known).await).await;
        count(&program.kill().await, &mut effects);
        assert!(effects.values().all(|times| *times == 1), "done more than once: {effects:?}");
    }
    let known = known.lock().unwrap();
    let told = known.writes.values().flatten().count();
    let lost: Vec<_> = known
        .writes
        .iter()
        .filter(|((_, id), outcome)| {
            matches!(outcome, Some(Outcome::Data(_))) && !effects.contains_key(&id.to_string())
        })
        .collect();
    println!(
        "{rounds} rounds: {told} of {} writes told, {} decisions, {} effects seen, {unknown} outcomes unknown, \
         {} effects not in the log",
        known.writes.len(),
        known.decisions.len(),
        effects.len(),
        lost.len()
    );
    assert!(told > 0 && !known.decisions.is_empty());
}

/// What was told is as it was told; what was not has an end by now, or is said to be unknown. How many are unknown.
async fn verify(mut caller: Caller) -> usize {
    let (writes, decisions) = {
        let known = caller.known.lock().unwrap();
        (known.writes.clone(), known.decisions.clone())
    };
    for (confirmation_id, approves) in decisions {
        let message = GetConfirmationRequest { confirmation_id, wait: None };
        let found =
            caller.confirmations.get_confirmation(message).await.unwrap().into_inner().confirmation.unwrap();
        let expected: &[_] = match approves {
            true => &[ConfirmationState::Approved, ConfirmationState::Used],
            false => &[ConfirmationState::Denied],
        };
        assert!(expected.contains(&found.state()), "an acknowledged decision is lost: {found:?}");
    }
    let mut unknown = 0;
    for ((tool, id), told) in writes {
        if let Some(told) = told {
            let message = GetCallRequest {
                call: Some(get_call_request::Call::RequestId(id.to_string())),
                tool,
                ..GetCallRequest::default()
            };
            let found = caller.tools.get_call(message).await.expect("what was told is kept").into_inner();
            let state = found.call.unwrap().state();
            match &told {
                Outcome::Error(error) if error.code() == ToolErrorCode::OutcomeUnknown => {}
                Outcome::Error(_) => assert_eq!(state, CallState::Failed),
                Outcome::Data(_) | Outcome::DataJson(_) | Outcome::DataText(_) => {
                    assert_eq!((state, found.result.unwrap().outcome), (CallState::Succeeded, Some(told)));
                }
            }
            continue;
        }
        match caller.write(&tool, id).await.expect("status OK") {
            // Nothing was done: it waits for a person, and may be decided in the next round or never.
            Some(_) => {}
            None => {
                let outcome = caller.known.lock().unwrap().writes[&(tool, id)].clone();
                if let Some(Outcome::Error(error)) = outcome {
                    let is_unknown = error.code() == ToolErrorCode::OutcomeUnknown;
                    unknown += usize::from(is_unknown);
                    assert!(is_unknown || error.code() == ToolErrorCode::ConfirmationDenied, "{error:?}");
                }
            }
        }
    }
    unknown
}
