//! A caller who leaves: the tool stops.

use std::{env, time::Duration};

use serde_json::json;
use toolwire::base::clock;

use super::client::{ERAS, Era, Message, OLD, Stdio, house, messages};
use crate::{http::raw::Raw, support::stops::Stops};

/// How often each is tried.
fn rounds() -> usize {
    env::var("LEAVE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(5)
}

#[tokio::test]
async fn who_closes_the_connection_stops_the_tool() {
    let (stops, _guard) = Stops::of_this_thread();
    let house = house();
    let in_flight = house.server.app.tools.in_flight();
    let mut took = Vec::new();
    for round in 0..rounds() * 4 {
        let (era, with_progress) = (ERAS[round % 2], round % 4 > 1);
        let meta = if with_progress { json!({"progressToken": 1}) } else { json!({}) };
        let arguments = json!({"duration": "60s", "progress_interval": "0.01s"});
        let message = Message::call(era, "debug_sleep", &arguments, &meta);
        let headers: Vec<_> =
            message.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let headers: Vec<_> =
            headers.iter().map(String::as_str).chain(["content-type: application/json"]).collect();
        let mut raw = Raw::connect(house.server.http.unwrap()).await;
        raw.ask("POST", "/mcp", &headers, &message.body.to_string()).await;
        if with_progress {
            raw.until("notifications/progress").await;
        }
        while in_flight.is_empty() {
            tokio::task::yield_now().await;
        }
        let left = clock::now();
        drop(raw);
        in_flight.wait_until_empty().await;
        took.push(left.elapsed());
    }
    report("HTTP", took);
    let stopped = stops.take(rounds() * 4).await;
    assert_eq!(Stops::causes(&stopped).into_iter().collect::<Vec<_>>(), [("caller_gone", rounds() * 4)]);
}

#[tokio::test]
async fn a_cancelled_request_stops_the_tool_over_standard_input() {
    let (stops, _guard) = Stops::of_this_thread();
    let house = house();
    let in_flight = house.server.app.tools.in_flight();
    let mut stdio = Stdio::start(&["--server", &format!("http://{}", house.server.address)]);
    stdio.greet(Era::Old).await;
    let mut took = Vec::new();
    for _ in 0..rounds() * 4 {
        let arguments = json!({"duration": "60s", "progress_interval": "0.01s"});
        let message = Message::call(Era::Old, "debug_sleep", &arguments, &json!({"progressToken": 1}));
        stdio.say(&message.body.to_string()).await;
        while stdio.next().await["method"] != "notifications/progress" {}
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
        let left = clock::now();
        stdio.say(&cancel.to_string()).await;
        in_flight.wait_until_empty().await;
        took.push(left.elapsed());
        // A request that is cancelled has no answer.
        let mut ping = Message::new(Era::Old, "ping", json!({}));
        ping.body["id"] = "p".into();
        assert!(stdio.ask(&ping).await["result"].is_object());
    }
    report("standard input", took);
    let stopped = stops.take(rounds() * 4).await;
    assert_eq!(Stops::causes(&stopped).into_iter().collect::<Vec<_>>(), [("caller_gone", rounds() * 4)]);
}

/// It leaves the response of the request that it gives up open.
#[tokio::test]
async fn what_a_client_cancels_over_http_counts_as_unanswered() {
    let (stops, _guard) = Stops::of_this_thread();
    let house = house();
    let (talk, in_flight) = (house.talk("riley"), house.server.app.tools.in_flight());
    let greet = async || {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": OLD, "capabilities": {}, "clientInfo": client});
        let answer = Message::new(Era::Old, "initialize", params).send(&talk, "/mcp").await;
        answer.headers["mcp-session-id"].to_str().unwrap().to_owned()
    };
    let (client, other) = (greet().await, greet().await);
    let send = async |client: &str, mut message: Message| {
        message.headers.push(("mcp-session-id", client.to_owned()));
        message.send(&talk, "/mcp").await
    };
    let cancel = async |client: &str| {
        let mut message = Message::new(Era::Old, "notifications/cancelled", json!({"requestId": 7}));
        message.body.as_object_mut().unwrap().remove("id");
        assert_eq!(send(client, message).await.status, 202);
    };
    for (round, meta) in [json!({}), json!({"progressToken": 1})].into_iter().enumerate() {
        for (tool, arguments) in [
            ("debug_sleep", json!({"duration": "60s"})),
            ("debug_write", json!({"value": meta.to_string(), "duration": "0.5s"})),
        ] {
            let call = || Message::call(Era::Old, tool, &arguments, &meta);
            let give_up = async {
                while in_flight.is_empty() {
                    tokio::task::yield_now().await;
                }
                cancel(&other).await;
                assert!(!in_flight.is_empty(), "another client cancels nothing");
                cancel(&client).await;
            };
            let (answer, ()) = tokio::join!(send(&client, call()), give_up);
            let answer = messages(&answer).pop().unwrap();
            assert!(answer["error"]["message"].as_str().unwrap().contains("cancelled"), "{answer}");
            in_flight.wait_until_empty().await;
            if tool == "debug_write" {
                let writes = |answer| messages(&answer).pop().unwrap()["result"]["structuredContent"].take();
                let repeat = writes(send(&client, call()).await);
                assert_eq!(
                    repeat["writes"],
                    round + 1,
                    "the repeat of a write that was given up is not a write"
                );
            }
        }
    }
    let stopped = stops.take(2).await;
    assert!(Stops::causes(&stopped).contains_key("caller_gone"), "{stopped:?}");
}

fn report(transport: &str, mut took: Vec<Duration>) {
    took.sort_unstable();
    let (median, most) = (took[took.len() / 2], took[took.len() - 1]);
    println!(
        "{} left over {transport}; the tool stopped within {median:?} in the median, {most:?} at most",
        took.len()
    );
}
