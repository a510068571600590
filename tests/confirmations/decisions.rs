//! Calls that wait, are decided on, and go on.

use std::time::Duration;

use crate::support::state;
use tokio::sync::oneshot;
use toolwire::contract::proto::v1::{
    CancelCallRequest, ConfirmationCause, ConsequenceLevel, ToolCategory, cancel_call_request::Call,
};

use super::*;

#[tokio::test]
async fn an_approved_call_is_carried_out_once_and_its_repeat_meets_its_record() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    let asked = riley.asks(id, "x").await;
    assert_eq!(
        (asked.tool.as_str(), asked.path.as_slice()),
        ("debug_confirm", ["debug_confirm".to_owned()].as_slice())
    );
    assert_eq!(asked.request_id, id.to_string());
    assert_eq!(asked.consequence_level(), ConsequenceLevel::High);
    assert_eq!(asked.cause(), ConfirmationCause::Manifest);
    assert_eq!(asked.arguments_json, r#"{"value":"x","duration":"0s"}"#);
    assert_eq!(asked.summary, r#"Write with approval (debug_confirm): value "x", duration "0s""#);
    assert_eq!(riley.asks(id, "x").await, asked, "a repeat is the same confirmation");

    let approved = riley.approve(&asked.confirmation_id).await.unwrap();
    assert_eq!(approved.state(), ConfirmationState::Approved);
    assert_eq!((approved.decided_by.as_str(), approved.decided_via.as_str()), ("riley", "grpc"));
    assert_eq!((approved.on_behalf_of.as_str(), approved.reason.as_str()), ("chat:42", "fine"));
    assert_eq!(approved.category(), ToolCategory::Write);
    assert_eq!(approved.arguments_digest.len(), 64);

    let first = data(riley.call_confirm(id, "x").await);
    assert_eq!(first["writes"], 1);
    assert_eq!(data(riley.call_confirm(id, "x").await), first);
    let used = riley.get(&asked.confirmation_id).await.unwrap();
    assert_eq!(used.state(), ConfirmationState::Used);
    assert!(used.used_at.is_some() && !used.used_by_call_id.is_empty());
}

#[tokio::test]
async fn a_call_that_waits_goes_on_when_it_is_approved() {
    let house = House::open();
    let riley = house.person("riley").await;
    let request = waiting("debug_confirm", RequestId::generate(), "x", 60);
    let mut stream = riley.tools.clone().invoke_tool(riley.request(request)).await.unwrap().into_inner();
    let mut next = async || stream.message().await.unwrap().unwrap().event.unwrap().event.unwrap();
    assert!(matches!(next().await, Event::Accepted(_)));
    let Event::AwaitingConfirmation(asked) = next().await else { panic!("waits") };
    riley.approve(&asked.confirmation_id).await.unwrap();
    let Event::Result(result) = next().await else { panic!("goes on") };
    assert_eq!(data(Ok(came(result.outcome)))["writes"], 1);
}

#[tokio::test]
async fn a_wait_that_is_over_ends_as_confirmation_required_and_loses_nothing() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    let request = InvokeToolRequest {
        wait_for_confirmation: Some(prost_types::Duration { seconds: 0, nanos: 50_000_000 }),
        ..waiting("debug_confirm", id, "x", 0)
    };
    let events = riley.events(request).await;
    let [Event::Accepted(_), Event::AwaitingConfirmation(asked), Event::ConfirmationRequired(end)] =
        &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(asked, end);
    riley.approve(&end.confirmation_id).await.unwrap();
    assert_eq!(data(riley.call_confirm(id, "x").await)["writes"], 1);
}

/// The wait ends a second before the deadline, so that the caller learns what it waits for.
#[tokio::test]
async fn what_is_undecided_at_the_deadline_ends_as_confirmation_required() {
    let house = House::open();
    let riley = house.person("riley").await;
    let mut request = riley.request(waiting("debug_confirm", RequestId::generate(), "x", 60));
    request.set_timeout(Duration::from_secs(6));
    let mut stream = riley.tools.clone().invoke_tool(request).await.unwrap().into_inner();
    let mut last = None;
    while let Some(message) = stream.message().await.unwrap() {
        last = message.event.and_then(|event| event.event);
    }
    assert!(matches!(last, Some(Event::ConfirmationRequired(_))), "{last:?}");
}

