//! `toolwire mcp`: the program's own tools and those of a server.

use std::{path::Path, process::Command, time::Duration};

use serde_json::{Value, json};
use tokio::time::timeout;

use super::{
    client::{ERAS, Era, Message, SOON, Stdio, house, text},
    confirming::{Approver, approve_command, confirmation_id, house_with},
};
use crate::support::program::Program;

async fn quotes(stdio: &mut Stdio, era: Era) -> Value {
    let message = Message::call(era, "get_quotes", &json!({"symbol": "AAPL"}), &json!({}));
    stdio.ask(&message).await["result"].take()
}

#[tokio::test]
async fn the_tools_of_the_program_and_of_a_server_are_called_in_both_eras() {
    let house = house();
    let server = format!("http://{}", house.server.address);
    for arguments in [&[][..], &["--server", &server]] {
        for era in ERAS {
            let mut stdio = Stdio::start(arguments);
            stdio.greet(era).await;
            let list = stdio.ask(&Message::new(era, "tools/list", json!({}))).await;
            assert!(list["result"]["tools"].as_array().unwrap().len() > 40, "{list}");
            let result = quotes(&mut stdio, era).await;
            assert_eq!(serde_json::from_str::<Value>(text(&result, 0)).unwrap(), result["structuredContent"]);
        }
    }
}

#[tokio::test]
async fn what_a_person_approves_with_names_the_server() {
    let house = house_with(|_| ());
    let server = format!("http://{}", house.server.address);
    let mut stdio = Stdio::start(&["--server", &server]);
    stdio.greet(Era::Old).await;
    let meta = json!({"toolwire/timeout_ms": 6_000});
    let call = Message::call(Era::Old, "debug_confirm", &json!({"value": "x"}), &meta);
    let told = stdio.ask(&call).await["result"].take();
    let command = approve_command(&house, &confirmation_id(&told));
    assert!(text(&told, 0).contains(&command), "{told}");
    // The program tells the server of the client that has greeted it.
    let asked = Approver::of(&house, "demo").await.get(&confirmation_id(&told)).await;
    assert_eq!(asked.client, "t/1");
}

#[tokio::test]
async fn a_client_discovers_before_it_initializes() {
    let mut stdio = Stdio::start(&[]);
    let answer = stdio.ask(&Message::new(Era::New, "server/discover", json!({}))).await;
    assert_eq!(
        answer["result"]["capabilities"],
        json!({"tools": {"listChanged": true}, "extensions": {"io.modelcontextprotocol/tasks": {}}}),
        "{answer}"
    );
    stdio.greet(Era::Old).await;
    assert!(quotes(&mut stdio, Era::Old).await["structuredContent"].is_object());
}

#[tokio::test]
async fn lines_that_are_no_message_are_answered_and_end_nothing() {
    let mut stdio = Stdio::start(&[]);
    stdio.say("nonsense").await;
    assert_eq!(stdio.next().await["error"]["code"], -32700);
    stdio.say("[]").await;
    assert_eq!(stdio.next().await["error"]["code"], -32600);
    stdio.say(&"x".repeat(2 * 1024 * 1024)).await;
    assert_eq!(stdio.next().await["error"]["code"], -32600);
    stdio.greet(Era::Old).await;
    assert!(quotes(&mut stdio, Era::Old).await["structuredContent"].is_object());
}

/// A request beside another, whose identifier it must not have.
fn ping() -> Message {
    let mut ping = Message::new(Era::Old, "ping", json!({}));
    ping.body["id"] = "p".into();
    ping
}

#[tokio::test]
async fn a_request_with_the_id_of_one_without_an_answer_is_refused_and_not_carried_out() {
    let mut stdio = Stdio::start(&[]);
    stdio.greet(Era::Old).await;
    let write = |value: &str| {
        Message::call(Era::Old, "debug_write", &json!({"value": value, "duration": "1s"}), &json!({}))
    };
    stdio.say(&write("first").body.to_string()).await;
    let refused = stdio.ask(&write("second")).await;
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    let first = stdio.next().await;
    assert_eq!(first["result"]["structuredContent"]["writes"], 1, "{first}");
    let third = stdio.ask(&write("third")).await;
    assert_eq!(third["result"]["structuredContent"]["writes"], 2, "{third}");
}

