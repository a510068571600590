//! Every diagnostics tool through every face: the same data, the same error, the same stop records, the same log lines
//! but for what names the call and the face. Tools of a domain through their typed RPCs too, which diagnostics lack.

mod asked;
mod conditions;
mod exact;
mod noted;
mod typed;
mod written;

use std::path::Path;

use serde_json::{Value, json};
use toolwire::contract::proto::v1::{
    Approve, CancelCallRequest, CancelCallResponse, DecideConfirmationRequest, DecideConfirmationResponse,
    Deny, cancel_call_request::Call, decide_confirmation_request::Decision,
};

use crate::{
    faces::{
        asked::{Answer, Asked, FACES, Face, Places},
        noted::Noted,
    },
    support::{program::Program, raw::Raw},
};

const NONE: &[(&str, &str)] = &[];

/// A server that logs all that is compared.
async fn program(variables: &[(&str, &str)]) -> Program {
    let logged =
        [("TOOLWIRE_LOG_ARGUMENTS", "true"), ("TOOLWIRE_LOG_FILTER", "info,toolwire::diagnostics=debug")];
    let variables: Vec<_> = logged.iter().chain(variables).copied().collect();
    Program::start(Path::new("."), &["--http=127.0.0.1:0"], &variables).await
}

/// What came of a call, and what the server noted of it.
#[derive(Debug, PartialEq)]
struct Seen {
    answer: Answer,
    noted: Noted,
}

/// What a case must come to, whichever face it goes through.
struct Case {
    tool: &'static str,
    arguments: Value,
    /// The code of the failure; none if there is data.
    code: Option<&'static str>,
    /// Tool and cause of each stop record, in their order.
    stops: &'static [(&'static str, &'static str)],
}

fn case(
    tool: &'static str,
    arguments: Value,
    code: Option<&'static str>,
    stops: &'static [(&'static str, &'static str)],
) -> Case {
    Case { tool, arguments, code, stops }
}

/// Calls that come to an end by themselves.
fn cases() -> Vec<Case> {
    let failing = |code: &'static str| {
        case("debug_fail", json!({"code": code}), Some(code), &[("debug_fail", "completed")])
    };
    let refused = |tool, arguments| case(tool, arguments, Some("INVALID_ARGUMENT"), &[]);
    let awaited = Some("CONFIRMATION_REQUIRED");
    let mut cases = vec![
        case("debug_sleep", json!({"duration": "0.01s"}), None, &[("debug_sleep", "completed")]),
        case("debug_stream", json!({"count": 2, "bytes": 8}), None, &[("debug_stream", "completed")]),
        case("debug_nested", json!({"depth": 3}), None, &[("debug_nested", "completed"); 3]),
        case("debug_write", json!({"value": "x"}), None, &[("debug_write", "completed")]),
        case("debug_confirm", json!({"value": "x"}), awaited, &[]),
        case("debug_confirm_nested", json!({"value": "x"}), awaited, &[("debug_write", "completed")]),
        case("debug_panic", json!({}), Some("UNKNOWN"), &[("debug_panic", "panic")]),
        case("debug_panic", json!({"when": "stream"}), Some("UNKNOWN"), &[("debug_panic", "panic")]),
        case(
            "debug_fail",
            json!({"code": "RATE_LIMITED", "retry_after": "2s"}),
            Some("RATE_LIMITED"),
            &[("debug_fail", "completed")],
        ),
        refused("debug_sleep", json!({"duration": -1})),
        refused("debug_write", json!({})),
        refused("debug_stream", json!({"count": "many", "other": 1})),
        refused("debug_nested", json!({"depth": 99})),
        refused("debug_fail", json!({"code": "NO_SUCH_CODE"})),
    ];
    cases.extend(["CONFLICT", "NOT_FOUND", "BLOCKED", "PARSE_ERROR", "OUTCOME_UNKNOWN"].map(failing));
    cases
}

#[tokio::test]
async fn every_diagnostics_tool_is_the_same_through_every_face() {
    let mut program = program(NONE).await;
    let places = Places::of(&program);
    for (at, case) in cases().iter().enumerate() {
        let mut first: Option<Seen> = None;
        for (face, asked) in FACES.map(|face| (face, Asked::new(case.tool, &case.arguments, face, at))) {
            let answer = face.ask(&places, &asked).await;
            let seen = observe(&mut program, face, case, answer).await;
            match &first {
                None => first = Some(seen),
                Some(first) => assert_eq!(*first, seen, "{face:?} {} {}", case.tool, case.arguments),
            }
        }
    }
}

