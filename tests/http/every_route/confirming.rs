//! No route carries a tool out that a person must approve, unless a person has approved just that call.

use std::{fs, time::Duration};

use serde_json::{Value, json};
use toolwire::tool::context::RequestId;

use super::{
    cases::{Whose, cases},
    world::{OWNER, Planted, World, send},
};
use crate::{
    http::{
        house::House,
        talk::{Answer as Told, Talk},
    },
    support::{
        data_directory, patch_json, save,
        second_calls::{Answer, Case},
    },
};

/// Every tool requires confirmation, and none is answered from a cache.
fn strict() -> (World, tempfile::TempDir) {
    let data = data_directory();
    for manifest in fs::read_dir(data.path().join("tools")).unwrap() {
        let path = manifest.unwrap().path();
        patch_json(&path, &json!({"requires_confirmation": true, "idempotent": true}));
        let mut manifest: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        manifest.as_object_mut().unwrap().shift_remove("cache");
        save(&path, &manifest.to_string());
    }
    (World::with(|config| config.data.dir = Some(data.path().to_owned())), data)
}

#[tokio::test]
async fn no_route_carries_a_tool_out_without_a_confirmation() {
    let (world, _data) = strict();
    let mut asked = 0;
    let nothing = Planted::nothing();
    for mut case in cases(&nothing) {
        // A turn that waits holds its session.
        case.body = case.body.replace(&nothing.names.session, &RequestId::generate().to_string());
        let answer = send(world.address, Some(OWNER), &case).await;
        let is_read = case.method() == "GET" && case.path.starts_with("/v1/");
        let expected = match case.whose {
            Whose::Calls if is_read => continue,
            Whose::Calls if case.path.ends_with(":invoke") => "event: confirmation_required\n",
            Whose::Calls => {
                assert_eq!(
                    (answer.status, answer.code().as_str()),
                    (428, "CONFIRMATION_REQUIRED"),
                    "{case:?}"
                );
                "conf_"
            }
            Whose::Turns if case.path == "/api/chat" || case.path == "/agent/chat" => {
                assert_eq!(answer.status, 202, "{case:?} {answer:?}");
                "conf_"
            }
            Whose::Turns => "conf_",
            _ if case.says("tools/call") => "FAILED CONFIRMATION_REQUIRED: ",
            _ => continue,
        };
        assert!(answer.body.contains(expected), "{}: {answer:?}", case.route);
        asked += 1;
    }
    assert!(asked > 15, "{asked}");
    let calls = send(world.address, Some(OWNER), &super::cases::Case::of("GET", "/v1/calls")).await;
    let calls: Value = serde_json::from_str(&calls.body).unwrap();
    let calls = calls["calls"].as_array().unwrap();
    let done: Vec<_> = calls.iter().filter(|call| call["state"] == "SUCCEEDED").collect();
    assert!(!calls.is_empty() && done.is_empty(), "{done:?}");
}

/// How a call is made.
#[derive(Clone, Copy, Debug)]
enum Way {
    Call,
    Invoke,
}

/// What came of a call: data, the confirmation that it needs, or the code of an error.
#[derive(Debug, PartialEq)]
enum Came {
    Data(Value),
    Required(String),
    Error(String),
}

async fn add(talk: &Talk, way: Way, id: RequestId, note: &str) -> Came {
    let verb = match way {
        Way::Call => "call",
        Way::Invoke => "invoke",
    };
    let body = json!({"symbol": "TCS", "note": note}).to_string();
    let path = format!("/v1/tools/add_to_watchlist:{verb}");
    let told = talk.send("POST", &path, &[("idempotency-key", &id.to_string())], &body).await;
    came(&told)
}

fn came(told: &Told) -> Came {
    let streamed = told.text.lines().rev().find_map(|line| line.strip_prefix("data: "));
    let value: Value = serde_json::from_str(streamed.unwrap_or(&told.text)).unwrap();
    let body = value.get("result").unwrap_or(&value);
    let required = value
        .get("confirmation_required")
        .or_else(|| value.get("confirmation"))
        .map(|it| &it["confirmation_id"]);
    match (body.get("data"), required, body.get("error").unwrap_or(body).get("code")) {
        (Some(data), ..) => Came::Data(data.clone()),
        (None, Some(id), _) => Came::Required(id.as_str().unwrap().to_owned()),
        (None, None, Some(code)) => Came::Error(code.as_str().unwrap().to_owned()),
        _ => panic!("{told:?}"),
    }
}

pub(super) async fn decide(talk: &Talk, id: &str, decision: Value) -> Told {
    talk.post(&format!("/v1/confirmations/{id}:decide"), &decision).await
}