#[tokio::test]
async fn at_the_end_of_input_reads_stop_and_the_program_ends_well() {
    let mut stdio = Stdio::start(&[]);
    stdio.greet(Era::Old).await;
    let message = Message::call(Era::Old, "debug_sleep", &json!({"duration": "60s"}), &json!({}));
    stdio.say(&message.body.to_string()).await;
    assert!(stdio.ask(&ping()).await["result"].is_object());
    stdio.input.take();
    let status = timeout(SOON, stdio.child.wait()).await.unwrap().unwrap();
    assert!(status.success(), "{status}");
}

#[tokio::test]
async fn a_write_that_has_begun_is_finished_after_the_end_of_input() {
    let mut stdio = Stdio::start(&[]);
    stdio.greet(Era::Old).await;
    let arguments = json!({"value": "x", "duration": "2s"});
    let message = Message::call(Era::Old, "debug_write", &arguments, &json!({"progressToken": 1}));
    stdio.say(&message.body.to_string()).await;
    assert!(stdio.ask(&ping()).await["result"].is_object());
    stdio.input.take();
    let answer = stdio.answer_to(&message).await;
    assert_eq!(answer["result"]["structuredContent"]["writes"], 1, "{answer}");
    assert!(timeout(SOON, stdio.child.wait()).await.unwrap().unwrap().success());
}

#[tokio::test]
async fn a_write_that_outlasts_the_forced_end_is_answered_with_an_unknown_outcome() {
    let drain = [("TOOLWIRE_DRAIN_LAME_DUCK", "1s"), ("TOOLWIRE_DRAIN_FORCED_END", "2s")];
    let mut stdio = Stdio::start_with(&[], &drain);
    stdio.greet(Era::Old).await;
    let write = Message::call(Era::Old, "debug_write", &json!({"value": "x", "duration": "60s"}), &json!({}));
    stdio.say(&write.body.to_string()).await;
    assert!(stdio.ask(&ping()).await["result"].is_object());
    stdio.input.take();
    let answer = stdio.answer_to(&write).await;
    assert_eq!(answer["result"]["_meta"]["toolwire/error"]["code"], "OUTCOME_UNKNOWN", "{answer}");
    assert!(timeout(SOON, stdio.child.wait()).await.unwrap().unwrap().success());
}

/// Its answer is lost, and the same `request_id` asks for it: nothing else may be sent again.
#[tokio::test]
async fn the_outcome_of_a_write_whose_server_is_killed_is_unknown() {
    let variables = [("TOOLWIRE_LOG_FILTER", "toolwire::diagnostics=debug")];
    let mut program = Program::start(Path::new("."), &[], &variables).await;
    let mut stdio = Stdio::start(&["--server", &format!("http://{}", program.address)]);
    stdio.greet(Era::Old).await;
    let arguments = json!({"value": "x", "duration": "30s"});
    let write = Message::call(Era::Old, "debug_write", &arguments, &json!({}));
    stdio.say(&write.body.to_string()).await;
    program.wait_for_log("work began").await;
    // What the server said of the write is sent before the answer to a later call on the same connection.
    let mut read = Message::call(Era::Old, "get_quotes", &json!({"symbol": "AAPL"}), &json!({}));
    read.body["id"] = "read".into();
    stdio.say(&read.body.to_string()).await;
    assert!(stdio.answer_to(&read).await["result"].is_object());
    program.kill().await;
    let answer = stdio.answer_to(&write).await;
    let error = &answer["result"]["_meta"]["toolwire/error"];
    let id = answer["result"]["_meta"]["toolwire/request_id"].as_str().unwrap();
    assert_eq!((&error["code"], &error["retryable"]), (&json!("OUTCOME_UNKNOWN"), &json!(true)), "{answer}");
    assert_eq!(error["request_id"], id);
    assert!(text(&answer["result"], 0).ends_with(&format!("call again with request_id {id}")), "{answer}");
}

