//! What bad input gets: refused before anything runs, in words that say what to do.

use std::time::Duration;

use toolwire::contract::proto::agent::v1::TurnBudget;

use super::*;

async fn refusal(person: &Person, input: TurnInput) -> String {
    let streamed = person.stream(input.clone()).await.map(|_| ());
    let message = assert_refused(streamed, Code::InvalidArgument, "INVALID_REQUEST");
    // Both RPCs refuse alike.
    assert_eq!(assert_refused(person.chat(input).await, Code::InvalidArgument, "INVALID_REQUEST"), message);
    message
}

fn message(text: &str) -> TurnInput {
    TurnInput { say: Some(Say::Message(text.to_owned())), ..Default::default() }
}

fn spends(budget: TurnBudget) -> TurnInput {
    TurnInput { budget: Some(budget), ..message("hi") }
}

#[tokio::test]
async fn what_is_wrong_is_told_by_its_whole_path() {
    let house = House::new();
    let riley = house.person("demo").await;
    for (input, path) in [
        (TurnInput::default(), "input.say"),
        (message(""), "input.message"),
        (resumes(""), "input.turn_id"),
        (TurnInput { request_id: "42".to_owned(), ..message("hi") }, "input.request_id"),
        (spends(TurnBudget { max_calls: 257, ..Default::default() }), "input.budget.max_calls"),
    ] {
        let status = riley.chat(input).await.unwrap_err();
        let details = status.get_details_bad_request().unwrap();
        assert_eq!(details.field_violations[0].field, path);
    }
}

#[tokio::test]
async fn what_is_out_of_bounds_is_refused_before_anything_runs() {
    let house = House::new();
    let riley = house.person("demo").await;
    let context = |context| TurnInput { context: Some(context), ..message("hi") };
    let budget = TurnBudget { max_time: Some(prost_types::Duration::default()), ..Default::default() };
    for (input, expected) in [
        (TurnInput::default(), "say"),
        (message(""), "message"),
        (message("  \n"), "message"),
        (message(&"x".repeat(16_385)), "16384 bytes"),
        (resumes(""), "turn_id"),
        (TurnInput { request_id: "42".to_owned(), ..message("hi") }, "UUID"),
        (TurnInput { account: "x".repeat(129), ..message("hi") }, "128"),
        (TurnInput { tags: vec!["x".to_owned(); 17], ..message("hi") }, "16"),
        (TurnInput { budget: Some(budget), ..message("hi") }, "budget.max_time"),
        (spends(TurnBudget { max_steps: 65, ..Default::default() }), "budget.max_steps must be from 1 to 64"),
        (
            spends(TurnBudget { max_calls: 257, ..Default::default() }),
            "budget.max_calls must be from 1 to 256",
        ),
        (TurnInput { result_format: ResultFormat::Model.into(), ..message("hi") }, "RESULT_FORMAT_JSON"),
        (context(ToolContext { session_id: "x".repeat(129), ..Default::default() }), "session_id"),
        (context(ToolContext { user_id: "sam".to_owned(), ..Default::default() }), "identity"),
        (context(ToolContext { user_role: "admin".to_owned(), ..Default::default() }), "identity"),
        (context(ToolContext { call_id: new_id(), ..Default::default() }), "identity"),
    ] {
        let words = refusal(&riley, input).await;
        assert!(words.contains(expected), "{expected}: {words}");
    }
    assert!(house.server.app.part::<Turns>().running().is_empty());
    // The longest message is taken.
    let (events, status) = riley.events(message(&"x".repeat(16_384))).await;
    assert!(status.is_none() && matches!(events[0].event, Some(Event::Started(_))), "{status:?}");
}

#[tokio::test]
async fn more_turns_than_are_allowed_are_refused_with_when_to_try_again() {
    let house = House::with(Mode::Native, |config| config.agent.turns_per_user = 1);
    let riley = house.person("demo").await;
    let hang = says(&json!({"plans": [{"hang": true}]}));
    let running = riley.stream(hang).await.unwrap();
    house.hung.waits(1).await;
    let status = riley.stream(says(&quotes())).await.map(|_| ()).unwrap_err();
    assert_eq!(status.get_details_retry_info().unwrap().retry_delay, Some(Duration::from_secs(1)));
    assert_refused(Err::<(), _>(status), Code::ResourceExhausted, "TOO_MANY_TURNS");
    // Others have room.
    let sam = house.person("sam").await;
    assert_eq!(answer(&sam.reply(says(&json!({"answer": ["Hello."]}))).await), "Hello.");
    drop(running);
    house.hung.wait_dropped(1).await;
}

#[tokio::test]
async fn a_turn_ends_by_its_deadline_whatever_its_planner_does() {
    let house = House::new();
    let riley = house.person("demo").await;
    let budget =
        TurnBudget { max_time: Some(prost_types::Duration { seconds: 5, nanos: 0 }), ..Default::default() };
    // The planner is given up in time for an answer from what there is.
    let input = TurnInput { budget: Some(budget), ..says(&json!({"plans": [{"hang": true}]})) };
    let (events, status) = riley.events(input).await;
    assert!(status.is_none(), "{status:?}");
    assert_eq!(answer(last(&events)), MODEL_FAILED);
    house.hung.wait_dropped(1).await;
}