#[tokio::test]
async fn a_denied_call_says_why_and_so_does_its_repeat() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    let asked = riley.asks(id, "x").await;
    riley.deny(&asked.confirmation_id).await.unwrap();
    for _ in 0..2 {
        let (code, message) = error(riley.call_confirm(id, "x").await);
        assert_eq!(code, ToolErrorCode::ConfirmationDenied);
        assert_eq!(message, "A person denied this call: not today");
    }
    assert_eq!(
        riley.asks(RequestId::generate(), "x").await.summary,
        asked.summary,
        "another call asks again"
    );
}

#[tokio::test]
async fn a_call_that_is_cancelled_withdraws_its_confirmation_whether_or_not_it_waits() {
    let house = House::open();
    let riley = house.person("riley").await;
    let cancel_call = async |call| {
        let request = riley.request(CancelCallRequest { call: Some(call) });
        riley.tools.clone().cancel_call(request).await.unwrap().into_inner().cancelled
    };
    let cancel = async |id: RequestId| cancel_call(Call::RequestId(id.to_string())).await;
    let idle = RequestId::generate();
    let asked = riley.asks(idle, "x").await;
    assert!(cancel(idle).await);
    assert_eq!(riley.state(&asked.confirmation_id).await, ConfirmationState::Withdrawn);
    assert_eq!(error(riley.call_confirm(idle, "x").await).0, ToolErrorCode::Cancelled);
    assert_refused(
        riley.approve(&asked.confirmation_id).await,
        Code::FailedPrecondition,
        "CONFIRMATION_DECIDED",
    );
    assert!(!cancel(idle).await, "there is nothing left to cancel");

    for by_call_id in [false, true] {
        let id = RequestId::generate();
        let (sender, receiver) = oneshot::channel();
        let waits = {
            let riley = riley.clone();
            tokio::spawn(async move {
                let request = riley.request(waiting("debug_confirm", id, "x", 60));
                let mut stream = riley.tools.clone().invoke_tool(request).await.unwrap().into_inner();
                let mut sender = Some(sender);
                let mut last = None;
                while let Some(message) = stream.message().await.unwrap() {
                    let event = message.event.unwrap();
                    if let (Some(Event::AwaitingConfirmation(it)), true) = (&event.event, sender.is_some()) {
                        sender.take().unwrap().send((event.call_id, it.confirmation_id.clone())).unwrap();
                    }
                    last = event.event;
                }
                last
            })
        };
        let (call_id, confirmation) = receiver.await.unwrap();
        let call = if by_call_id { Call::CallId(call_id) } else { Call::RequestId(id.to_string()) };
        assert!(cancel_call(call).await);
        let Some(Event::Result(result)) = waits.await.unwrap() else { panic!("a result") };
        assert_eq!(error(Ok(came(result.outcome))).0, ToolErrorCode::Cancelled);
        assert_eq!(riley.state(&confirmation).await, ConfirmationState::Withdrawn);
    }
}

/// Who leaves ends the wait, not the confirmation.
#[tokio::test]
async fn a_caller_who_leaves_finds_its_confirmation_again() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    let request = riley.request(waiting("debug_confirm", id, "x", 60));
    let mut stream = riley.tools.clone().invoke_tool(request).await.unwrap().into_inner();
    let asked = loop {
        let event = stream.message().await.unwrap().unwrap().event.unwrap().event;
        if let Some(Event::AwaitingConfirmation(asked)) = event {
            break asked;
        }
    };
    drop(stream);
    house.server.app.tools.in_flight().wait_until_empty().await;
    assert_eq!(riley.asks(id, "x").await.confirmation_id, asked.confirmation_id);
    riley.approve(&asked.confirmation_id).await.unwrap();
    assert_eq!(data(riley.call_confirm(id, "x").await)["writes"], 1);
}

