//! Conditions on arguments: what breaks one has no effect without a yes, whatever the value, the face, the repeat and
//! the definition.

use prost_types::{Struct, value::Kind};
use toolwire::contract::{json, proto::v1::ConfirmationCause};

use super::*;
use crate::support::raw::Raw;

/// What a call comes to before anybody has decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Runs,
    Asks,
    Invalid,
}

use Expected::{Asks, Invalid, Runs};

/// A write of a number, which takes no more than its manifest; and its condition.
fn house() -> House {
    let house = House::open();
    let pay = json!({
        "name": "pay", "description": "Pays.", "type": "non_function_tool", "category": "write",
        "consequence_level": "low", "requires_confirmation": false,
        "approve_unless": {"amount": {"minimum": 0, "maximum": 100}},
        "parameters": {"amount": "number", "to": "string"},
    });
    save(&house.data.path().join("tools/pay.json"), &pay.to_string());
    house.server.app.refresh();
    house
}

fn cases() -> Vec<(Value, Expected)> {
    vec![
        (json!({"amount": 50}), Runs),
        (json!({"amount": 0}), Runs),
        (json!({"amount": 100.0}), Runs),
        (json!({"amount": "50"}), Runs),
        (json!({"amount": 100.5}), Asks),
        (json!({"amount": 1e300}), Asks),
        (json!({"amount": "101"}), Asks),
        (json!({"amount": "1e3"}), Asks),
        (json!({"amount": -1}), Asks),
        (json!({"amount": null}), Asks),
        (json!({"to": "ACME"}), Asks),
        (json!({}), Asks),
        (json!({"amount": "NaN"}), Invalid),
        (json!({"amount": "Infinity"}), Invalid),
        (json!({"amount": true}), Invalid),
        (json!({"amount": [50]}), Invalid),
        (json!({"amuont": 50}), Invalid),
        (json!({"amount": 50, "Amount": 500}), Invalid),
    ]
}

#[track_caller]
fn expect(came: &Result<Came, Status>, expected: Expected, context: &str) {
    let found = match came {
        Ok(Came::Data(_)) => Runs,
        Ok(Came::Required(it)) => {
            assert_eq!(it.cause(), ConfirmationCause::Condition, "{context}");
            assert!(it.summary.starts_with("pay, since `amount` "), "{context}: {}", it.summary);
            Asks
        }
        Ok(Came::Error(ToolErrorCode::InvalidArgument, _)) => Invalid,
        other => panic!("{context}: {other:?}"),
    };
    assert_eq!(found, expected, "{context}: {came:?}");
}

#[tokio::test]
async fn what_breaks_a_condition_asks_by_every_way_in_and_in_every_repeat() {
    let house = house();
    for (at, (arguments, expected)) in cases().into_iter().enumerate() {
        // Each has a person of its own: the number of open confirmations of one user is limited.
        let person = house.person(&format!("person{at}")).await;
        let text = RequestId::generate();
        for _ in 0..2 {
            let came = person.call(call("pay", &arguments, Some(text))).await;
            expect(&came, expected, &format!("{arguments} as text"));
        }
        let structure = json::to_struct(arguments.as_object().unwrap());
        let of_structure = CallToolRequest {
            input: Some(call_tool_request::Input::Arguments(structure)),
            ..call("pay", &json!({}), Some(RequestId::generate()))
        };
        expect(&person.call(of_structure).await, expected, &format!("{arguments} as a structure"));
        let stream = InvokeToolRequest {
            target: Some(invoke_tool_request::Target::Tool("pay".to_owned())),
            input: Some(invoke_tool_request::Input::ArgumentsJson(arguments.to_string())),
            request_id: RequestId::generate().to_string(),
            ..InvokeToolRequest::default()
        };
        let last = person.events(stream).await.pop().expect("an event");
        let came = match last {
            Event::Result(result) => came(result.outcome),
            Event::ConfirmationRequired(required) => Came::Required(Box::new(required)),
            other => panic!("{other:?}"),
        };
        expect(&Ok(came), expected, &format!("{arguments} as a stream"));
    }
}