/// Supervisors of processes send SIGTERM, often right after they have closed the input.
#[tokio::test]
async fn a_write_that_has_begun_is_answered_after_a_signal_to_end_and_a_read_is_cancelled() {
    let house = house();
    let server = format!("http://{}", house.server.address);
    for arguments in [&[][..], &["--server", &server]] {
        let mut stdio = Stdio::start(arguments);
        stdio.greet(Era::Old).await;
        let write =
            Message::call(Era::Old, "debug_write", &json!({"value": "x", "duration": "3s"}), &json!({}));
        stdio.say(&write.body.to_string()).await;
        let mut read = Message::call(Era::Old, "debug_sleep", &json!({"duration": "60s"}), &json!({}));
        read.body["id"] = "read".into();
        stdio.say(&read.body.to_string()).await;
        assert!(stdio.ask(&ping()).await["result"].is_object());
        let id = stdio.child.id().unwrap().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let answer = stdio.answer_to(&write).await;
        assert_eq!(answer["result"]["structuredContent"]["writes"], 1, "{answer}");
        // The end of the program may cut off the answer of the read.
        while let Some(line) = timeout(SOON, stdio.output.next_line()).await.unwrap().unwrap() {
            let answer: Value = serde_json::from_str(&line).unwrap();
            assert!(answer["id"] == "read" && answer["error"].is_object(), "{answer}");
        }
        assert!(timeout(SOON, stdio.child.wait()).await.unwrap().unwrap().success());
    }
}

/// Closes the input of a program whose output is not read. Returns the most memory it has held until its end, in KiB.
async fn end_unread(mut stdio: Stdio) -> u64 {
    stdio.input.take();
    let mut peak = 0;
    let ended = async {
        loop {
            peak = stdio.peak_memory_kib().max(peak);
            if let Ok(status) = timeout(Duration::from_millis(50), stdio.child.wait()).await {
                return status.unwrap();
            }
        }
    };
    // After a grace period of a second, and five seconds for a line.
    let status = timeout(Duration::from_secs(20), ended).await.expect("it ends");
    assert!(status.success(), "{status}");
    peak
}

fn list(id: u64) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}).to_string()
}

#[tokio::test]
async fn a_client_that_does_not_read_costs_little_and_does_not_hold_up_the_end() {
    let house = house();
    let server = format!("http://{}", house.server.address);
    for arguments in [&[][..], &["--server", &server]] {
        let mut stdio = Stdio::start(arguments);
        stdio.greet(Era::Old).await;
        let before = stdio.peak_memory_kib();
        for id in 0..3_000 {
            stdio.say(&list(id)).await;
        }
        let grown = end_unread(stdio).await.saturating_sub(before);
        assert!(grown < 256 * 1024, "{grown} KiB");
    }
}

/// More than is read while nothing is answered: the end is behind it.
#[tokio::test]
async fn what_is_never_read_does_not_hide_the_end_of_input() {
    let drain = [("TOOLWIRE_DRAIN_LAME_DUCK", "1s"), ("TOOLWIRE_DRAIN_FORCED_END", "1s")];
    let mut stdio = Stdio::start_with(&[], &drain);
    stdio.greet(Era::Old).await;
    let (mut id, mut written) = (1_000, 0);
    // The program takes a mebibyte and a few lines; the rest is in the pipe.
    while written < 1024 * 1024 + 32 * 1024 {
        let line = list(id);
        stdio.say(&line).await;
        (id, written) = (id + 1, written + line.len() + 1);
    }
    end_unread(stdio).await;
}

#[tokio::test]
async fn a_write_whose_progress_is_not_read_does_not_hold_up_the_end() {
    let mut stdio = Stdio::start(&[]);
    stdio.greet(Era::Old).await;
    for id in 1_000..1_010 {
        stdio.say(&list(id)).await;
    }
    let arguments = json!({"value": "x", "duration": "1s"});
    let message = Message::call(Era::Old, "debug_write", &arguments, &json!({"progressToken": 1}));
    stdio.say(&message.body.to_string()).await;
    end_unread(stdio).await;
}

#[tokio::test]
async fn a_call_is_cancelled_while_the_answers_of_others_are_not_read() {
    let mut stdio = Stdio::start(&[]);
    stdio.greet(Era::Old).await;
    let read = Message::call(Era::Old, "debug_sleep", &json!({"duration": "60s"}), &json!({}));
    stdio.say(&read.body.to_string()).await;
    for id in 1_000..1_200 {
        stdio.say(&list(id)).await;
    }
    let params = json!({"requestId": read.body["id"]});
    stdio
        .say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string())
        .await;
    for _ in 0..200 {
        let answer = stdio.next().await;
        assert!(answer["result"]["tools"].is_array(), "{answer}");
    }
    // Its identifier is free, and nothing of it goes on.
    let again = Message { body: json!({"jsonrpc": "2.0", "id": read.body["id"], "method": "ping"}), ..read };
    assert!(stdio.ask(&again).await["result"].is_object());
}
