//! Every combination of user, definition, arguments, use, time, rights, own call and
//! consequence has its documented answer.

use std::time::Duration;

use super::*;
use crate::support::second_calls::{Answer, Case};

#[tokio::test]
async fn every_combination_has_its_documented_answer() {
    // One house for all that are in time, one in which nothing is decided in time, and one in which nothing is used.
    let slow = House::open();
    let undecided = House::with(|config| config.confirmations.expire_in = Duration::from_millis(1));
    let unused = House::with(|config| config.confirmations.use_within = Duration::from_millis(1));
    for house in [&slow, &undecided, &unused] {
        house.patch("add_to_watchlist", &json!({"requires_confirmation": true}));
    }
    let mut version = 0;
    for case in Case::all() {
        let house = match (case.in_time, case.is_approved) {
            (true, _) => &slow,
            (false, false) => &undecided,
            (false, true) => &unused,
        };
        let (riley, sam) = (house.person("riley").await, house.person("sam").await);
        let id = RequestId::generate();
        let add = |note: &str| call("add_to_watchlist", &json!({"symbol": "TCS", "note": note}), Some(id));
        let asked = confirmation(riley.call(add("first")).await);
        if case.is_approved {
            riley.approve(&asked.confirmation_id).await.unwrap();
        }
        let first = if case.was_used { Some(data(riley.call(add("first")).await)) } else { None };
        if !case.in_time {
            over(&riley, &asked.confirmation_id).await;
        }
        if !case.same_definition {
            version += 1;
            house.patch("add_to_watchlist", &json!({"title": format!("Version {version}")}));
        }
        let who = if case.same_user { &riley } else { &sam };
        let came = who.call(add(if case.same_arguments { "first" } else { "second" })).await;
        let found = match &came {
            Ok(Came::Data(data)) if first.as_ref() == Some(data) => Answer::Record,
            Ok(Came::Data(_)) => Answer::Runs,
            Ok(Came::Required(it)) if it.confirmation_id == asked.confirmation_id => Answer::Asks,
            Ok(Came::Required(_)) => Answer::AsksForAnother,
            Ok(Came::Error(ToolErrorCode::ConfirmationExpired, _)) => Answer::Expired,
            Err(status) if status.code() == Code::AlreadyExists => Answer::Reused,
            other => panic!("{case:?}: {other:?}"),
        };
        assert_eq!(found, case.expected(), "{case:?}");
        if let (Answer::AsksForAnother, true) = (&found, case.in_time) {
            // What is asked for must not fill up the user's share.
            let Ok(Came::Required(it)) = came else { unreachable!() };
            who.deny(&it.confirmation_id).await.unwrap();
        }
    }
}

/// Waits until a confirmation is over.
async fn over(person: &Person, id: &str) {
    let over = async {
        while matches!(person.state(id).await, ConfirmationState::Pending | ConfirmationState::Approved) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), over).await.expect("it is over");
    assert_eq!(person.state(id).await, ConfirmationState::Expired);
}

