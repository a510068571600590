//! A turn has the name of its `request_id`: a repeat gets what the first one got, and nothing is written twice.

use toolwire::contract::proto::agent::v1::TurnState;

use super::*;

fn with_id(id: &str, input: TurnInput) -> TurnInput {
    TurnInput { request_id: id.to_owned(), ..input }
}

/// How often the user has written, this time included.
pub(crate) async fn writes(person: &Person, value: &str) -> i64 {
    let plans = json!([{"calls": [call("debug_write", &json!({"value": value}))]}]);
    writes_of(&person.reply(says(&json!({"plans": plans}))).await)
}

#[track_caller]
fn writes_of(reply: &Reply) -> i64 {
    use toolwire::contract::proto::v1::tool_result::Outcome;
    match &reply.tool_results[0].result.as_ref().unwrap().outcome {
        Some(Outcome::DataJson(text)) => {
            serde_json::from_str::<Value>(text).unwrap()["writes"].as_i64().unwrap()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_repeat_gets_the_stored_end_and_another_message_none() {
    let house = House::new();
    let riley = house.person("demo").await;
    let id = new_id();
    let write =
        json!({"plans": [{"calls": [call("debug_write", &json!({"value": "x"}))]}], "answer": ["Done."]});
    let first = riley.reply(with_id(&id, says(&write))).await;
    assert_eq!(first.turn_id, id);
    let (again, _) = riley.events(with_id(&id, says(&write))).await;
    assert_eq!((again.len(), last(&again)), (1, &first));
    assert_eq!(writes(&riley, "y").await, 2, "the repeat wrote nothing");
    let other = riley.stream(with_id(&id, says(&quotes()))).await.map(|_| ());
    assert_refused(other, Code::AlreadyExists, "REQUEST_ID_REUSED");
    let account = TurnInput { account: "Other".to_owned(), ..with_id(&id, says(&write)) };
    assert_refused(riley.chat(account).await, Code::AlreadyExists, "REQUEST_ID_REUSED");
    let turn = riley.turn(&id).await.unwrap();
    assert_eq!((turn.state(), turn.message), (TurnState::Ended, write.to_string()));
}

#[tokio::test]
async fn a_repeat_of_a_running_turn_reads_the_same_events_and_leaving_one_of_both_ends_neither() {
    let house = House::new();
    let riley = house.person("demo").await;
    let id = new_id();
    let hang = with_id(
        &id,
        says(
            &json!({"plans": [{"calls": [call("get_quotes", &json!({"symbol": "AAPL"}))]}, {"hang": true}]}),
        ),
    );
    let first = riley.stream(hang.clone()).await.unwrap();
    house.hung.waits(1).await;
    let mut second = riley.stream(hang).await.unwrap();
    let began = second.message().await.unwrap().unwrap().event.unwrap();
    assert_eq!(began.sequence, 0);
    assert_eq!(riley.turn(&id).await.unwrap().state(), TurnState::Running);
    let other = riley.stream(with_id(&id, says(&quotes()))).await.map(|_| ());
    assert_refused(other, Code::AlreadyExists, "REQUEST_ID_REUSED");
    drop(first);
    assert_eq!(riley.turn(&id).await.unwrap().state(), TurnState::Running);
    assert!(riley.cancel(Which::TurnId(id.clone())).await.unwrap());
    let status = loop {
        match second.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("no status"),
            Err(status) => break status,
        }
    };
    assert_refused(Err::<(), _>(status), Code::Cancelled, "TURN_CANCELLED");
    assert_eq!(riley.turn(&id).await.unwrap().state(), TurnState::Cancelled);
    assert!(riley.cancel(Which::TurnId(id)).await.unwrap(), "again: the same answer");
}

#[tokio::test]
async fn a_cancelled_turn_runs_again_under_its_name_and_writes_once() {
    let house = House::new();
    let riley = house.person("demo").await;
    let id = new_id();
    let write = call("debug_write", &json!({"value": "x"}));
    let script = json!({"plans": [{"calls": [write]}, {"hang": true}], "answer": ["Done."]});
    let stream = riley.stream(with_id(&id, within("s", says(&script)))).await.unwrap();
    house.hung.waits(1).await;
    drop(stream);
    house.hung.wait_dropped(1).await;
    // It has ended once it is kept.
    while riley.turn(&id).await.is_err() || riley.turn(&id).await.unwrap().state() == TurnState::Running {
        tokio::task::yield_now().await;
    }
    let mut again = riley.stream(with_id(&id, within("s", says(&script)))).await.unwrap();
    house.hung.waits(2).await;
    assert!(riley.cancel(Which::SessionId("s".to_owned())).await.unwrap());
    while let Ok(Some(_)) = again.message().await {}
    assert_eq!(writes(&riley, "y").await, 2, "x was written once");
}

#[tokio::test]
async fn a_session_has_one_turn_at_a_time_and_remembers_the_others_in_order() {
    let house = House::new();
    let riley = house.person("demo").await;
    let hang = within("s", says(&json!({"plans": [{"hang": true}]})));
    let mut running = riley.stream(hang).await.unwrap();
    house.hung.waits(1).await;
    let words = assert_refused(
        riley.stream(within("s", says(&quotes()))).await.map(|_| ()),
        Code::Aborted,
        "TURN_RUNNING",
    );
    let turns = riley.turns("s").await;
    assert_eq!((turns.len(), turns[0].state()), (1, TurnState::Running));
    assert!(words.contains(&turns[0].turn_id), "{words}");
    assert!(answer(&riley.reply(within("t", says(&quotes()))).await).contains("193.12"), "another session");
    assert!(riley.cancel(Which::SessionId("s".to_owned())).await.unwrap());
    while let Ok(Some(_)) = running.message().await {}
    for _ in 0..2 {
        // The place is free as soon as the end is told.
        riley.reply(within("s", says(&quotes()))).await;
    }
    let states: Vec<_> = riley.turns("s").await.iter().map(Turn::state).collect();
    assert_eq!(states, [TurnState::Cancelled, TurnState::Ended, TurnState::Ended]);
    assert!(!riley.cancel(Which::SessionId("s".to_owned())).await.unwrap());
}
