//! Conditions on arguments in turns: a chat and a run of AG-UI ask for a person wherever a call alone does.

use std::net::SocketAddr;

use toolwire::contract::proto::v1::{ToolErrorCode, tool_result::Outcome};

use super::*;
use crate::{
    http::talk::Talk,
    support::{data_directory, patch_json},
};

/// What a call comes to before a person has decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Runs,
    Asks,
    Invalid,
}

use Expected::{Asks, Invalid, Runs};

fn house() -> (House, tempfile::TempDir) {
    let data = data_directory();
    let condition = json!({"approve_unless": {"note": {"maxLength": 5}}});
    patch_json(&data.path().join("tools/add_to_watchlist.json"), &condition);
    let house = House::with(Mode::Native, |config| {
        config.data.dir = Some(data.path().to_owned());
        config.http.listen = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    });
    (house, data)
}

fn cases() -> [(Value, Expected); 7] {
    [
        (json!({"symbol": "TCS", "note": "short"}), Runs),
        (json!({"symbol": "TCS", "note": "longer"}), Asks),
        (json!({"symbol": "TCS", "note": null}), Asks),
        (json!({"symbol": "TCS"}), Asks),
        (json!({"symbol": "TCS", "note": 7}), Invalid),
        (json!({"symbol": "TCS", "noet": "short"}), Invalid),
        (json!({"symbol": "TCS", "note": "short", "Note": "longer"}), Invalid),
    ]
}

fn script(tool: &str, arguments: &Value) -> Value {
    json!({"plans": [{"calls": [call(tool, arguments)]}], "answer": ["It is done."]})
}

/// The number of symbols that a user watches: the effect of the calls.
async fn watched(person: &Person) -> usize {
    let reply = person.reply(says(&script("browse_watchlist", &json!({})))).await;
    let outcome = reply.tool_results[0].result.as_ref().expect("a result").outcome.as_ref();
    let Some(Outcome::DataJson(text)) = outcome else { panic!("{outcome:?}") };
    let data: Value = serde_json::from_str(text).expect("JSON");
    data["items"].as_array().map_or(0, Vec::len)
}

fn result(reply: &Reply) -> Expected {
    match &reply.tool_results[0].result.as_ref().expect("a result").outcome {
        Some(Outcome::Error(error)) if error.code() == ToolErrorCode::InvalidArgument => Invalid,
        Some(Outcome::DataJson(_)) => Runs,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_chat_pauses_for_what_breaks_a_condition_and_for_nothing_else() {
    let (house, _data) = house();
    for (at, (arguments, expected)) in cases().into_iter().enumerate() {
        let person = house.person(&format!("person{at}")).await;
        let ChatResponse { turn_id, end } =
            person.chat(says(&script("add_to_watchlist", &arguments))).await.unwrap();
        let found = match end {
            Some(chat_response::End::Paused(_)) => Asks,
            Some(chat_response::End::Reply(reply)) => result(&reply),
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected, "{arguments}");
        if expected == Asks {
            // A repeat without a decision has no effect either.
            let again = person.chat(resumes(&turn_id)).await.unwrap();
            assert!(matches!(again.end, Some(chat_response::End::Paused(_))), "{arguments}");
        }
        assert_eq!(watched(&person).await, usize::from(expected == Runs), "{arguments}");
    }
}

#[tokio::test]
async fn a_run_of_ag_ui_is_interrupted_for_what_breaks_a_condition_and_for_nothing_else() {
    let (house, _data) = house();
    for (at, (arguments, expected)) in cases().into_iter().enumerate() {
        let user = format!("person{at}");
        let talk = Talk::to(house.server.http.expect("listens"), &user);
        let message = json!({"id": "m1", "role": "user", "content": script("add_to_watchlist", &arguments).to_string()});
        let input = json!({
            "threadId": "t", "runId": "r1", "messages": [message], "tools": [], "context": [], "state": {}
        });
        let events = talk.open("POST", "/copilotkit/stream", &[], &input.to_string()).await.all().await;
        let end = &events.last().expect("an event").data;
        let asks = end["outcome"]["type"] == "interrupt";
        assert_eq!(asks, expected == Asks, "{arguments}: {end}");
        let results = events.iter().filter(|event| event.data["type"] == "TOOL_CALL_RESULT");
        let is_invalid = results.clone().any(|event| event.data.to_string().contains("INVALID_ARGUMENT"));
        assert_eq!((results.count() > 0, is_invalid), (!asks, expected == Invalid), "{arguments}");
        let person = house.person(&user).await;
        assert_eq!(watched(&person).await, usize::from(expected == Runs), "{arguments}");
    }
}