#[tokio::test]
async fn a_number_that_is_none_is_refused_before_it_is_looked_at() {
    let house = house();
    let riley = house.person("riley").await;
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let value = prost_types::Value { kind: Some(Kind::NumberValue(number)) };
        let structure = Struct { fields: [("amount".to_owned(), value)].into() };
        let request = CallToolRequest {
            input: Some(call_tool_request::Input::Arguments(structure)),
            ..call("pay", &json!({}), Some(RequestId::generate()))
        };
        match riley.call(request).await {
            Err(status) => assert_eq!(status.code(), Code::InvalidArgument),
            Ok(came) => assert!(matches!(came, Came::Error(ToolErrorCode::InvalidArgument, _)), "{came:?}"),
        }
    }
}

#[tokio::test]
async fn a_yes_is_for_these_arguments_and_for_once() {
    let house = house();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    let pay = |amount: i32| call("pay", &json!({"amount": amount}), Some(id));
    let asked = confirmation(riley.call(pay(500)).await);
    assert_eq!(asked.summary, "pay, since `amount` must be at most 100, but is 500: amount 500");
    // Not even by what would need no yes.
    for other in [501, 50] {
        assert_refused(riley.call(pay(other)).await, Code::AlreadyExists, "REQUEST_ID_REUSED");
    }
    riley.approve(&asked.confirmation_id).await.unwrap();
    let first = data(riley.call(pay(500)).await);
    assert_eq!(data(riley.call(pay(500)).await), first);
    assert_eq!(riley.state(&asked.confirmation_id).await, ConfirmationState::Used);
    let again = call("pay", &json!({"amount": 500}), Some(RequestId::generate()));
    let denied = confirmation(riley.call(again.clone()).await);
    riley.deny(&denied.confirmation_id).await.unwrap();
    assert_eq!(error(riley.call(again).await).0, ToolErrorCode::ConfirmationDenied);
}

#[tokio::test]
async fn another_condition_is_another_definition() {
    for (maximum, use_it) in [(10, true), (1_000, true), (10, false), (1_000, false)] {
        let house = house();
        let riley = house.person("riley").await;
        let pay = call("pay", &json!({"amount": 500}), Some(RequestId::generate()));
        let asked = confirmation(riley.call(pay.clone()).await);
        if use_it {
            riley.approve(&asked.confirmation_id).await.unwrap();
        }
        house.patch("pay", &json!({"approve_unless": {"amount": {"maximum": maximum}}}));
        // What was asked for stays asked for, even where the new definition would not have.
        let again = confirmation(riley.call(pay).await);
        assert_ne!(again.confirmation_id, asked.confirmation_id, "{maximum} {use_it}");
        assert_ne!(again.definition_digest, asked.definition_digest, "{maximum} {use_it}");
    }
}

#[tokio::test]
async fn conditions_of_the_configuration_hold_for_bundled_tools_by_their_typed_rpcs_too() {
    let house = House::with(|config| {
        let conditions = json!({"symbol": {"enum": ["TCS", "INFY"]}, "note": {"maxLength": 5}});
        config
            .confirmations
            .approve_unless
            .insert("add_to_watchlist".to_owned(), conditions.as_object().unwrap().clone());
    });
    let riley = house.person("riley").await;
    let snapshot = house.server.app.registry.snapshot();
    let definition = &snapshot.get("add_to_watchlist").unwrap().definition;
    let (service, method) = definition.typed_method().unwrap().split_once('/').unwrap();
    let descriptor = crate::support::descriptors().get_service_by_name(service).unwrap();
    let method = descriptor.methods().find(|it| it.name() == method).unwrap();
    for (arguments, expected) in [
        (json!({"symbol": "TCS", "note": "short"}), Runs),
        (json!({"symbol": "TCS", "note": "longer"}), Asks),
        (json!({"symbol": "TCS"}), Asks),
        (json!({"symbol": "RELIANCE", "note": "x"}), Asks),
    ] {
        let request = prost_reflect::DynamicMessage::deserialize(method.input(), arguments.clone()).unwrap();
        let id = RequestId::generate().to_string();
        let metadata = [("x-toolwire-user", "riley"), ("x-toolwire-request-id", id.as_str())];
        let path = format!("/{service}/{}", method.name());
        let end = Raw::connect(house.server.address).await.call(&path, &metadata, &request).await;
        let found = if end.status() == 0 {
            Runs
        } else {
            let info = end.grpc_status().get_details_error_info().unwrap();
            assert_eq!(info.reason, "CONFIRMATION_REQUIRED", "{arguments}");
            Asks
        };
        assert_eq!(found, expected, "{arguments}");
        let came = riley.call(call("add_to_watchlist", &arguments, Some(RequestId::generate()))).await;
        assert_eq!(matches!(came, Ok(Came::Required(_))), expected == Asks, "{arguments}: {came:?}");
    }
    let watched = data(riley.call(call("browse_watchlist", &json!({}), None)).await).to_string();
    assert!(watched.contains("TCS") && !watched.contains("RELIANCE"), "{watched}");
}

