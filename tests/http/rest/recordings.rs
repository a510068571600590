//! What is recorded of a call: shown to its user and to users who may read records, and never what is sensitive.

mod settings;

use serde_json::{Value, json};
use tonic::Request;
use toolwire::{
    config::{Calls, Config, Flags, testing},
    contract::proto::v1::{CallView, GetCallRequest, get_call_request},
    engine::recordings::Settings,
    state::recordings::RETENTION,
};

use super::value;
use crate::http::{house::House, raw::ask};

const KEY: &str = "a-key-of-more-than-thirty-two-bytes-0";
const OTHER_KEY: &str = "a-key-of-more-than-thirty-two-bytes-1";

/// The caller, an observer, an observer who reads what is recorded, and another user.
const USERS: &str = "
[[auth.users]]
user_id = 'riley'
token = 'riley-0123456789abcdef'
[[auth.users]]
user_id = 'olga'
token = 'olga-0123456789abcdef'
[[auth.users]]
user_id = 'rita'
token = 'rita-0123456789abcdef'
[[auth.users]]
user_id = 'demo'
token = 'demo-0123456789abcdef'
[[auth.users]]
user_id = 'lim'
token = 'lim-0123456789abcdef'
tools = ['get_performance']
[[auth.rules]]
who = ['user:olga']
may = ['observe']
tools = ['*']
[[auth.rules]]
who = ['user:rita']
may = ['observe', 'read_records']
tools = ['*']
[[auth.rules]]
who = ['user:riley']
may = ['call']
tools = ['*']
";

fn config(calls: &str) -> Config {
    let file = format!("{calls}\n{USERS}");
    testing::load_text(&file, &[], Flags::default(), &[]).expect("a configuration").config
}

fn house(calls: &str) -> House {
    let settings = config(calls);
    House::with(|config: &mut Config| {
        config.auth = settings.auth;
        config.calls = settings.calls;
        config.server.diagnostics = true;
    })
}

fn recording(record: &str) -> String {
    format!("[calls]\nrecord = '{record}'\nkeys = ['{KEY}']\n")
}

/// Puts other settings into force.
fn replace(house: &House, calls: &str) -> Vec<String> {
    let calls: Calls = config(calls).calls;
    house.server.app.tools.recorder().replace(Settings::new(&calls).unwrap())
}

/// Makes a call as riley, and returns its id.
async fn call(house: &House, tool: &str, body: &Value) -> String {
    let bearer = "authorization: Bearer riley-0123456789abcdef";
    let key = format!("idempotency-key: {}", toolwire::tool::context::RequestId::generate());
    let headers = [bearer, "content-type: application/json", &key];
    // The outcome of a call with a key is kept without a recording, too.
    let is_write = ["debug_confirm", "remove_from_watchlist"].contains(&tool);
    let headers = if is_write { &headers[..] } else { &headers[..2] };
    let path = format!("/v1/tools/{tool}:call");
    let answer = ask(house.server.http.unwrap(), "POST", &path, headers, &body.to_string()).await;
    answer.headers["x-toolwire-call-id"].clone()
}

async fn look(house: &House, user: &str, call: &str) -> (u16, Value) {
    let bearer = format!("authorization: Bearer {user}-0123456789abcdef");
    let path = format!("/v1/calls/{call}?view=EVENTS");
    let answer = ask(house.server.http.unwrap(), "GET", &path, &[&bearer], "").await;
    (answer.status, value(&answer))
}

/// What a user is shown of a call of which something is recorded.
async fn recorded(house: &House, user: &str, call: &str) -> Value {
    loop {
        let (status, found) = look(house, user, call).await;
        assert_eq!(status, 200, "{found}");
        if found["recording"].get("expires_at").is_some() {
            return found;
        }
        assert!(found["recording"]["note"].as_str().unwrap().contains("still being written"), "{found}");
    }
}

