//! A turn whose call a person must approve: it pauses, waits in the store, and goes on without doing anything twice.

use toolwire::contract::proto::{
    agent::v1::{Paused, TurnOutcome, TurnState},
    v1::{
        Approve, DecideConfirmationRequest, Deny, ToolErrorCode,
        confirmation_service_client::ConfirmationServiceClient, decide_confirmation_request::Decision,
        tool_result::Outcome,
    },
};

use super::*;

/// A write, and one that a person must approve.
fn script() -> Value {
    let calls =
        [call("debug_write", &json!({"value": "first"})), call("debug_confirm", &json!({"value": "second"}))];
    json!({"plans": [{"calls": calls}], "answer": ["Both are written."]})
}

impl Person {
    pub(crate) async fn pauses(&self, input: TurnInput) -> (String, Paused) {
        let ChatResponse { turn_id, end } = self.chat(input).await.unwrap();
        match end {
            Some(chat_response::End::Paused(paused)) => (turn_id, paused),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn decides(&self, paused: &Paused, decision: Decision) {
        let required = paused.pending[0].confirmation_required.clone().unwrap();
        let message = DecideConfirmationRequest {
            confirmation_id: required.confirmation_id,
            decision: Some(decision),
            on_behalf_of: String::new(),
        };
        let mut confirmations = ConfirmationServiceClient::new(self.channel.clone());
        confirmations.decide_confirmation(self.request(message)).await.unwrap();
    }
}

pub(crate) fn approve() -> Decision {
    Decision::Approve(Approve { tool: "debug_confirm".to_owned(), reason: String::new() })
}

#[track_caller]
fn data(reply: &Reply, at: usize) -> Value {
    match &reply.tool_results[at].result.as_ref().unwrap().outcome {
        Some(Outcome::DataJson(text)) => serde_json::from_str(text).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_turn_pauses_and_goes_on_once_it_is_approved_without_writing_twice() {
    let house = House::new();
    let riley = house.person("demo").await;
    let (turn_id, paused) = riley.pauses(within("s", says(&script()))).await;
    assert_eq!((paused.pending.len(), paused.pending[0].tool.as_str()), (1, "debug_confirm"));
    assert!(paused.expires_at.is_some());
    assert_eq!(riley.turn(&turn_id).await.unwrap().state(), TurnState::Paused);
    // Nobody is asked past it.
    let past = riley.chat(within("s", says(&quotes()))).await;
    assert!(assert_refused(past, Code::FailedPrecondition, "TURN_PAUSED").contains(&turn_id));
    // Not decided yet: it pauses again, with the same confirmation.
    let (same, again) = riley.pauses(resumes(&turn_id)).await;
    let id = |paused: &Paused| paused.pending[0].confirmation_required.clone().unwrap().confirmation_id;
    assert_eq!((same, id(&again)), (turn_id.clone(), id(&paused)));

    riley.decides(&paused, approve()).await;
    let (events, status) = riley.events(resumes(&turn_id)).await;
    assert!(status.is_none(), "{status:?}");
    let begun = events.iter().filter(|event| matches!(event.event, Some(Event::ToolCallStarted(_)))).count();
    assert_eq!(begun, 1, "what ended is not called again");
    let reply = last(&events);
    assert_eq!((reply.outcome(), reply.turn_id.as_str()), (TurnOutcome::Answered, turn_id.as_str()));
    assert_eq!((data(reply, 0)["writes"].clone(), data(reply, 1)["writes"].clone()), (json!(1), json!(1)));
    assert_eq!(riley.turn(&turn_id).await.unwrap().state(), TurnState::Ended);
    let over = riley.chat(resumes(&turn_id)).await;
    assert_refused(over, Code::FailedPrecondition, "TURN_NOT_PAUSED");
    assert!(answer(&riley.reply(within("s", says(&quotes()))).await).contains("193.12"));
}

#[tokio::test]
async fn results_stand_in_the_order_in_which_they_were_asked_for() {
    let house = House::new();
    let riley = house.person("demo").await;
    let calls =
        [call("debug_confirm", &json!({"value": "first"})), call("debug_write", &json!({"value": "second"}))];
    let script = json!({"plans": [{"calls": calls}], "answer": ["Both are written."]});
    let (turn_id, paused) = riley.pauses(says(&script)).await;
    riley.decides(&paused, approve()).await;
    let reply = riley.reply(resumes(&turn_id)).await;
    let tools: Vec<_> = reply.tool_results.iter().map(|it| it.tool.as_str()).collect();
    assert_eq!(tools, ["debug_confirm", "debug_write"]);
}

#[tokio::test]
async fn a_denial_is_a_result_that_the_planner_sees() {
    let house = House::new();
    let riley = house.person("demo").await;
    let (turn_id, paused) = riley.pauses(says(&script())).await;
    riley.decides(&paused, Decision::Deny(Deny { reason: "no".to_owned() })).await;
    let reply = riley.reply(resumes(&turn_id)).await;
    let Some(Outcome::Error(error)) = &reply.tool_results[1].result.as_ref().unwrap().outcome else {
        panic!()
    };
    assert_eq!(error.code(), ToolErrorCode::ConfirmationDenied);
    assert_eq!(reply.outcome(), TurnOutcome::Answered);
    assert!(reply.response.unwrap().confidence < 1.0);
}

#[tokio::test]
async fn a_paused_turn_that_is_cancelled_withdraws_what_it_asked_for() {
    let house = House::new();
    let riley = house.person("demo").await;
    let (turn_id, _) = riley.pauses(within("s", says(&script()))).await;
    assert!(riley.cancel(Which::TurnId(turn_id.clone())).await.unwrap());
    assert_eq!(riley.turn(&turn_id).await.unwrap().state(), TurnState::Cancelled);
    assert_refused(riley.chat(resumes(&turn_id)).await, Code::FailedPrecondition, "TURN_NOT_PAUSED");
    assert!(answer(&riley.reply(within("s", says(&quotes()))).await).contains("193.12"));
}

#[tokio::test]
async fn after_text_from_outside_a_models_write_needs_a_person_and_a_read_does_not() {
    let house = House::new();
    let riley = house.person("demo").await;
    let outside = call("get_stock_thesis", &json!({"query": "RELIANCE"}));
    let write = call("debug_write", &json!({"value": "x"}));
    let plans = json!([{"calls": [outside]}, {"calls": [call("get_quotes", &json!({"symbol": "AAPL"}))]}, {"calls": [write]}]);
    let (_, paused) = riley.pauses(within("s", says(&json!({"plans": plans, "answer": ["Done."]})))).await;
    assert_eq!(paused.pending[0].tool, "debug_write");
    // Without a model nothing that was read decides what is called.
    let house = House::with(Mode::Embedded, |_| ());
    let riley = house.person("demo").await;
    let reply = riley.reply(says(&json!({"plans": plans, "answer": ["Done."]}))).await;
    assert_eq!(reply.usage.unwrap().calls, 3);
}

#[tokio::test]
async fn where_all_is_denied_that_is_the_answer_and_nobody_asks_for_other_words() {
    for mode in [Mode::Embedded, Mode::Native] {
        let house = House::with(mode, |_| ());
        let riley = house.person("demo").await;
        let confirms = json!({"plans": [{"calls": [call("debug_confirm", &json!({"value": "x"}))]}]});
        let (turn_id, paused) = riley.pauses(says(&confirms)).await;
        riley.decides(&paused, Decision::Deny(Deny { reason: "no".to_owned() })).await;
        let reply = riley.reply(resumes(&turn_id)).await;
        assert!(answer(&reply).starts_with("Not done, because it was denied: "), "{}", answer(&reply));
        let response = reply.response.clone().unwrap();
        assert_eq!((reply.outcome(), response.needs_clarification), (TurnOutcome::Clarify, false));
    }
}

#[tokio::test]
async fn where_nobody_approved_in_time_that_is_the_answer() {
    let house = House::with(Mode::Native, |_| ());
    let riley = house.person("demo").await;
    let expires =
        json!({"plans": [{"calls": [call("debug_fail", &json!({"code": "CONFIRMATION_EXPIRED"}))]}]});
    let reply = riley.reply(says(&expires)).await;
    assert_eq!(answer(&reply), "Not done, because it was not approved in time: Fail.");
    assert!(!reply.response.unwrap().needs_clarification);
}

/// Two services over one state are two processes to each other: locks are of open files.
#[tokio::test]
async fn a_session_has_one_turn_at_a_time_in_all_processes_that_share_the_state() {
    let state = tempfile::tempdir().unwrap();
    let house = || House::with(Mode::Native, |config| config.state.dir = Some(state.path().to_owned()));
    let (one, other) = (house(), house());
    let (riley, elsewhere) = (one.person("demo").await, other.person("demo").await);
    let hang = within("s", says(&json!({"plans": [{"hang": true}]})));
    let id = new_id();
    let mut running = riley.stream(TurnInput { request_id: id.clone(), ..hang }).await.unwrap();
    one.hung.waits(1).await;
    let refused = elsewhere.chat(within("s", says(&quotes()))).await;
    assert!(assert_refused(refused, Code::Aborted, "TURN_RUNNING").contains(&id));
    // Another session, and another user's of that name, are not held up.
    assert!(answer(&elsewhere.reply(within("t", says(&quotes()))).await).contains("193.12"));
    let sam = other.person("sam").await;
    assert_eq!(answer(&sam.reply(within("s", says(&json!({"answer": ["Hello."]})))).await), "Hello.");
    assert!(riley.cancel(Which::TurnId(id)).await.unwrap());
    while let Ok(Some(_)) = running.message().await {}
    assert!(answer(&elsewhere.reply(within("s", says(&quotes()))).await).contains("193.12"));
}