#[tokio::test]
async fn a_caller_can_ask_for_a_confirmation_and_no_repeat_can_do_without_it() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    let plain = call("debug_write", &json!({"value": "x"}), Some(id));
    let asks = CallToolRequest { require_confirmation: true, ..plain.clone() };
    let asked = confirmation(riley.call(asks).await);
    assert_eq!(asked.cause(), ConfirmationCause::Caller);
    assert_eq!(confirmation(riley.call(plain.clone()).await).confirmation_id, asked.confirmation_id);
    riley.approve(&asked.confirmation_id).await.unwrap();
    assert_eq!(data(riley.call(plain).await)["writes"], 1);
}

/// A read needs no identifier: what was decided is found by what it asks for.
#[tokio::test]
async fn a_read_without_an_identifier_adopts_the_confirmation_of_an_equal_one() {
    let house = House::open();
    let riley = house.person("riley").await;
    let read = |symbol: &str| CallToolRequest {
        require_confirmation: true,
        ..call("get_quotes", &json!({"symbol": symbol}), None)
    };
    let asked = confirmation(riley.call(read("AMD")).await);
    assert_eq!(confirmation(riley.call(read("AMD")).await).confirmation_id, asked.confirmation_id);
    assert_ne!(confirmation(riley.call(read("NKE")).await).confirmation_id, asked.confirmation_id);
    assert_ne!(
        confirmation(house.person("sam").await.call(read("AMD")).await).confirmation_id,
        asked.confirmation_id
    );
    riley.approve(&asked.confirmation_id).await.unwrap();
    assert_eq!(data(riley.call(read("AMD")).await)["quotes"][0]["symbol"], "AMD");
    let again = confirmation(riley.call(read("AMD")).await);
    assert_ne!(again.confirmation_id, asked.confirmation_id, "each use needs its own");
    riley.deny(&again.confirmation_id).await.unwrap();
    for _ in 0..2 {
        let (code, _) = error(riley.call(read("AMD")).await);
        assert_eq!(code, ToolErrorCode::ConfirmationDenied, "nobody is asked again at once");
    }
}

#[tokio::test]
async fn a_changed_definition_voids_what_was_asked_and_what_was_approved() {
    let house = House::open();
    let riley = house.person("riley").await;
    house.patch("add_to_watchlist", &json!({"requires_confirmation": true}));
    let id = RequestId::generate();
    let add = || call("add_to_watchlist", &json!({"symbol": "TCS"}), Some(id));
    let first = confirmation(riley.call(add()).await);
    house.patch("add_to_watchlist", &json!({"description": "Adds another stock."}));
    let answer = riley.approve(&first.confirmation_id).await;
    let what = assert_refused(answer, Code::FailedPrecondition, "CONFIRMATION_DECIDED");
    assert!(what.contains("voided"), "{what}");

    let second = confirmation(riley.call(add()).await);
    assert_ne!(second.confirmation_id, first.confirmation_id);
    assert!(second.summary.starts_with("The definition of this tool has changed"), "{}", second.summary);
    riley.approve(&second.confirmation_id).await.unwrap();
    house.patch("add_to_watchlist", &json!({"description": "Adds yet another stock."}));
    let third = confirmation(riley.call(add()).await);
    assert_ne!(third.confirmation_id, second.confirmation_id);
    assert_eq!(riley.state(&second.confirmation_id).await, ConfirmationState::Voided);
    riley.approve(&third.confirmation_id).await.unwrap();
    assert_eq!(data(riley.call(add()).await)["items_count"], 1);
}

