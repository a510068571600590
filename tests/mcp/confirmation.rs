//! Calls that a person must approve, for clients with tasks, with forms, and with neither.

use serde_json::{Value, json};
use std::time::Duration;
use toolwire::{contract::proto::v1::ConfirmationState, tool::context::RequestId};

use super::{
    client::{ERAS, Era, Message, SOON, messages, text},
    confirming::{Approver, Client, approve_command, confirmation_id, forms, house_with, tasks},
};
use crate::{
    http::raw::Raw,
    support::second_calls::{Answer, Case},
};

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
        assert!(words.starts_with("FAILED CONFIRMATION_REQUIRED: Waiting for approval: "), "{words}");
        let command = approve_command(&house, &id);
        assert!(words.contains(&command) && words.contains(r#""value":"x""#), "{words}");
        let key = told["_meta"]["toolwire/request_id"].as_str().unwrap();
        let again = format!("; then call again with the same arguments and request_id {key}");
        assert!(words.ends_with(&again), "{words}");
        let told = client.call("debug_confirm", json!({"value": "x"})).await;
        assert_eq!(confirmation_id(&told), id, "not asked for twice");
        alex.approve(&id).await;
        // Some models repeat the `request_id`, and some leave it out.
        let repeat =
            if era == Era::Old { json!({"value": "x", "request_id": key}) } else { json!({"value": "x"}) };
        let done = client.call("debug_confirm", repeat).await;
        assert!(done["structuredContent"]["writes"].is_number(), "{done}");
        let told = client.call("debug_confirm", json!({"value": "x"})).await;
        assert_ne!(confirmation_id(&told), id, "another call");
        alex.deny(&confirmation_id(&told)).await;
        let denied = client.call("debug_confirm", json!({"value": "x"})).await;
        assert!(text(&denied, 0).starts_with("FAILED CONFIRMATION_DENIED: "), "{denied}");
    }
}

