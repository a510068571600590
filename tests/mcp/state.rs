//! What a client carries between the rounds of a call: it is of that call of that user, and of no other.

use std::time::Duration;

use serde_json::{Value, json};
use toolwire::contract::proto::v1::ConfirmationState;

use super::confirming::{Approver, Client, confirmation_id, forms, house_with};

fn params(value: &str, state: &Value) -> Value {
    json!({"name": "debug_confirm", "arguments": {"value": value}, "requestState": state,
           "inputResponses": {"confirmation": {"action": "accept", "content": {"look_again": true}}}})
}

async fn asked(client: &Client, value: &str) -> (Value, String) {
    let mut asked = client.call_with(json!({"name": "debug_confirm", "arguments": {"value": value}})).await;
    let id = confirmation_id(&asked);
    (asked["requestState"].take(), id)
}

#[tokio::test]
async fn a_state_that_is_not_of_this_call_is_refused_and_nothing_is_done() {
    let house = house_with(|_| ());
    let person = Approver::of(&house, "riley").await;
    let [riley, sam] = ["riley", "sam"].map(|user| Client::new(house.talk(user), forms()));
    let (state, id) = asked(&riley, "x").await;
    let (others, _) = asked(&riley, "y").await;
    person.approve(&id).await;
    let text = state.as_str().unwrap();
    let middle = text.len() / 2;
    let flipped = if text.as_bytes()[middle] == b'A' { "B" } else { "A" };
    let tampered = format!("{}{flipped}{}", &text[..middle], &text[middle + 1..]);
    let other_server = house_with(|_| ());
    let (foreign, _) = asked(&Client::new(other_server.talk("riley"), forms()), "x").await;
    let refused = [
        (&riley, params("x", &json!(tampered))),
        (&riley, params("x", &json!(&text[..text.len() - 1]))),
        (&riley, params("x", &json!("nonsense"))),
        (&riley, params("x", &json!(""))),
        (&riley, params("x", &foreign)),
        (&riley, params("x", &others)),
        (&riley, params("z", &state)),
        (&riley, json!({"name": "debug_write", "arguments": {"value": "x"}, "requestState": &state})),
        (&sam, params("x", &state)),
    ];
    for (client, params) in refused {
        let answer = client.ask("tools/call", params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
    assert_eq!(person.get(&id).await.state(), ConfirmationState::Approved, "not used by any of them");
    assert_eq!(riley.call_with(params("x", &state)).await["structuredContent"]["writes"], 1);
    // Once it is used, the state finds the record, and nothing is done again.
    assert_eq!(riley.call_with(params("x", &state)).await["structuredContent"]["writes"], 1);
    let another = riley.call("debug_write", json!({"value": "x"})).await;
    assert!(another["structuredContent"].is_object(), "{another}");
}

#[tokio::test]
async fn a_state_ends_with_its_confirmation() {
    let house = house_with(|config| config.confirmations.expire_in = Duration::from_millis(300));
    let person = Approver::of(&house, "riley").await;
    let client = Client::new(house.talk("riley"), forms());
    let (state, id) = asked(&client, "x").await;
    assert_eq!(person.wait_end(&id).await.state(), ConfirmationState::Expired);
    let answer = client.ask("tools/call", params("x", &state)).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("Call again without it"), "{answer}");
}

#[tokio::test]
async fn a_changed_definition_ends_a_state() {
    let house = house_with(|_| ());
    let client = Client::new(house.talk("riley"), forms());
    let mut params = json!({"name": "add_to_watchlist", "arguments": {"symbol": "TCS"}});
    params["requestState"] = client.call_with(params.clone()).await["requestState"].take();
    house.patch("add_to_watchlist", &json!({"title": "Another"}));
    let answer = client.ask("tools/call", params).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test]
async fn responses_without_a_state_are_ignored() {
    let house = house_with(|config| config.confirmations.in_client = vec!["riley".parse().unwrap()]);
    let person = Approver::of(&house, "riley").await;
    let client = Client::new(house.talk("riley"), forms());
    let (_, id) = asked(&client, "x").await;
    let content = json!({"decision": "approve", "tool": "debug_confirm"});
    let asked = client
        .call_with(json!({"name": "debug_confirm", "arguments": {"value": "x"},
                          "inputResponses": {"confirmation": {"action": "accept", "content": content}}}))
        .await;
    assert_eq!(confirmation_id(&asked), id);
    assert_eq!(person.get(&id).await.state(), ConfirmationState::Pending);
}

#[tokio::test]
async fn servers_with_the_same_keys_open_each_others_states() {
    let state = tempfile::tempdir().unwrap();
    let keys = |keys: &[u8]| {
        keys.iter().map(|key| char::from(*key).to_string().repeat(32).into()).collect::<Vec<_>>()
    };
    let house = |named: &[u8]| {
        house_with(|config| {
            config.state.dir = Some(state.path().to_owned());
            config.http.state_keys = keys(named);
        })
    };
    // The first seals, all open.
    let (one, two, three) = (house(b"a"), house(b"ba"), house(b"b"));
    let client = |house: &crate::http::house::House| Client::new(house.talk("riley"), forms());
    let (sealed, _) = asked(&client(&one), "x").await;
    let opened = client(&two).call_with(params("x", &sealed)).await;
    assert_eq!(opened["_meta"]["toolwire/error"]["code"], "CONFIRMATION_REQUIRED", "{opened}");
    assert_eq!(client(&three).ask("tools/call", params("x", &sealed)).await["error"]["code"], -32602);
}

/// What one user does is in no answer to another.
#[tokio::test]
async fn two_users_never_see_what_the_other_waits_for() {
    let house = house_with(|_| ());
    for capabilities in [forms(), super::confirming::tasks(), json!({})] {
        let clients = ["riley", "sam"].map(|user| Client::new(house.talk(user), capabilities.clone()));
        let secrets = ["s3cret-of-riley", "s3cret-of-sam"];
        let mut answers = [Vec::new(), Vec::new()];
        let mut tasks = Vec::new();
        for (at, client) in clients.iter().enumerate() {
            let asked = client.call("debug_confirm", json!({"value": secrets[at]})).await;
            tasks.push(asked["taskId"].as_str().map(ToOwned::to_owned));
            answers[at].push(asked);
        }
        for (at, client) in clients.iter().enumerate() {
            answers[at].push(client.call("debug_confirm", json!({"value": "plain"})).await);
            answers[at].push(client.call("debug_write", json!({"value": "plain"})).await);
            answers[at].push(client.ask("tools/list", json!({})).await);
            if let Some(id) = &tasks[1 - at] {
                let answer = client.task(id).await;
                assert_eq!(answer["error"]["code"], -32602, "{answer}");
                answers[at].push(answer);
                answers[at].push(client.ask("tasks/cancel", json!({"taskId": id})).await);
            }
            assert!(answers[at].iter().all(|answer| !answer.to_string().contains(secrets[1 - at])));
        }
        for (at, client) in clients.iter().enumerate() {
            if let Some(id) = &tasks[at] {
                assert_eq!(
                    client.task(id).await["result"]["status"],
                    "working",
                    "cancelled by the other user"
                );
            }
        }
    }
}
