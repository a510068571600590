//! A caller who leaves: the tool stops.

use std::{cell::Cell, env, time::Duration};

use serde_json::{Value, json};
use toolwire::{base::clock, engine::pipeline::InFlight};

use super::client::{ERAS, Era, Message, OLD, Stdio, house, messages};
use crate::{
    http::{
        house::House,
        raw::Raw,
        talk::{Answer, Talk},
    },
    support::{state, stops::Stops},
};

/// A client of the older revisions.
struct Client {
    talk: Talk,
    session: String,
}

impl Client {
    async fn greet(talk: Talk) -> Self {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": OLD, "capabilities": {}, "clientInfo": client});
        let answer = Message::new(Era::Old, "initialize", params).send(&talk, "/mcp").await;
        let session = answer.headers["mcp-session-id"].to_str().unwrap().to_owned();
        Self { talk, session }
    }

    /// The same one, whose requests reach another server.
    fn at(&self, house: &House) -> Self {
        Self { talk: house.talk("riley"), session: self.session.clone() }
    }

    async fn send(&self, mut message: Message) -> Answer {
        message.headers.push(("mcp-session-id", self.session.clone()));
        message.send(&self.talk, "/mcp").await
    }

    /// Gives its request up, and leaves the response open.
    async fn cancel(&self) {
        let mut message = Message::new(Era::Old, "notifications/cancelled", json!({"requestId": 7}));
        message.body.as_object_mut().unwrap().remove("id");
        assert_eq!(self.send(message).await.status, 202);
    }
}

/// The answer to a call that one client gives up by itself, after another one has tried to.
async fn answer_to_cancelled(
    call: impl Future<Output = Answer>,
    in_flight: &InFlight,
    client: &Client,
    other: &Client,
) -> Value {
    let is_answered = Cell::new(false);
    let call = async {
        let answer = call.await;
        is_answered.set(true);
        answer
    };
    let give_up = async {
        while in_flight.is_empty() {
            tokio::task::yield_now().await;
        }
        other.cancel().await;
        // A write goes on even if it is cancelled, but is then answered.
        assert!(!is_answered.get() && !in_flight.is_empty(), "another client cancels nothing");
        client.cancel().await;
    };
    let (answer, ()) = tokio::join!(call, give_up);
    in_flight.wait_until_empty().await;
    messages(&answer).pop().unwrap()
}

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

#[tokio::test]
async fn what_a_client_cancels_over_http_counts_as_unanswered() {
    let (stops, _guard) = Stops::of_this_thread();
    let house = house();
    let in_flight = house.server.app.tools.in_flight();
    let (client, other) =
        (Client::greet(house.talk("riley")).await, Client::greet(house.talk("riley")).await);
    for (round, meta) in [json!({}), json!({"progressToken": 1})].into_iter().enumerate() {
        for (tool, arguments) in [
            ("debug_sleep", json!({"duration": "60s"})),
            ("debug_write", json!({"value": meta.to_string(), "duration": "0.5s"})),
        ] {
            let call = || client.send(Message::call(Era::Old, tool, &arguments, &meta));
            let answer = answer_to_cancelled(call(), in_flight, &client, &other).await;
            assert!(answer["error"]["message"].as_str().unwrap().contains("cancelled"), "{answer}");
            if tool == "debug_write" {
                assert_eq!(
                    writes(&call().await),
                    round + 1,
                    "the repeat of a write that was given up is not a write"
                );
            }
        }
    }
    let stopped = stops.take(2).await;
    assert!(Stops::causes(&stopped).contains_key("caller_gone"), "{stopped:?}");
}

/// As a balancer gives them to replicas of one state.
#[tokio::test]
async fn what_a_client_cancels_at_another_server_counts_as_unanswered() {
    let directory = tempfile::tempdir().unwrap();
    let house = || {
        House::with(|config| {
            config.server.diagnostics = true;
            state::keep_in(&mut config.state, directory.path());
        })
    };
    let (house, elsewhere) = (house(), house());
    for server in [&house, &elsewhere] {
        server.server.app.state.wait_until_seen().await;
    }
    let in_flight = house.server.app.tools.in_flight();
    let (client, other) =
        (Client::greet(house.talk("riley")).await, Client::greet(house.talk("riley")).await);
    let (away, other_away) = (client.at(&elsewhere), other.at(&elsewhere));
    for (round, meta) in [json!({}), json!({"progressToken": 1})].into_iter().enumerate() {
        let arguments = json!({"value": meta.to_string(), "duration": "3s"});
        let call = || client.send(Message::call(Era::Old, "debug_write", &arguments, &meta));
        let answer = answer_to_cancelled(call(), in_flight, &away, &other_away).await;
        assert!(answer["error"]["message"].as_str().unwrap().contains("cancelled"), "{answer}");
        assert_eq!(
            writes(&call().await),
            round + 1,
            "the repeat of a write that was given up is not a write"
        );
    }
    let arguments = json!({"duration": "60s"});
    let sleep = client.send(Message::call(Era::Old, "debug_sleep", &arguments, &json!({})));
    let answer = answer_to_cancelled(sleep, in_flight, &away, &other_away).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("cancelled"), "{answer}");
}

/// The number of writes that a result of `debug_write` counts.
fn writes(answer: &Answer) -> Value {
    messages(answer).pop().unwrap()["result"]["structuredContent"]["writes"].take()
}

fn report(transport: &str, mut took: Vec<Duration>) {
    took.sort_unstable();
    let (median, most) = (took[took.len() / 2], took[took.len() - 1]);
    println!(
        "{} left over {transport}; the tool stopped within {median:?} in the median, {most:?} at most",
        took.len()
    );
}