/// The note on a call of which nothing is recorded.
async fn note(house: &House, user: &str, call: &str) -> String {
    let (status, found) = look(house, user, call).await;
    assert_eq!(status, 200, "{found}");
    let recording = found["recording"].as_object().unwrap();
    assert_eq!(recording.keys().collect::<Vec<_>>(), ["note"], "{found}");
    recording["note"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn ones_own_are_shown_and_those_of_others_to_who_may_read_them() {
    let house = house(&recording("all"));
    let id = call(&house, "get_quotes", &json!({"symbol": "AMD"})).await;
    for user in ["riley", "rita"] {
        let found = recorded(&house, user, &id).await;
        assert_eq!(found["recording"]["arguments"]["symbol"], "AMD", "{user}: {found}");
        assert!(found["result"]["data"].is_object(), "{user}: {found}");
        assert_eq!(found["recording"]["note"], "", "{user}: {found}");
    }
    assert!(note(&house, "olga", &id).await.contains("read_records"));
    let (_, observed) = look(&house, "olga", &id).await;
    assert_eq!(observed["call"]["tool"], "get_quotes");
    assert!(observed.get("result").is_none(), "{observed}");
    assert_eq!(look(&house, "demo", &id).await.0, 404);
}

#[tokio::test]
async fn grpc_shows_the_same() {
    let house = house(&recording("all"));
    let id = call(&house, "get_quotes", &json!({"symbol": "AMD"})).await;
    let get = async |user: &str, view: CallView| {
        let call = Some(get_call_request::Call::CallId(id.clone()));
        let mut request = Request::new(GetCallRequest { call, view: view.into(), ..Default::default() });
        let bearer = format!("Bearer {user}-0123456789abcdef").parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
        house.server.tools().await.get_call(request).await.unwrap().into_inner()
    };
    let found = get("riley", CallView::Events).await;
    let (recording, ended) = (found.recording.unwrap(), found.call.unwrap().ended_at.unwrap());
    let arguments: Value = serde_json::from_str(&recording.arguments_json).unwrap();
    assert_eq!((&arguments["symbol"], recording.note.as_str()), (&json!("AMD"), ""));
    let kept = recording.expires_at.unwrap().seconds - ended.seconds;
    assert!((86_399..=86_402).contains(&kept), "{kept}");
    assert!(found.result.is_some());
    let observed = get("olga", CallView::Events).await;
    let recording = observed.recording.unwrap();
    assert!(recording.arguments_json.is_empty() && recording.expires_at.is_none(), "{recording:?}");
    assert!(observed.result.is_none());
    // Without the view nothing is said of it.
    let plain = get("riley", CallView::Basic).await;
    assert!(plain.recording.is_none() && plain.result.is_none(), "{plain:?}");
}

#[tokio::test]
async fn what_is_sensitive_is_not_kept_wherever_it_stands() {
    let house = house(&recording("all"));
    let parameters = json!({
        "title": "string",
        "card": {"type": "object", "properties": {"number": {"type": "string", "sensitive": true}}},
        "pins": {"type": "array", "items": {"type": "string", "sensitive": true}},
    });
    house.replace(
        "stop_and_think",
        &json!({
            "name": "stop_and_think", "type": "non_function_tool", "category": "read", "consequence_level": "low",
            "description": "Records. Use this when. Do not use it.", "requires_confirmation": false,
            "parameters": parameters, "returns": {"logged": "boolean"},
        }),
    );
    let given = json!({"title": "t", "card": {"number": "planted"}, "pins": ["planted", "planted"]});
    let id = call(&house, "stop_and_think", &given).await;
    let found = recorded(&house, "riley", &id).await;
    assert_eq!(
        found["recording"]["arguments"],
        json!({"title": "t", "card": {"number": "[redacted]"}, "pins": ["[redacted]", "[redacted]"]})
    );
    assert!(!found.to_string().contains("planted"), "{found}");
    assert!(found["recording"]["note"].as_str().unwrap().contains("sensitive"), "{found}");
    // A call without a sensitive value is recorded whole.
    let id = call(&house, "stop_and_think", &json!({"title": "t"})).await;
    assert!(recorded(&house, "riley", &id).await["result"]["data"].is_object());
}

#[tokio::test]
async fn a_result_or_error_that_may_repeat_a_sensitive_argument_is_not_kept() {
    let house = house(&recording("all"));
    let id = call(&house, "get_quotes", &json!({"symbol": "AMD"})).await;
    let found = recorded(&house, "riley", &id).await;
    assert!(found["result"].to_string().contains("AMD"), "{found}");
    let manifest = std::fs::read_to_string("data/tools/get_quotes.json").unwrap();
    let mut parameters = serde_json::from_str::<Value>(&manifest).unwrap()["parameters"].clone();
    parameters["symbol"]["sensitive"] = true.into();
    house.patch("get_quotes", &json!({"parameters": parameters}));
    for symbol in ["AMD", "ZZZZ"] {
        let id = call(&house, "get_quotes", &json!({"symbol": symbol})).await;
        let found = recorded(&house, "riley", &id).await;
        assert_eq!(found["recording"]["arguments"]["symbol"], "[redacted]", "{found}");
        assert!(found.get("result").is_none() && !found.to_string().contains(symbol), "{found}");
        assert!(found["recording"]["note"].as_str().unwrap().contains("sensitive"), "{found}");
    }
}

#[tokio::test]
async fn a_call_that_a_tool_makes_is_not_recorded() {
    let house = house(&recording("all"));
    let id = call(&house, "debug_nested", &json!({"depth": 2})).await;
    let found = recorded(&house, "riley", &id).await;
    let nested = found["result"]["data"]["levels"][1]["call_id"].as_str().unwrap();
    assert!(note(&house, "riley", nested).await.contains("the call that made this one"));
}

#[tokio::test]
async fn a_call_that_waits_for_a_person_is_recorded_without_a_result() {
    let house = house(&recording("all"));
    let id = call(&house, "debug_confirm", &json!({"value": "x"})).await;
    let found = recorded(&house, "riley", &id).await;
    assert_eq!(found["call"]["state"], "AWAITING_CONFIRMATION", "{found}");
    assert_eq!(found["recording"]["arguments"]["value"], "x", "{found}");
    assert!(found["recording"]["note"].as_str().unwrap().contains("without a result"), "{found}");
}

#[tokio::test]
async fn a_recording_is_gone_after_a_day() {
    let house = house(&recording("arguments"));
    let id = call(&house, "get_quotes", &json!({"symbol": "AMD"})).await;
    recorded(&house, "riley", &id).await;
    let state = &house.server.app.state;
    state.at_time(state.now() + RETENTION);
    assert!(note(&house, "riley", &id).await.contains("24 h"));
}

#[tokio::test]
async fn the_error_of_a_call_that_is_not_kept_is_shown_to_who_may_read_it() {
    let house = house("");
    for (tool, body, code, message) in [
        ("debug_fail", json!({"code": "NOT_FOUND"}), "NOT_FOUND", ""),
        ("debug_sleep", json!({"duration": "1 hour"}), "INVALID_ARGUMENT", "duration"),
        ("get_quotes", json!({"symbols": "AMD"}), "INVALID_ARGUMENT", "unknown parameter `symbols`"),
        ("debug_panic", json!({"when": "start"}), "UNKNOWN", ""),
    ] {
        let id = call(&house, tool, &body).await;
        let (_, own) = look(&house, "riley", &id).await;
        for user in ["riley", "rita"] {
            let (_, found) = look(&house, user, &id).await;
            // That of the call, however long ago it ended.
            assert_eq!(found["call"]["deadline"], own["call"]["deadline"]);
            let error = &found["result"]["error"];
            assert_eq!((&found["call"]["code"], &error["code"]), (&json!(code), &json!(code)), "{found}");
            assert!(error["message"].as_str().is_some_and(|it| it.contains(message)), "{tool}: {found}");
        }
        let (_, observed) = look(&house, "olga", &id).await;
        assert_eq!(observed["call"]["code"], code, "{observed}");
        assert!(observed.get("result").is_none(), "{observed}");
    }
    let id = call(&house, "get_quotes", &json!({"symbol": "AMD"})).await;
    let (_, found) = look(&house, "riley", &id).await;
    assert!(found.get("result").is_none(), "what succeeded is not kept: {found}");
}

#[tokio::test]
async fn what_a_call_with_a_sensitive_argument_answered_is_for_its_caller_alone() {
    let house = house("");
    let look_at_both = async |id: &str| (look(&house, "riley", id).await.1, look(&house, "rita", id).await.1);
    let body = json!({"symbol": "AMD"});
    let (own, read) = look_at_both(&call(&house, "remove_from_watchlist", &body).await).await;
    assert!(own["result"].is_object() && read["result"] == own["result"], "{own} {read}");
    let manifest = std::fs::read_to_string("data/tools/remove_from_watchlist.json").unwrap();
    let mut parameters = serde_json::from_str::<Value>(&manifest).unwrap()["parameters"].clone();
    parameters["symbol"]["sensitive"] = true.into();
    house.patch("remove_from_watchlist", &json!({"parameters": parameters}));
    let (own, read) = look_at_both(&call(&house, "remove_from_watchlist", &body).await).await;
    assert!(own["result"].is_object(), "{own}");
    assert_eq!(read["call"]["result_kept"], false, "{read}");
    assert!(read.get("result").is_none(), "{read}");
}

#[tokio::test]
async fn calls_do_not_tell_which_forbidden_tools_exist() {
    let house = house("");
    let (bearer, token) = ("authorization: Bearer lim-0123456789abcdef", "lim");
    for tool in ["get_quotes", "no_such_tool"] {
        let headers = [bearer, "content-type: application/json"];
        let http = house.server.http.unwrap();
        let refused = ask(http, "POST", &format!("/v1/tools/{tool}:call"), &headers, "{}").await;
        assert_eq!((refused.status, refused.code().as_str()), (403, "TOOL_NOT_ALLOWED"), "{tool}");
        let listed = value(&ask(http, "GET", &format!("/v1/calls?tools={tool}"), &[bearer], "").await);
        assert_eq!(listed["calls"], json!([]), "{tool}");
        if let Some(id) = refused.headers.get("x-toolwire-call-id") {
            assert_eq!(look(&house, token, id).await.0, 404, "{tool}");
        }
    }
}
