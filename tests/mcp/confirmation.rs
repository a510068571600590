//! Calls that a person must approve, by each of the three roads.

use serde_json::{Value, json};
use std::time::Duration;
use toolwire::{base::clock, contract::proto::v1::ConfirmationState, tool::context::RequestId};

use super::{
    client::{ERAS, Era, Message, SOON, messages, text},
    confirming::{Approver, Client, approve_command, confirmation_id, forms, house_with, tasks},
};
use crate::support::second_calls::{Answer, Case};

fn form(result: &Value) -> &Value {
    assert_eq!(result["resultType"], "input_required", "{result}");
    let request = &result["inputRequests"]["confirmation"];
    assert_eq!(request["method"], "elicitation/create", "{result}");
    &request["params"]
}

/// The retry of a call with what its client was given and these responses.
fn again(params: &Value, result: &Value, responses: Value) -> Value {
    let mut params = params.clone();
    params["requestState"] = result["requestState"].clone();
    params["inputResponses"] = responses;
    params
}

fn confirm(value: &str) -> Value {
    json!({"name": "debug_confirm", "arguments": {"value": value}})
}

#[tokio::test]
async fn a_client_that_can_only_call_again_is_told_so_and_its_unchanged_call_finds_the_approval() {
    let house = house_with(|_| ());
    let alex = Approver::of(&house, "riley").await;
    for (era, capabilities) in [(Era::Old, forms()), (Era::New, json!({}))] {
        let client = Client { era, ..Client::new(house.talk("riley"), capabilities) };
        let told = client.call("debug_confirm", json!({"value": "x"})).await;
        assert_eq!((&told["isError"], told.get("structuredContent")), (&json!(true), None), "{told}");
        let id = confirmation_id(&told);
        let words = text(&told, 0);
        assert!(
            words.starts_with("FAILED CONFIRMATION_REQUIRED: A person must approve this first: "),
            "{words}"
        );
        let command = approve_command(&house, &id);
        assert!(words.contains(&command) && words.contains("call again unchanged"), "{words}");
        assert!(words.contains(r#""value":"x""#), "the exact arguments: {words}");
        let told = client.call("debug_confirm", json!({"value": "x"})).await;
        assert_eq!(confirmation_id(&told), id, "not asked for twice");
        alex.approve(&id).await;
        let done = client.call("debug_confirm", json!({"value": "x"})).await;
        assert!(done["structuredContent"]["writes"].is_number(), "{done}");
        let told = client.call("debug_confirm", json!({"value": "x"})).await;
        assert_ne!(confirmation_id(&told), id, "another call");
        alex.deny(&confirmation_id(&told)).await;
        let denied = client.call("debug_confirm", json!({"value": "x"})).await;
        assert!(text(&denied, 0).starts_with("FAILED CONFIRMATION_DENIED: "), "{denied}");
    }
}

#[tokio::test]
async fn a_call_that_waits_goes_on_when_the_person_has_decided_and_says_meanwhile_that_it_waits() {
    let house = house_with(|_| ());
    let person = Approver::of(&house, "riley").await;
    for era in ERAS {
        let talk = house.talk("riley");
        let waiting = tokio::spawn(async move {
            let message =
                Message::call(era, "debug_confirm", &json!({"value": "x"}), &json!({"progressToken": "p"}));
            messages(&message.send(&talk, "/mcp").await)
        });
        let pending = person.pending().await.remove(0).confirmation_id;
        person.approve(&pending).await;
        let mut told = tokio::time::timeout(SOON, waiting).await.unwrap().unwrap();
        let end = told.pop().unwrap();
        assert!(end["result"]["structuredContent"]["writes"].is_number(), "{end}");
        let words: Vec<_> = told.iter().filter_map(|it| it["params"]["message"].as_str()).collect();
        let command = approve_command(&house, &pending);
        assert!(words.iter().any(|it| it.contains(&command)), "{words:?}");
    }
}

#[tokio::test]
async fn a_form_says_what_waits_and_the_call_with_its_state_looks_again() {
    let house = house_with(|_| ());
    let person = Approver::of(&house, "riley").await;
    let client = Client::new(house.talk("riley"), forms());
    let params = confirm("x");
    let asked = client.call_with(params.clone()).await;
    let id = confirmation_id(&asked);
    let shown = form(&asked);
    let message = shown["message"].as_str().unwrap();
    assert!(
        message.contains(r#""value":"x""#) && message.contains(&approve_command(&house, &id)),
        "{message}"
    );
    let fields: Vec<_> = shown["requestedSchema"]["properties"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["look_again"], "no decision of the client's");

    let look = json!({"confirmation": {"action": "accept", "content": {"look_again": true}}});
    let still = client.call_with(again(&params, &asked, look.clone())).await;
    assert_eq!(confirmation_id(&still), id);
    // What the form does not offer is no decision.
    let decides = json!({"confirmation": {"action": "accept",
                         "content": {"decision": "approve", "tool": "debug_confirm"}}});
    let still = client.call_with(again(&params, &still, decides)).await;
    assert_eq!(confirmation_id(&still), id);
    assert_eq!(person.get(&id).await.state(), ConfirmationState::Pending);
    let away = client.call_with(again(&params, &still, json!({"confirmation": {"action": "decline"}}))).await;
    assert!(text(&away, 0).starts_with("FAILED CONFIRMATION_REQUIRED: "), "{away}");

    person.approve(&id).await;
    let done = client.call_with(again(&params, &still, look)).await;
    assert_eq!(done["structuredContent"]["writes"], 1, "{done}");
}

/// Only a client that looks again waits for the person.
#[tokio::test]
async fn a_form_that_is_put_away_is_answered_at_once() {
    let house = house_with(|_| ());
    let client = Client { timeout: "30s", ..Client::new(house.talk("riley"), forms()) };
    let params = confirm("x");
    let asked = client.call_with(params.clone()).await;
    for action in ["decline", "cancel"] {
        let began = clock::now();
        let away =
            client.call_with(again(&params, &asked, json!({"confirmation": {"action": action}}))).await;
        assert!(text(&away, 0).starts_with("FAILED CONFIRMATION_REQUIRED: "), "{away}");
        assert!(began.elapsed() < Duration::from_secs(5), "{action} took {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn where_the_operator_says_so_the_form_decides_and_the_record_says_how() {
    let house = house_with(|config| config.confirmations.in_client = vec!["riley".parse().unwrap()]);
    let person = Approver::of(&house, "riley").await;
    let client = Client::new(house.talk("riley"), forms());
    for (decision, expected) in [("approve", ConfirmationState::Used), ("deny", ConfirmationState::Denied)] {
        let params = confirm(decision);
        let asked = client.call_with(params.clone()).await;
        let id = confirmation_id(&asked);
        let fields = &form(&asked)["requestedSchema"]["properties"];
        assert!(fields["decision"].is_object() && fields["reason"].is_object() && fields["tool"].is_object());
        // Its consequence is high: without the name of the tool it is not approved.
        if decision == "approve" {
            let nameless = json!({"confirmation": {"action": "accept", "content": {"decision": decision}}});
            let still = client.call_with(again(&params, &asked, nameless)).await;
            assert!(form(&still)["message"].as_str().unwrap().starts_with("Your decision was not taken: "));
        }
        let content = json!({"decision": decision, "tool": "debug_confirm", "reason": "as I say"});
        let responses = json!({"confirmation": {"action": "accept", "content": content}});
        let done = client.call_with(again(&params, &asked, responses)).await;
        let decided = person.get(&id).await;
        assert_eq!((decided.state(), decided.decided_via.as_str()), (expected, "mcp form"), "{done}");
        assert_eq!((decided.decided_by.as_str(), decided.reason.as_str()), ("riley", "as I say"));
        assert_eq!(done["isError"] == true, decision == "deny", "{done}");
    }
    // It is named for riley alone.
    let other = Client::new(house.talk("sam"), forms());
    let asked = other.call_with(confirm("x")).await;
    assert!(form(&asked)["requestedSchema"]["properties"].get("decision").is_none());
}

#[tokio::test]
async fn a_user_who_may_not_decide_is_offered_no_decision_by_the_form() {
    let house = house_with(|config| {
        config.confirmations.in_client = vec!["riley".parse().unwrap()];
        config.confirmations.own_calls = false;
    });
    let client = Client::new(house.talk("riley"), forms());
    let asked = client.call_with(confirm("x")).await;
    assert!(form(&asked)["requestedSchema"]["properties"].get("decision").is_none(), "{asked}");
}

/// The matrix of `tests/confirmations`, by this face.
#[tokio::test]
async fn every_combination_has_its_documented_answer() {
    let slow = house_with(|_| ());
    let undecided = house_with(|config| config.confirmations.expire_in = Duration::from_millis(1));
    let unused = house_with(|config| config.confirmations.use_within = Duration::from_millis(1));
    let mut version = 0;
    for case in Case::all() {
        let house = match (case.in_time, case.is_approved) {
            (true, _) => &slow,
            (false, false) => &undecided,
            (false, true) => &unused,
        };
        let person = Approver::of(house, "riley").await;
        let client = |user: &str| Client::new(house.talk(user), forms());
        let id = RequestId::generate().to_string();
        let add = |note: &str| {
            json!({"name": "add_to_watchlist", "arguments": {"symbol": "TCS", "note": note},
                   "_meta": {"toolwire/request_id": id}})
        };
        let asked = confirmation_id(&client("riley").call_with(add("first")).await);
        if case.is_approved {
            person.approve(&asked).await;
        }
        let first = if case.was_used { Some(client("riley").call_with(add("first")).await) } else { None };
        if !case.in_time {
            let open = [ConfirmationState::Pending, ConfirmationState::Approved];
            while open.contains(&person.get(&asked).await.state()) {
                tokio::task::yield_now().await;
            }
        }
        if !case.same_definition {
            version += 1;
            house.patch("add_to_watchlist", &json!({"title": format!("Version {version}")}));
        }
        let user = if case.same_user { "riley" } else { "sam" };
        let came = client(user).call_with(add(if case.same_arguments { "first" } else { "second" })).await;
        let data = &came["structuredContent"];
        let found = if data.is_object() {
            let is_same = first.as_ref().is_some_and(|first| first["structuredContent"] == *data);
            if is_same { Answer::Record } else { Answer::Runs }
        } else if came["resultType"] == "input_required" {
            if confirmation_id(&came) == asked { Answer::Asks } else { Answer::AsksForAnother }
        } else {
            match text(&came, 0).split([' ', ':']).nth(1) {
                Some("CONFIRMATION_EXPIRED") => Answer::Expired,
                Some("REQUEST_ID_REUSED") => Answer::Reused,
                other => panic!("{case:?}: {other:?} {came}"),
            }
        };
        assert_eq!(found, case.expected(), "{case:?}: {came}");
        if found == Answer::AsksForAnother && case.in_time {
            // What is asked for must not fill up the user's share.
            Approver::of(house, if case.same_user { "riley" } else { "sam" })
                .await
                .deny(&confirmation_id(&came))
                .await;
        }
    }
}

/// No road does what no person approved, and each does once what one did.
#[tokio::test]
async fn every_road_does_what_was_approved_and_nothing_else() {
    let house = house_with(|_| ());
    let person = Approver::of(&house, "riley").await;
    let mut writes = 0;
    for (road, capabilities) in [("task", tasks()), ("form", forms()), ("wait", json!({}))] {
        let client = Client::new(house.talk("riley"), capabilities);
        for approves in [false, true] {
            let params = confirm(&format!("{road} {approves}"));
            let asked = client.call_with(params.clone()).await;
            let id = confirmation_id(&asked);
            if approves {
                person.approve(&id).await;
            } else {
                person.deny(&id).await;
            }
            let end = match road {
                "task" => {
                    let task = asked["taskId"].as_str().unwrap().to_owned();
                    client.task_that_is(&task, "completed").await["result"].take()
                }
                "form" => client.call_with(again(&params, &asked, json!({}))).await,
                _ => client.call_with(params).await,
            };
            writes += i64::from(approves);
            if approves {
                assert_eq!(end["structuredContent"]["writes"], writes, "{road}: {end}");
            } else {
                assert!(text(&end, 0).starts_with("FAILED CONFIRMATION_DENIED: "), "{road}: {end}");
            }
        }
    }
}