/// A process without the tool cannot tell what a person was shown, and must not spoil it for the one that has it.
#[tokio::test]
async fn who_does_not_offer_a_tool_does_not_approve_its_calls_and_voids_nothing() {
    let state = tempfile::tempdir().unwrap();
    let house = |diagnostics| {
        House::with(|config| {
            state::keep_in(&mut config.state, state.path());
            config.server.diagnostics = diagnostics;
        })
    };
    let id = RequestId::generate();
    let with = house(true);
    let asked = with.person("riley").await.asks(id, "x").await;
    with.server.shut_down().await;

    let without = house(false);
    let riley = without.person("riley").await;
    assert_refused(riley.approve(&asked.confirmation_id).await, Code::NotFound, "UNKNOWN_TOOL");
    assert_eq!(riley.state(&asked.confirmation_id).await, ConfirmationState::Pending);
    without.server.shut_down().await;

    let with = house(true);
    let riley = with.person("riley").await;
    riley.approve(&asked.confirmation_id).await.unwrap();
    assert_eq!(data(riley.call_confirm(id, "x").await)["writes"], 1);
}

#[tokio::test]
async fn what_was_asked_and_decided_survives_the_server() {
    let state = tempfile::tempdir().unwrap();
    let house = || House::with(|config| state::keep_in(&mut config.state, state.path()));
    let (pending, approved) = (RequestId::generate(), RequestId::generate());
    let before = house();
    let riley = before.person("riley").await;
    let waits = riley.asks(pending, "x").await;
    let asked = riley.asks(approved, "y").await;
    riley.approve(&asked.confirmation_id).await.unwrap();
    before.server.shut_down().await;

    let after = house();
    let riley = after.person("riley").await;
    assert_eq!(riley.asks(pending, "x").await.confirmation_id, waits.confirmation_id);
    assert_eq!(data(riley.call_confirm(approved, "y").await)["writes"], 1);
    assert_eq!(data(riley.call_confirm(approved, "y").await)["writes"], 1);
}

#[tokio::test]
async fn a_wait_that_the_end_of_the_server_cuts_ends_as_confirmation_required_and_goes_on_after_it() {
    let state = tempfile::tempdir().unwrap();
    let house = || {
        House::with(|config| {
            state::keep_in(&mut config.state, state.path());
            config.server.drain.lame_duck = Duration::ZERO;
            config.server.drain.forced_end = Duration::from_millis(200);
        })
    };
    let id = RequestId::generate();
    let before = house();
    let riley = before.person("riley").await;
    let request = riley.request(waiting("debug_confirm", id, "x", 60));
    let mut stream = riley.tools.clone().invoke_tool(request).await.unwrap().into_inner();
    let mut next = async || stream.message().await.unwrap().unwrap().event.unwrap().event.unwrap();
    assert!(matches!(next().await, Event::Accepted(_)));
    let Event::AwaitingConfirmation(asked) = next().await else { panic!("waits") };
    let (end, _report) = tokio::join!(next(), before.server.shut_down());
    let Event::ConfirmationRequired(end) = end else { panic!("{end:?}") };
    assert_eq!(asked, end);

    let after = house();
    let riley = after.person("riley").await;
    riley.approve(&end.confirmation_id).await.unwrap();
    assert_eq!(data(riley.call_confirm(id, "x").await)["writes"], 1);
}

#[tokio::test]
async fn a_call_is_bound_to_the_definition_that_it_expects() {
    let house = House::open();
    let riley = house.person("riley").await;
    let digest =
        house.server.app.registry.snapshot().get("get_quotes").unwrap().definition.digest.to_string();
    let of = |expected: &str| CallToolRequest {
        expected_digest: expected.to_owned(),
        ..call("get_quotes", &json!({"symbol": "AMD"}), None)
    };
    assert!(data(riley.call(of(&digest)).await).is_object());
    assert_refused(riley.call(of(&"0".repeat(64))).await, Code::FailedPrecondition, "DEFINITION_CHANGED");
    assert_refused(riley.call(of("42")).await, Code::InvalidArgument, "INVALID_REQUEST");
}

#[tokio::test]
async fn no_more_than_a_hundred_confirmations_of_one_user_are_pending() {
    let house = House::open();
    let riley = house.person("riley").await;
    for number in 0..100 {
        riley.asks(RequestId::generate(), &number.to_string()).await;
    }
    let refused = riley.call_confirm(RequestId::generate(), "one more").await;
    assert_refused(refused, Code::ResourceExhausted, "TOO_MANY_CONFIRMATIONS");
    house.person("sam").await.asks(RequestId::generate(), "x").await;
}