#[tokio::test]
async fn the_person_sees_by_which_client_the_call_was_made_as_that_states_it() {
    let house = house_with(|_| ());
    let alex = Approver::of(&house, "riley").await;
    // Without a session, an older client states its name in `initialize` alone.
    for (era, client) in [(Era::New, "test/1"), (Era::Old, "")] {
        let told = Client { era, ..Client::new(house.talk("riley"), json!({})) };
        let told = told.call("debug_confirm", json!({"value": client})).await;
        let found = alex.get(&confirmation_id(&told)).await;
        assert_eq!((&*found.face, &*found.client), ("mcp", client));
    }
    let mut message = Message::call(Era::New, "debug_confirm", &json!({"value": "y"}), &json!({}));
    message.body["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] =
        json!({"name": "Acme\u{202e} \n Desk\u{0}", "version": "2"});
    let told = messages(&message.send(&house.talk("riley"), "/mcp").await).pop().unwrap();
    assert_eq!(alex.get(&confirmation_id(&told["result"])).await.client, "Acme Desk /2");
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

/// The confirmation expires before a waiting call would give up, so `CONFIRMATION_REQUIRED` shows that it did not wait.
#[tokio::test]
async fn a_client_that_would_hear_nothing_or_gives_up_before_is_told_at_once() {
    let house = house_with(|config| config.confirmations.expire_in = Duration::from_secs(15));
    let talk = house.talk("riley");
    for era in ERAS {
        for (at, (meta, timeout)) in [
            (json!({}), None),
            (json!({"toolwire/timeout_ms": 90_000}), None),
            (json!({}), Some("90s")),
            (json!({"progressToken": "p", "toolwire/timeout_ms": 40_000}), None),
            (json!({"progressToken": "p"}), Some("40s")),
            (json!({"progressToken": "p", "toolwire/timeout_ms": 90_000}), Some("40s")),
        ]
        .into_iter()
        .enumerate()
        {
            let arguments = json!({"value": format!("{era:?} {at}")});
            let mut message = Message::call(era, "debug_confirm", &arguments, &meta);
            message.headers.extend(timeout.map(|timeout| ("x-toolwire-timeout", timeout.to_owned())));
            let told = messages(&message.send(&talk, "/mcp").await);
            let [end] = &told[..] else { panic!("{told:?}") };
            let words = text(&end["result"], 0);
            assert!(
                words.starts_with("FAILED CONFIRMATION_REQUIRED: Waiting for approval: "),
                "{meta} {words}"
            );
        }
    }
}

/// A read takes no `request_id`, so the advice to call again must not name one.
#[tokio::test]
async fn a_read_that_waits_is_made_again_by_its_arguments_alone() {
    let house = house_with(|_| ());
    house.patch("get_quotes", &json!({"requires_confirmation": true}));
    let person = Approver::of(&house, "riley").await;
    let client = Client::new(house.talk("riley"), json!({}));
    let told = client.call("get_quotes", json!({"symbol": "AMD"})).await;
    assert!(text(&told, 0).ends_with("; then call again with the same arguments"), "{told}");
    person.approve(&confirmation_id(&told)).await;
    let done = client.call("get_quotes", json!({"symbol": "AMD"})).await;
    assert!(done["structuredContent"]["quotes"].is_array(), "{done}");
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
    assert!(
        message.contains("decides nothing, since `[confirmations] in_client` does not name riley"),
        "{message}"
    );
    let fields: Vec<_> = shown["requestedSchema"]["properties"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["look_again"], "no decision of the client's");

    let look = json!({"action": "accept", "content": {"look_again": true}});
    // The form has no field for a decision, so the server ignores this one.
    let decides = json!({"action": "accept", "content": {"decision": "approve", "tool": "debug_confirm"}});
    for reply in [look.clone(), decides, json!({"action": "accept"}), json!({"action": "decline"})] {
        let still = client.call_with(again(&params, &asked, json!({"confirmation": reply}))).await;
        assert_eq!(confirmation_id(&still), id);
        assert!(text(&still, 0).starts_with("FAILED CONFIRMATION_REQUIRED: "), "shown twice: {still}");
        assert_eq!(person.get(&id).await.state(), ConfirmationState::Pending);
    }
    person.approve(&id).await;
    let done = client.call_with(again(&params, &asked, json!({"confirmation": look}))).await;
    assert_eq!(done["structuredContent"]["writes"], 1, "{done}");
}

/// A library that accepts every form, or a model that repeats its call in a loop, must not ask its user again.
#[tokio::test]
async fn a_form_that_decides_nothing_is_shown_once_for_each_confirmation() {
    let house = house_with(|_| ());
    let person = Approver::of(&house, "riley").await;
    let client = Client::new(house.talk("riley"), forms());
    let params = confirm("x");
    let asked = client.call_with(params.clone()).await;
    form(&asked);
    for _ in 0..3 {
        let still = client.call_with(params.clone()).await;
        assert_eq!(confirmation_id(&still), confirmation_id(&asked));
        assert!(text(&still, 0).starts_with("FAILED CONFIRMATION_REQUIRED: "), "{still}");
    }
    form(&client.call_with(confirm("y")).await);
    person.approve(&confirmation_id(&asked)).await;
    assert_eq!(client.call_with(params.clone()).await["structuredContent"]["writes"], 1);
    // The confirmation is used, so the same arguments are a new call with a new confirmation.
    form(&client.call_with(params).await);
}

#[tokio::test]
async fn a_client_that_was_asked_once_waits_for_its_person_if_it_follows_its_call() {
    let house = house_with(|_| ());
    let person = Approver::of(&house, "riley").await;
    let client = Client::new(house.talk("riley"), forms());
    let look = json!({"confirmation": {"action": "accept", "content": {"look_again": true}}});
    for round in [true, false] {
        let params = confirm(&round.to_string());
        let asked = client.call_with(params.clone()).await;
        let mut params = if round { again(&params, &asked, look.clone()) } else { params };
        params["_meta"] = json!({"progressToken": "p"});
        let message = Message::with_capabilities(Era::New, "tools/call", params, &forms());
        let mut raw = Raw::connect(house.server.http.unwrap()).await;
        let headers = message.headers.iter().map(|(name, value)| format!("{name}: {value}"));
        let headers: Vec<_> = headers.collect();
        let own = ["content-type: application/json", "x-toolwire-user: riley"];
        let headers: Vec<_> = headers.iter().map(String::as_str).chain(own).collect();
        raw.ask("POST", "/mcp", &headers, &message.body.to_string()).await;
        raw.until("notifications/progress").await;
        person.approve(&confirmation_id(&asked)).await;
        raw.until(r#""writes":"#).await;
    }
}

/// The confirmation expires before a waiting call would give up, as above.
#[tokio::test]
async fn a_form_that_is_put_away_is_answered_at_once() {
    let house = house_with(|config| config.confirmations.expire_in = Duration::from_secs(15));
    let client = Client { timeout: "90s", ..Client::new(house.talk("riley"), forms()) };
    let mut params = confirm("x");
    params["_meta"] = json!({"progressToken": "p"});
    let asked = client.call_with(params.clone()).await;
    for action in ["decline", "cancel"] {
        let away =
            client.call_with(again(&params, &asked, json!({"confirmation": {"action": action}}))).await;
        assert!(text(&away, 0).starts_with("FAILED CONFIRMATION_REQUIRED: "), "{away}");
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
        // A call of consequence `high` is approved only with the tool's name, for which the form is shown 3 times more.
        if decision == "approve" {
            let nameless = json!({"confirmation": {"action": "accept", "content": {"decision": decision}}});
            let mut still = asked.clone();
            for _ in 0..3 {
                still = client.call_with(again(&params, &still, nameless.clone())).await;
                assert!(
                    form(&still)["message"].as_str().unwrap().starts_with("Your decision was not taken: ")
                );
            }
            let told = client.call_with(again(&params, &still, nameless)).await;
            assert!(text(&told, 0).starts_with("FAILED CONFIRMATION_REQUIRED: "), "{told}");
        }
        // A form that is accepted without a decision leaves the confirmation pending.
        let empty = json!({"confirmation": {"action": "accept", "content": {}}});
        let told = client.call_with(again(&params, &asked, empty)).await;
        assert!(text(&told, 0).starts_with("FAILED CONFIRMATION_REQUIRED: "), "{told}");
        assert_eq!(person.get(&id).await.state(), ConfirmationState::Pending);
        // A form that can decide is shown again for each call.
        form(&client.call_with(params.clone()).await);
        let content = json!({"decision": decision, "tool": "debug_confirm", "reason": "as I say"});
        let responses = json!({"confirmation": {"action": "accept", "content": content}});
        let done = client.call_with(again(&params, &asked, responses)).await;
        let decided = person.get(&id).await;
        assert_eq!((decided.state(), decided.decided_via.as_str()), (expected, "mcp form"), "{done}");
        assert_eq!((decided.decided_by.as_str(), decided.reason.as_str()), ("riley", "as I say"));
        assert_eq!(done["isError"] == true, decision == "deny", "{done}");
    }
    // `in_client` does not name sam.
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
    let shown = form(&asked);
    assert!(shown["requestedSchema"]["properties"].get("decision").is_none(), "{asked}");
    let message = shown["message"].as_str().unwrap();
    assert!(message.contains("decides nothing, since ") && !message.contains("in_client"), "{message}");
}

/// A client with tasks is shown a form only if the form can decide. Otherwise, or if the form is declined, the call
/// becomes a task.
#[tokio::test]
async fn a_client_with_tasks_and_forms_is_asked_where_the_form_decides() {
    let house = house_with(|config| config.confirmations.in_client = vec!["riley".parse().unwrap()]);
    let both = json!({"elicitation": {"form": {}}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
    let client = |user: &str| Client::new(house.talk(user), both.clone());
    assert_eq!(client("sam").call_with(confirm("x")).await["resultType"], "task");
    let riley = client("riley");
    let params = confirm("x");
    let asked = riley.call_with(params.clone()).await;
    assert!(form(&asked)["requestedSchema"]["properties"]["decision"].is_object());
    let declined = json!({"confirmation": {"action": "decline"}});
    assert_eq!(riley.call_with(again(&params, &asked, declined)).await["resultType"], "task");
    let content = json!({"decision": "approve", "tool": "debug_confirm"});
    let responses = json!({"confirmation": {"action": "accept", "content": content}});
    let done = riley.call_with(again(&params, &asked, responses)).await;
    assert_eq!(done["structuredContent"]["writes"], 1, "{done}");
}

/// The matrix of `tests/confirmations`, over MCP.
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
            assert_ne!(confirmation_id(&came), asked, "its form was shown before");
            Answer::AsksForAnother
        } else {
            match text(&came, 0).split([' ', ':']).nth(1) {
                Some("CONFIRMATION_REQUIRED") => {
                    assert_eq!(confirmation_id(&came), asked, "its form was not shown");
                    Answer::Asks
                }
                Some("CONFIRMATION_EXPIRED") => Answer::Expired,
                Some("REQUEST_ID_REUSED") => Answer::Reused,
                other => panic!("{case:?}: {other:?} {came}"),
            }
        };
        assert_eq!(found, case.expected(), "{case:?}: {came}");
        if found == Answer::AsksForAnother && case.in_time {
            // The number of pending confirmations of a user is bounded.
            Approver::of(house, if case.same_user { "riley" } else { "sam" })
                .await
                .deny(&confirmation_id(&came))
                .await;
        }
    }
}

/// In each mode a write is carried out once if a person approved it, and never if not.
#[tokio::test]
async fn every_mechanism_does_what_was_approved_and_nothing_else() {
    let house = house_with(|_| ());
    let person = Approver::of(&house, "riley").await;
    let mut writes = 0;
    for (mechanism, capabilities) in [("task", tasks()), ("form", forms()), ("wait", json!({}))] {
        let client = Client::new(house.talk("riley"), capabilities);
        for approves in [false, true] {
            let params = confirm(&format!("{mechanism} {approves}"));
            let asked = client.call_with(params.clone()).await;
            let id = confirmation_id(&asked);
            if approves {
                person.approve(&id).await;
            } else {
                person.deny(&id).await;
            }
            let end = match mechanism {
                "task" => {
                    let task = asked["taskId"].as_str().unwrap().to_owned();
                    client.task_that_is(&task, "completed").await["result"].take()
                }
                "form" => client.call_with(again(&params, &asked, json!({}))).await,
                _ => client.call_with(params).await,
            };
            writes += i64::from(approves);
            if approves {
                assert_eq!(end["structuredContent"]["writes"], writes, "{mechanism}: {end}");
            } else {
                assert!(text(&end, 0).starts_with("FAILED CONFIRMATION_DENIED: "), "{mechanism}: {end}");
            }
        }
    }
}
