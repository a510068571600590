//! The Tasks extension: what waits for a person or takes long is a task, which goes on without its client.

use serde_json::{Value, json};
use tokio::join;

use super::{
    client::text,
    confirming::{Approver, Client, approve_command, confirmation_id, house_with, tasks},
};
use crate::{
    http::talk::Talk,
    support::{data_directory, patch_json, program::Program},
};

#[track_caller]
fn task_id(result: &Value) -> String {
    assert_eq!((&result["resultType"], &result["status"]), (&json!("task"), &json!("working")), "{result}");
    result["taskId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_call_that_waits_for_a_person_is_a_task_that_goes_on_by_itself() {
    let house = house_with(|_| ());
    let person = Approver::of(&house, "riley").await;
    let client = Client::new(house.talk("riley"), tasks());
    let created = client.call("debug_confirm", json!({"value": "x"})).await;
    let (task, id) = (task_id(&created), confirmation_id(&created));
    let words = created["statusMessage"].as_str().unwrap();
    assert!(words.contains(&approve_command(&house, &id)) && words.contains(r#""value":"x""#), "{words}");
    assert_eq!((&created["ttlMs"], &created["pollIntervalMs"]), (&json!(86_400_000), &json!(2_000)));
    let working = client.task(&task).await;
    assert_eq!(
        (&working["result"]["status"], &working["result"]["statusMessage"]),
        (&json!("working"), &json!(words))
    );
    assert_eq!(
        client.ask("tasks/update", json!({"taskId": task, "inputResponses": {}})).await["result"]["resultType"],
        "complete"
    );
    person.approve(&id).await;
    let done = client.task_that_is(&task, "completed").await;
    assert_eq!(done["result"]["structuredContent"]["writes"], 1, "{done}");
    assert_eq!(client.task(&task).await["result"]["result"]["structuredContent"]["writes"], 1);
}

#[tokio::test]
async fn a_denied_task_is_completed_with_the_failure_and_a_cancelled_one_is_cancelled() {
    let house = house_with(|_| ());
    let person = Approver::of(&house, "riley").await;
    let client = Client::new(house.talk("riley"), tasks());
    let created = client.call("debug_confirm", json!({"value": "x"})).await;
    person.deny(&confirmation_id(&created)).await;
    let done = client.task_that_is(&task_id(&created), "completed").await;
    assert!(text(&done["result"], 0).starts_with("FAILED CONFIRMATION_DENIED: "), "{done}");

    let created = client.call("debug_confirm", json!({"value": "y"})).await;
    let cancelled = client.ask("tasks/cancel", json!({"taskId": task_id(&created)})).await;
    assert_eq!(cancelled["result"]["resultType"], "complete", "{cancelled}");
    client.task_that_is(&task_id(&created), "cancelled").await;
    let created = client.call("debug_confirm", json!({"value": "y"})).await;
    assert!(
        person.pending().await.iter().any(|it| it.confirmation_id == confirmation_id(&created)),
        "a new confirmation is requested"
    );
}

/// A client that lost the name of its task makes the call again: it is the same write until its outcome was seen.
#[tokio::test]
async fn a_lost_task_is_found_by_the_same_call_and_its_write_is_not_made_twice() {
    let house = house_with(|_| ());
    let person = Approver::of(&house, "riley").await;
    let client = Client::new(house.talk("riley"), tasks());
    let lost = client.call("debug_confirm", json!({"value": "x"})).await;
    let again = client.call("debug_confirm", json!({"value": "x"})).await;
    assert_eq!(confirmation_id(&lost), confirmation_id(&again));
    person.approve(&confirmation_id(&lost)).await;
    while person.get(&confirmation_id(&lost)).await.used_at.is_none() {
        tokio::task::yield_now().await;
    }
    house.server.app.tools.in_flight().wait_until_empty().await;
    let found = client.call("debug_confirm", json!({"value": "x"})).await;
    assert_eq!(found["structuredContent"]["writes"], 1, "{found}");
    task_id(&client.call("debug_confirm", json!({"value": "x"})).await);
}

/// The runner of a task ends with its process; the next `tasks/get` starts another one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_waits_goes_on_after_a_restart_whether_approved_before_or_after_it() {
    let place = tempfile::tempdir().unwrap();
    let start = async || {
        let state = place.path().join("state");
        let variables = [("TOOLWIRE_STATE", state.to_str().unwrap())];
        Program::start(place.path(), &["--http=127.0.0.1:0"], &variables).await
    };
    let client = |program: &Program| Client::new(Talk::to(program.http.unwrap(), "riley"), tasks());
    let program = start().await;
    let mut created = Vec::new();
    for value in ["before", "after"] {
        created.push(client(&program).call("debug_confirm", json!({"value": value})).await);
    }
    let approve = async |program: &Program, created: &Value| {
        Approver::over(program.channel().await, "riley").approve(&confirmation_id(created)).await;
    };
    program.kill().await;
    let program = start().await;
    approve(&program, &created[0]).await;
    let client = client(&program);
    let working = client.task(&task_id(&created[1])).await;
    let words = working["result"]["statusMessage"].as_str().unwrap();
    assert!(words.contains(&confirmation_id(&created[1])) && !words.contains("same call again"), "{words}");
    approve(&program, &created[1]).await;
    for created in created {
        let done = client.task_that_is(&task_id(&created), "completed").await;
        assert!(done["result"]["structuredContent"]["writes"].is_number(), "{done}");
    }
}

/// Sensitive arguments are not stored with the confirmation, so only the client can make the call again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_with_a_sensitive_argument_is_finished_by_the_same_call_after_a_restart() {
    let (place, data) = (tempfile::tempdir().unwrap(), data_directory());
    let manifest = data.path().join("tools/add_to_watchlist.json");
    let mut parameters: Value = serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
    parameters = parameters["parameters"].take();
    parameters["note"]["sensitive"] = json!(true);
    patch_json(&manifest, &json!({"parameters": parameters, "requires_confirmation": true}));
    let start = async || {
        let state = place.path().join("state");
        let variables = [("TOOLWIRE_STATE", state.to_str().unwrap())];
        let arguments = ["--http=127.0.0.1:0", "--data", data.path().to_str().unwrap()];
        Program::start(place.path(), &arguments, &variables).await
    };
    let client = |program: &Program| Client::new(Talk::to(program.http.unwrap(), "riley"), tasks());
    let arguments = json!({"symbol": "TCS", "note": "s3cret"});
    let program = start().await;
    let created = client(&program).call("add_to_watchlist", arguments.clone()).await;
    program.kill().await;
    let program = start().await;
    let client = client(&program);
    let working = client.task(&task_id(&created)).await;
    let words = working["result"]["statusMessage"].as_str().unwrap();
    assert!(
        words.contains(&confirmation_id(&created)) && words.contains("make the same call again"),
        "{words}"
    );
    Approver::over(program.channel().await, "riley").approve(&confirmation_id(&created)).await;
    let working = client.task(&task_id(&created)).await;
    assert_eq!(working["result"]["status"], "working", "it has not failed: {working}");
    let done = client.call("add_to_watchlist", arguments).await;
    assert!(done["structuredContent"].is_object(), "{done}");
    client.task_that_is(&task_id(&created), "completed").await;
}

/// As of a call without the extension.
#[tokio::test]
async fn the_result_of_a_task_is_shown_in_part_if_it_is_large() {
    let house = house_with(|config| config.http.mcp_max_result_tokens = 256);
    house.patch("get_activity", &json!({"requires_confirmation": true}));
    let person = Approver::of(&house, "riley").await;
    let client = Client::new(house.talk("riley"), tasks());
    let created = client.call("get_activity", json!({})).await;
    person.approve(&confirmation_id(&created)).await;
    let done = client.task_that_is(&task_id(&created), "completed").await;
    let kept = &done["result"]["_meta"]["toolwire/kept"];
    assert!(kept["tokens"].as_u64().unwrap() > 256, "{done}");
    assert!(text(&done["result"], 1).contains("read_result with call_id "), "{done}");
    let again = client.task(&task_id(&created)).await;
    assert_eq!(again["result"]["result"]["_meta"]["toolwire/kept"], *kept);
    let part = client.call("read_result", json!({"call_id": kept["call_id"]})).await;
    assert_eq!(part["structuredContent"]["tokens"], kept["tokens"], "{part}");
}

#[tokio::test]
async fn what_takes_long_becomes_a_task_and_what_does_not_is_answered() {
    let house = house_with(|_| ());
    let client = Client { timeout: "60s", ..Client::new(house.talk("riley"), tasks()) };
    let quick = client.call("debug_write", json!({"value": "quick"})).await;
    assert_eq!(quick["structuredContent"]["writes"], 1, "{quick}");
    let (read, write) = join!(
        client.call("debug_sleep", json!({"duration": "21s"})),
        client.call("debug_write", json!({"value": "slow", "duration": "21s"})),
    );
    let (read, write) = (task_id(&read), task_id(&write));
    let write = client.task_that_is(&write, "completed").await;
    assert_eq!(write["result"]["structuredContent"]["writes"], 2, "{write}");
    let read = client.task_that_is(&read, "completed").await;
    assert!(read["result"]["structuredContent"].is_object(), "{read}");
}

#[tokio::test]
async fn tasks_are_for_clients_that_know_them_and_are_named_by_the_server() {
    let house = house_with(|_| ());
    let client = Client::new(house.talk("riley"), json!({}));
    assert_eq!(client.task("x").await["error"]["code"], -32021);
    let client = Client::new(house.talk("riley"), tasks());
    for unknown in ["x", "01a20126-d81f-7000-8000-000000000000"] {
        for method in ["tasks/get", "tasks/cancel"] {
            let answer = client.ask(method, json!({"taskId": unknown})).await;
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
        }
    }
}