/// Adding to the watchlist with a note that is bound, and a condition on it.
fn with_bound_note(bind: &str, conditions: &Value) -> House {
    let house = House::open();
    let parameters = json!({"symbol": {"required": true}, "note": {"bind": bind}});
    let examples = json!([{"description": "A stock", "arguments": {"symbol": "RELIANCE"}}]);
    let mut changes = json!({"parameters": parameters, "examples": examples});
    if !conditions.is_null() {
        changes["approve_unless"] = conditions.clone();
    }
    house.patch("add_to_watchlist", &changes);
    house
}

fn add(session: &str, id: RequestId, arguments: &Value) -> CallToolRequest {
    let mut request = call("add_to_watchlist", arguments, Some(id));
    session.clone_into(&mut request.context.get_or_insert_default().session_id);
    request
}

#[tokio::test]
async fn a_bound_value_is_part_of_what_is_asked_for_and_of_its_digest() {
    let house = with_bound_note("session_id", &json!({"note": {"enum": ["desk-one"]}}));
    let riley = house.person("riley").await;
    let (id, symbol) = (RequestId::generate(), json!({"symbol": "TCS"}));
    assert_eq!(data(riley.call(add("desk-one", RequestId::generate(), &symbol)).await)["added"], true);
    let asked = confirmation(riley.call(add("desk-two", id, &symbol)).await);
    assert!(asked.arguments_json.contains(r#""note":"desk-two""#), "{}", asked.arguments_json);
    riley.approve(&asked.confirmation_id).await.unwrap();
    // The same call of another session has other arguments, even where they would need no yes.
    for session in ["other", "desk-one"] {
        let stolen = riley.call(add(session, id, &symbol)).await;
        assert_refused(stolen, Code::AlreadyExists, "REQUEST_ID_REUSED");
    }
    assert_eq!(data(riley.call(add("desk-two", id, &symbol)).await)["items_count"], 1);
    let watched = data(riley.call(call("browse_watchlist", &json!({}), None)).await).to_string();
    assert!(watched.contains("desk-two") && !watched.contains("desk-one"), "{watched}");
    // Without a session there is no note, and so it asks.
    confirmation(riley.call(call("add_to_watchlist", &symbol, Some(RequestId::generate()))).await);
    let given = json!({"symbol": "TCS", "note": "desk-one"});
    let (code, message) = error(riley.call(add("desk-one", RequestId::generate(), &given)).await);
    assert_eq!(code, ToolErrorCode::InvalidArgument);
    assert!(message.contains("unknown parameter `note`"), "{message}");
}

#[tokio::test]
async fn the_identifier_of_a_call_is_filled_in_where_it_is_carried_out() {
    let house = with_bound_note("request_id", &Value::Null);
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    let mut request = call("add_to_watchlist", &json!({"symbol": "TCS"}), Some(id));
    request.require_confirmation = true;
    let asked = confirmation(riley.call(request.clone()).await);
    assert!(!asked.arguments_json.contains("note"), "{}", asked.arguments_json);
    riley.approve(&asked.confirmation_id).await.unwrap();
    let added = data(riley.call(request.clone()).await);
    assert_eq!(data(riley.call(request).await), added);
    let watched = data(riley.call(call("browse_watchlist", &json!({}), None)).await).to_string();
    assert!(watched.contains(&id.to_string()), "{watched}");
}

#[tokio::test]
async fn a_cached_result_is_of_one_bound_value() {
    let house = House::open();
    house.patch(
        "get_quotes",
        &json!({
            "parameters": {"symbol": {"required": true, "bind": "session_id"}},
            "examples": [], "cache": {"ttl": "10m", "tier": "request"},
        }),
    );
    let riley = house.person("riley").await;
    for session in ["AMD", "NKE", "AMD"] {
        let mut request = call("get_quotes", &json!({}), None);
        session.clone_into(&mut request.context.get_or_insert_default().session_id);
        let quotes = data(riley.call(request).await).to_string();
        let other = if session == "AMD" { "NKE" } else { "AMD" };
        assert!(quotes.contains(session) && !quotes.contains(other), "{session}: {quotes}");
    }
}