#[tokio::test]
async fn a_deadline_that_passes_is_the_same_through_every_face() {
    // The server's own bound: a caller's deadline has a second timer, the caller's.
    let mut program = program(&[("TOOLWIRE_DEADLINE_CAP", "300ms")]).await;
    let places = Places::of(&program);
    let stops = &[("debug_sleep", "deadline")];
    let case = case("debug_sleep", json!({"duration": "60s"}), Some("DEADLINE_EXCEEDED"), stops);
    let mut all = Vec::new();
    for face in FACES {
        let asked = Asked::new(case.tool, &case.arguments, face, 0);
        let answer = face.ask(&places, &asked).await;
        all.push(observe(&mut program, face, &case, answer).await);
    }
    all_alike(&all);
}

#[tokio::test]
async fn a_call_that_is_cancelled_is_the_same_through_every_face() {
    let mut program = program(NONE).await;
    let places = Places::of(&program);
    let stops = &[("debug_sleep", "cancelled")];
    let case = case("debug_sleep", json!({"duration": "60s"}), Some("CANCELLED"), stops);
    let mut all = Vec::new();
    for face in FACES {
        let asked = Asked::new(case.tool, &case.arguments, face, 0);
        let cancelling = async {
            program.wait_for_log("work began").await;
            cancel(&places, &asked.key).await;
        };
        let (answer, ()) = tokio::join!(face.ask(&places, &asked), cancelling);
        all.push(observe(&mut program, face, &case, answer).await);
    }
    all_alike(&all);
}

#[tokio::test]
async fn what_a_person_decided_is_the_same_through_every_face() {
    let mut program = program(NONE).await;
    let places = Places::of(&program);
    let (tool, arguments) = ("debug_confirm", json!({"value": "x"}));
    let required = || case(tool, arguments.clone(), Some("CONFIRMATION_REQUIRED"), &[]);
    let approve = || Decision::Approve(Approve { tool: tool.to_owned(), reason: String::new() });
    let approved = case(tool, arguments.clone(), None, &[("debug_confirm", "completed")]);
    let deny = || Decision::Deny(Deny { reason: "not today".to_owned() });
    let denied = case(tool, arguments.clone(), Some("CONFIRMATION_DENIED"), &[]);
    let decisions: [(&dyn Fn() -> Decision, &Case); 2] = [(&approve, &approved), (&deny, &denied)];
    for (at, (decision, then)) in decisions.into_iter().enumerate() {
        let mut all = Vec::new();
        for face in FACES {
            let asked = Asked::new(tool, &arguments, face, at);
            let answer = face.ask(&places, &asked).await;
            let confirmation_id = answer.confirmation_id().to_owned();
            let before = observe(&mut program, face, &required(), answer).await;
            decide(&places, confirmation_id, decision()).await;
            let answer = face.ask(&places, &asked).await;
            all.push((before, observe(&mut program, face, then, answer).await));
        }
        all_alike(&all);
    }
}

/// The answer beside what the server noted of the call, once both are what the case says.
async fn observe(program: &mut Program, face: Face, case: &Case, answer: Answer) -> Seen {
    assert_eq!(answer.code(), case.code, "{face:?} {} {}: {answer:?}", case.tool, case.arguments);
    let noted = Noted::read(program, case.tool, case.stops.len()).await;
    assert_eq!(noted.face, face.name());
    let mut expected = case.stops.to_vec();
    expected.sort_unstable();
    let stops: Vec<_> = noted.stops.iter().map(|(tool, cause)| (tool.as_str(), cause.as_str())).collect();
    assert_eq!(stops, expected, "{face:?} {} {}", case.tool, case.arguments);
    Seen { answer: answer.without_its_own(), noted: noted.without_face() }
}

#[track_caller]
fn all_alike<T: PartialEq + std::fmt::Debug>(all: &[T]) {
    for (face, other) in FACES.iter().zip(all) {
        assert_eq!(all[0], *other, "{face:?}");
    }
}

/// Cancels a call.
async fn cancel(places: &Places, key: &str) {
    let request = CancelCallRequest { call: Some(Call::RequestId(key.to_owned())) };
    let raw = Raw::connect(places.grpc).await;
    let end = raw.call("/toolwire.v1.ToolService/CancelCall", &[], &request).await;
    let cancelled: Vec<_> = end.decode::<CancelCallResponse>().iter().map(|it| it.cancelled).collect();
    assert_eq!(cancelled, [true], "{end:?}");
}

async fn decide(places: &Places, confirmation_id: String, decision: Decision) {
    let request =
        DecideConfirmationRequest { confirmation_id, decision: Some(decision), ..Default::default() };
    let raw = Raw::connect(places.grpc).await;
    let end = raw.call("/toolwire.v1.ConfirmationService/DecideConfirmation", &[], &request).await;
    assert_eq!(end.decode::<DecideConfirmationResponse>().len(), 1, "{end:?}");
}
