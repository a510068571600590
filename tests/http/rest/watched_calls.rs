//! Calls as they start and end: a user's own, without a gap after a lost stream.

use serde_json::{Value, json};
use toolwire::{config::Config, domains, server::app::App};

use crate::{
    http::{
        house::House,
        talk::{Event, Events, Talk},
    },
    support::server::{Server, config_with_http},
};

const PATH: &str = "/v1/calls:watch";

/// A server in which everybody of this machine may do everything.
fn house() -> House {
    House::with(|config: &mut Config| config.server.diagnostics = true)
}

async fn watch(talk: &Talk, after: &str) -> Events {
    talk.open("GET", PATH, &[("last-event-id", after)], "").await
}

/// The next event of a name.
async fn next(events: &mut Events, name: &str) -> Event {
    loop {
        let event = events.next().await.expect("a watch has no end");
        if event.name == name {
            return event;
        }
    }
}

async fn quote(talk: &Talk) -> String {
    let answer = talk.post("/v1/tools/get_quotes:call", &json!({"symbol": "AMD"})).await.ok();
    answer["call_id"].as_str().unwrap().to_owned()
}

fn stages(event: &Event) -> Vec<&str> {
    event.data["stages"].as_array().unwrap().iter().map(|it| it["type"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_call_is_told_when_it_starts_and_when_it_ends_with_its_stages() {
    let house = house();
    let riley = house.talk("riley");
    let sleep = riley.open("POST", "/v1/tools/debug_sleep:invoke", &[], r#"{"duration": "60s"}"#).await;
    // The call may not have begun yet when the first watch does.
    let (mut events, started) = loop {
        let mut events = watch(&riley, "").await;
        let first = events.next().await.unwrap();
        if first.name == "started" {
            break (events, first);
        }
    };
    assert_eq!(started.id, "", "{started:?}");
    assert_eq!(started.data["call"]["tool"], "debug_sleep");
    assert_eq!(started.data["call"]["state"], "RUNNING");
    assert_eq!(stages(&started)[..2], ["RECEIVED", "CHECKING"]);
    assert_eq!(events.next().await.unwrap().name, "synced");
    drop(sleep);
    let ended = next(&mut events, "ended").await;
    assert_eq!(ended.data["call"]["call_id"], started.data["call"]["call_id"]);
    assert_eq!(ended.data["call"]["state"], "CANCELLED", "{ended:?}");
    let write = json!({"value": "x"});
    let key = [("idempotency-key", "6f1c2e0a-7b1d-4e9b-9c50-0d6a0f2b7a11")];
    riley.send("POST", "/v1/tools/debug_write:call", &key, &write.to_string()).await.ok();
    let ended = next(&mut events, "ended").await;
    assert_eq!(ended.data["call"]["state"], "SUCCEEDED", "{ended:?}");
    assert_eq!(stages(&ended), ["RECEIVED", "CHECKING", "RECORDING", "EXECUTING", "COMMITTING"]);
    let times: Vec<_> = ended.data["stages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["time"].as_str().unwrap().trim_end_matches('Z'))
        .collect();
    assert!(times.is_sorted(), "{times:?}");
}

#[tokio::test]
async fn a_lost_stream_goes_on_without_a_gap_and_others_are_not_told() {
    let house = house();
    let (riley, demo) = (house.talk("riley"), house.talk("demo"));
    let mut events = watch(&riley, "").await;
    let synced = next(&mut events, "synced").await;
    demo.post("/v1/tools/get_quotes:call", &json!({"symbol": "AAPL"})).await.ok();
    let first = quote(&riley).await;
    let ended = next(&mut events, "ended").await;
    assert_eq!(ended.data["call"]["call_id"], first, "{ended:?}");
    drop(events);
    let (second, third) = (quote(&riley).await, quote(&riley).await);
    for (after, expected) in [(&ended.id, vec![&second, &third]), (&synced.id, vec![&first, &second, &third])]
    {
        let mut events = watch(&riley, after).await;
        for call in expected {
            let event = events.next().await.unwrap();
            assert_eq!((event.name.as_str(), &event.data["call"]["call_id"]), ("ended", &json!(call)));
        }
    }
    // With a position of another user or of another filter, or a malformed one, the watch starts from the beginning.
    for (talk, path, after) in [
        (&demo, PATH, &ended.id),
        (&riley, "/v1/calls:watch?tools=get_quotes", &ended.id),
        (&riley, PATH, &"x".to_owned()),
    ] {
        let mut events = talk.open("GET", path, &[("last-event-id", after)], "").await;
        assert_eq!(events.next().await.unwrap().name, "reset", "{path}");
        assert_eq!(events.next().await.unwrap().name, "synced", "{path}");
    }
}

#[tokio::test]
async fn what_a_tool_calls_is_told_with_its_parent() {
    let house = house();
    let riley = house.talk("riley");
    let mut events = watch(&riley, "").await;
    next(&mut events, "synced").await;
    riley.post("/v1/tools/get_symbol_performance:call", &json!({"symbol": "AMD"})).await.ok();
    let mut nested = Vec::new();
    let outer = loop {
        let call = next(&mut events, "ended").await.data["call"].clone();
        if call["tool"] == "get_symbol_performance" {
            break call;
        }
        nested.push(call);
    };
    assert!(
        !nested.is_empty() && nested.iter().all(|it| it["parent_call_id"] == outer["call_id"]),
        "{nested:?}"
    );
}

#[tokio::test]
async fn calls_of_another_process_of_the_state_are_told() {
    let state = tempfile::tempdir().unwrap();
    let server = || {
        let mut config = config_with_http();
        config.state.dir = Some(state.path().to_owned());
        let app = App::build(&config, &domains::bundled()).unwrap();
        Server::of(app, config)
    };
    let (here, there) = (server(), server());
    let talk = |server: &Server| Talk::to(server.http.unwrap(), "riley");
    let write = |key: &'static str| {
        let there = talk(&there);
        async move {
            let body = json!({"value": "x"}).to_string();
            let answer =
                there.send("POST", "/v1/tools/debug_write:call", &[("idempotency-key", key)], &body).await;
            answer.ok()["call_id"].clone()
        }
    };
    // Both hold their place in the state from their first record on.
    let key = [("idempotency-key", "00000000-0000-4000-8000-000000000001")];
    let body = json!({"value": "x"}).to_string();
    talk(&here).send("POST", "/v1/tools/debug_write:call", &key, &body).await.ok();
    let mut events = watch(&talk(&here), "").await;
    next(&mut events, "synced").await;
    let call_id: Value = write("00000000-0000-4000-8000-000000000002").await;
    let ended = next(&mut events, "ended").await;
    assert_eq!((&ended.data["call"]["call_id"], &ended.data["stages"]), (&call_id, &json!([])), "{ended:?}");
    assert_eq!(ended.data["call"]["state"], "SUCCEEDED");
    // Each names the other as that names itself, with a record and without.
    let replica = async |server: &Server, call_id: &Value| {
        let path = format!("/v1/calls/{}", call_id.as_str().unwrap());
        talk(server).get(&path).await.ok()["call"]["replica"].clone()
    };
    let (own, others) = (quote(&talk(&here)).await, json!(quote(&talk(&there)).await));
    let (here_is, there_is) = (replica(&here, &json!(own)).await, replica(&there, &others).await);
    assert_eq!((&ended.data["call"]["replica"], &replica(&here, &call_id).await), (&there_is, &there_is));
    assert!(here_is != there_is && here_is != "" && there_is != "", "{here_is} {there_is}");
}