/// Who may decide what: rights, own calls, consequence; approving and denying alike.
#[tokio::test]
async fn who_may_decide_is_as_the_configuration_says() {
    for own_calls in [false, true] {
        let house = House::with(|config| {
            config.auth = users();
            config.confirmations.own_calls = own_calls;
        });
        house.patch("add_to_watchlist", &json!({"requires_confirmation": true}));
        house.patch("remove_from_watchlist", &json!({"requires_confirmation": true}));
        for caller in ["riley", "alex"] {
            let who = house.person(caller).await;
            for tool in ["debug_confirm", "add_to_watchlist", "remove_from_watchlist"] {
                for decider in USERS {
                    let arguments = match tool {
                        "debug_confirm" => json!({"value": "x"}),
                        _ => json!({"symbol": "TCS"}),
                    };
                    let asked =
                        confirmation(who.call(call(tool, &arguments, Some(RequestId::generate()))).await);
                    let id = &asked.confirmation_id;
                    let person = house.person(decider).await;
                    let is_own = decider == caller;
                    let has_right = decider == "alex" && tool != "remove_from_watchlist";
                    let sees = is_own || has_right || decider == "olga";
                    let may = has_right && (own_calls || !is_own);
                    let context = format!("{decider} on {caller}'s {tool}, own calls {own_calls}");
                    if !sees {
                        assert_refused(person.get(id).await, Code::NotFound, "UNKNOWN_CONFIRMATION");
                        assert_refused(person.deny(id).await, Code::NotFound, "UNKNOWN_CONFIRMATION");
                        assert_eq!(who.state(id).await, ConfirmationState::Pending, "{context}");
                    } else if may {
                        let viewed = person.get(id).await.unwrap().may_decide.unwrap();
                        assert!(viewed.allowed, "{context}");
                        assert_eq!(viewed.name_required, tool == "debug_confirm", "{context}");
                        assert_eq!(person.approve(id).await.unwrap().state(), ConfirmationState::Approved);
                    } else {
                        let viewed = person.get(id).await.unwrap().may_decide.unwrap();
                        assert!(!viewed.allowed && !viewed.reason.is_empty(), "{context}");
                        let said = assert_refused(
                            person.approve(id).await,
                            Code::PermissionDenied,
                            "MAY_NOT_DECIDE",
                        );
                        assert_eq!(said, viewed.reason, "{context}");
                        assert_refused(person.deny(id).await, Code::PermissionDenied, "MAY_NOT_DECIDE");
                        assert_eq!(who.state(id).await, ConfirmationState::Pending, "{context}");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn what_has_consequences_is_approved_by_its_name_only() {
    let house = House::open();
    let riley = house.person("riley").await;
    let asked = riley.asks(RequestId::generate(), "x").await;
    let approve = async |tool: &str| {
        let decision = Approve { tool: tool.to_owned(), reason: String::new() };
        riley.decide(&asked.confirmation_id, Decision::Approve(decision)).await
    };
    for wrong in ["", "debug_write", "Debug_confirm", "debug_confirm "] {
        assert_refused(approve(wrong).await, Code::InvalidArgument, "INVALID_REQUEST");
        assert_eq!(riley.state(&asked.confirmation_id).await, ConfirmationState::Pending);
    }
    assert_eq!(approve("debug_confirm").await.unwrap().state(), ConfirmationState::Approved);
}

#[tokio::test]
async fn the_same_decision_again_changes_nothing_and_another_one_is_refused() {
    let house = House::with_users();
    let (riley, alex) = (house.person("riley").await, house.person("alex").await);
    let approved = riley.asks(RequestId::generate(), "x").await.confirmation_id;
    let first = alex.approve(&approved).await.unwrap();
    assert_eq!(alex.approve(&approved).await.unwrap(), first);
    let said = assert_refused(alex.deny(&approved).await, Code::FailedPrecondition, "CONFIRMATION_DECIDED");
    assert!(said.starts_with("it was approved by alex at "), "{said}");

    let denied = riley.asks(RequestId::generate(), "x").await.confirmation_id;
    let first = alex.deny(&denied).await.unwrap();
    assert_eq!(alex.deny(&denied).await.unwrap(), first);
    let said = assert_refused(alex.approve(&denied).await, Code::FailedPrecondition, "CONFIRMATION_DECIDED");
    assert!(said.starts_with("it was denied by alex at "), "{said}");
}

#[tokio::test]
async fn a_decision_is_complete_and_bounded() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = riley.asks(RequestId::generate(), "x").await.confirmation_id;
    let deny = |reason: String| Decision::Deny(Deny { reason });
    for bad in [String::new(), " ".to_owned(), "x".repeat(1_001)] {
        assert_refused(riley.decide(&id, deny(bad)).await, Code::InvalidArgument, "INVALID_REQUEST");
    }
    let message = DecideConfirmationRequest { confirmation_id: id.clone(), ..Default::default() };
    let answer = riley.confirmations.clone().decide_confirmation(riley.request(message)).await;
    assert_refused(answer, Code::InvalidArgument, "INVALID_REQUEST");
    for unknown in ["", "42", "conf_0123456789abcdef0123456789abcdef"] {
        assert_refused(riley.get(unknown).await, Code::NotFound, "UNKNOWN_CONFIRMATION");
        assert_refused(riley.deny(unknown).await, Code::NotFound, "UNKNOWN_CONFIRMATION");
    }
    assert_eq!(riley.state(&id).await, ConfirmationState::Pending);
}