pub(super) fn approval() -> Value {
    json!({"approve": {"tool": "add_to_watchlist", "reason": "fine"}})
}

/// Waits until a confirmation is over.
pub(super) async fn over(talk: &Talk, id: &str) {
    let state = async {
        loop {
            let told = talk.get(&format!("/v1/confirmations/{id}")).await.ok();
            match told["confirmation"]["state"].as_str().unwrap() {
                "PENDING" | "APPROVED" => tokio::time::sleep(Duration::from_millis(5)).await,
                state => break state.to_owned(),
            }
        }
    };
    let state = tokio::time::timeout(Duration::from_secs(30), state).await.expect("it is over");
    assert_eq!(state, "EXPIRED");
}

#[tokio::test]
async fn every_combination_has_its_documented_answer() {
    let slow = House::new();
    let undecided = House::with(|config| config.confirmations.expire_in = Duration::from_millis(1));
    let unused = House::with(|config| config.confirmations.use_within = Duration::from_millis(1));
    let mut version = 0;
    for (way, case) in
        [Way::Call, Way::Invoke].into_iter().flat_map(|way| Case::all().map(move |case| (way, case)))
    {
        let house = match (case.in_time, case.is_approved) {
            (true, _) => &slow,
            (false, false) => &undecided,
            (false, true) => &unused,
        };
        let (riley, sam, id) = (house.talk("riley"), house.talk("sam"), RequestId::generate());
        let Came::Required(asked) = add(&riley, way, id, "first").await else { panic!("{case:?}") };
        if case.is_approved {
            decide(&riley, &asked, approval()).await.ok();
        }
        let first = if case.was_used { Some(add(&riley, way, id, "first").await) } else { None };
        if !case.in_time {
            over(&riley, &asked).await;
        }
        if !case.same_definition {
            version += 1;
            house.patch("add_to_watchlist", &json!({"title": format!("Version {version}")}));
        }
        let who = if case.same_user { &riley } else { &sam };
        let came = add(who, way, id, if case.same_arguments { "first" } else { "second" }).await;
        let found = match &came {
            Came::Data(_) if first.as_ref() == Some(&came) => Answer::Record,
            Came::Data(_) => Answer::Runs,
            Came::Required(again) if *again == asked => Answer::Asks,
            Came::Required(_) => Answer::AsksForAnother,
            Came::Error(code) if code == "CONFIRMATION_EXPIRED" => Answer::Expired,
            Came::Error(code) if code == "REQUEST_ID_REUSED" => Answer::Reused,
            other @ Came::Error(_) => panic!("{way:?} {case:?}: {other:?}"),
        };
        assert_eq!(found, case.expected(), "{way:?} {case:?}");
        if let (Came::Required(id), true) = (&came, case.in_time) {
            // What is asked for must not fill up the user's share.
            decide(who, id, json!({"deny": {"reason": "no"}})).await.ok();
        }
    }
}

#[tokio::test]
async fn a_call_of_a_task_is_carried_out_when_it_is_approved_and_once() {
    let house = House::new();
    let (riley, sam) = (house.talk("riley"), house.talk("sam"));
    let task =
        riley.send("POST", "/v1/tasks", &key(), r#"{"request": "watch", "role": "analyst"}"#).await.ok();
    let path = format!("/v1/tasks/{}:call", task["task"]["task_id"].as_str().unwrap());
    let arguments = json!({"symbol": "TCS"}).to_string();
    let body = json!({"tool": "add_to_watchlist", "arguments_json": arguments, "request_id": RequestId::generate().to_string()});
    let blocked = riley.post(&path, &body).await.ok();
    let id = blocked["block"]["confirmation_required"]["confirmation_id"].as_str().unwrap();
    assert_eq!(riley.post(&path, &body).await.ok()["action"], "block");
    assert_eq!(decide(&sam, id, approval()).await.problem(), (404, "UNKNOWN_CONFIRMATION".to_owned()));
    assert_eq!(sam.post(&path, &body).await.problem().0, 404);
    decide(&riley, id, approval()).await.ok();
    let mut other = body.clone();
    other["arguments_json"] = json!({"symbol": "INFY"}).to_string().into();
    assert_eq!(riley.post(&path, &other).await.problem().1, "REQUEST_ID_REUSED");
    let done = riley.post(&path, &body).await.ok();
    assert_eq!(done["result"]["data"]["items_count"], 1, "{done}");
    assert_eq!(riley.post(&path, &body).await.ok()["result"]["data"], done["result"]["data"]);
}

fn key() -> [(&'static str, &'static str); 1] {
    [("idempotency-key", "6f1c2e0a-7b1d-4e9b-9c50-0d6a0f2b7a11")]
}
