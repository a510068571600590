//! A caller who leaves: the tool stops.

use std::{env, time::Duration};

use serde_json::json;
use toolwire::base::clock;

use super::client::{ERAS, Era, Message, Stdio, house};
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

fn report(transport: &str, mut took: Vec<Duration>) {
    took.sort_unstable();
    let (median, most) = (took[took.len() / 2], took[took.len() - 1]);
    println!(
        "{} left over {transport}; the tool stopped within {median:?} in the median, {most:?} at most",
        took.len()
    );
}
