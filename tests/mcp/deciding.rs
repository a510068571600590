//! `toolwire mcp --decide-here`: the person at a client on this machine decides in its forms, in both eras, on the
//! tools of the program and on those of a server. Without the flag no form decides anything.

use std::{path::Path, process::Output, time::Duration};

use serde_json::{Value, json};
use tokio::process::Command;

use super::{
    client::{ERAS, Era, Message, Stdio, text},
    confirming::{confirmation_id, forms, house_with},
};
use crate::http::house::House;

/// The result of an elicitation.
fn reply(decision: Option<&str>, tool: &str) -> Value {
    match decision {
        Some(decision) => json!({"action": "accept", "content": {"decision": decision, "tool": tool}}),
        // As of a library that accepts every form.
        None => json!({"action": "accept", "content": {}}),
    }
}

/// Calls `debug_confirm` and answers each form with the next reply. Returns the forms and the result.
async fn call(stdio: &mut Stdio, era: Era, value: &str, replies: &[Value]) -> (Vec<Value>, Value) {
    let mut params = json!({"name": "debug_confirm", "arguments": {"value": value}});
    let (mut shown, mut replies) = (Vec::new(), replies.iter());
    let mut message = Message::with_capabilities(era, "tools/call", params.clone(), &forms());
    stdio.say(&message.body.to_string()).await;
    loop {
        let came = stdio.next().await;
        if came["method"] == "elicitation/create" {
            shown.push(came["params"].clone());
            let result = replies.next().unwrap_or_else(|| panic!("shown again: {came}"));
            let answer = json!({"jsonrpc": "2.0", "id": came["id"], "result": result});
            stdio.say(&answer.to_string()).await;
        } else if came["result"]["resultType"] == "input_required" {
            shown.push(came["result"]["inputRequests"]["confirmation"]["params"].clone());
            params["requestState"] = came["result"]["requestState"].clone();
            let result = replies.next().unwrap_or_else(|| panic!("shown again: {came}"));
            params["inputResponses"] = json!({"confirmation": result});
            message = Message::with_capabilities(era, "tools/call", params.clone(), &forms());
            stdio.say(&message.body.to_string()).await;
        } else if came["id"] == message.body["id"] {
            return (shown, came["result"].clone());
        }
    }
}

async fn toolwire(arguments: &[&str], state: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.args(arguments).env("TOOLWIRE_STATE", state).env("TOOLWIRE_DIAGNOSTICS", "true");
    command.output().await.unwrap()
}

/// The confirmations, as the command line shows them.
async fn confirmations(house: Option<&House>, state: &Path) -> Vec<Value> {
    let server = house.map(|house| format!("http://{}", house.server.address));
    let mut arguments = vec!["confirmations", "--all", "--json"];
    arguments.extend(server.iter().flat_map(|server| ["--server", server]));
    let output = toolwire(&arguments, state).await;
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs a test with a client of each era, on the program's own tools and on those of a server.
async fn each(flags: &[&str], test: impl AsyncFn(&mut Stdio, Era, Option<&House>)) {
    for era in ERAS {
        for is_own in [true, false] {
            let house = (!is_own).then(|| house_with(|_| ()));
            let server = house.as_ref().map(|house| format!("http://{}", house.server.address));
            let arguments: Vec<_> =
                server.iter().flat_map(|server| ["--server", server]).chain(flags.iter().copied()).collect();
            let mut stdio = Stdio::start(&arguments);
            stdio.greet_as(era, &forms()).await;
            test(&mut stdio, era, house.as_ref()).await;
        }
    }
}

#[tokio::test]
async fn the_person_at_the_client_decides_and_the_record_says_where() {
    each(&["--decide-here"], async |stdio, era, house| {
        let right = "debug_confirm";
        let (shown, done) = call(stdio, era, "one", &[reply(Some("approve"), right)]).await;
        assert_eq!(done["structuredContent"]["value"], "one", "{era:?} {done}");
        assert!(shown[0]["message"].as_str().unwrap().contains(r#""value":"one""#), "{shown:?}");
        assert!(shown[0]["requestedSchema"]["properties"]["tool"].is_object(), "{shown:?}");
        // A call of consequence `high` is approved only with the tool's name.
        let typed = ["", "debug", right].map(|name| reply(Some("approve"), name));
        let (shown, done) = call(stdio, era, "two", &typed).await;
        assert_eq!(done["structuredContent"]["value"], "two", "{era:?} {done}");
        assert!(
            shown[2]["message"].as_str().unwrap().starts_with("Your decision was not taken: "),
            "{shown:?}"
        );
        let (_, denied) = call(stdio, era, "three", &[reply(Some("deny"), "")]).await;
        assert!(text(&denied, 0).starts_with("FAILED CONFIRMATION_DENIED: "), "{era:?} {denied}");
        for nothing in [reply(None, ""), json!({"action": "decline"}), json!({"action": "cancel"})] {
            let (_, told) = call(stdio, era, "four", &[nothing]).await;
            assert!(text(&told, 0).starts_with("FAILED CONFIRMATION_REQUIRED: "), "{era:?} {told}");
        }
        let mut told: Vec<_> = confirmations(house, stdio.state.path())
            .await
            .iter()
            .map(|it| {
                let text = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
                let state = text("state").replace("CONFIRMATION_STATE_", "");
                (it["arguments"]["value"].as_str().unwrap().to_owned(), state, text("decided_via"))
            })
            .collect();
        told.sort_unstable();
        let server = house.map(|house| format!("http://{}", house.server.address));
        let mut arguments = vec!["audit", "--json"];
        arguments.extend(server.iter().flat_map(|server| ["--server", server]));
        let records = toolwire(&arguments, stdio.state.path()).await.stdout;
        let records = String::from_utf8(records).unwrap();
        let decisions = records.lines().filter(|line| line.contains(r#""confirmation_id":"conf_"#));
        assert!(decisions.clone().count() > 2, "{records}");
        for line in decisions.filter(|line| line.contains("DECISION")) {
            assert!(line.contains(r#""face":"mcp form""#), "{line}");
        }
        let expected = [
            ("four", "PENDING", ""),
            ("one", "USED", FORM),
            ("three", "DENIED", FORM),
            ("two", "USED", FORM),
        ];
        let expected =
            expected.map(|(value, state, via)| (value.to_owned(), state.to_owned(), via.to_owned()));
        assert_eq!(told, expected, "{era:?}");
    })
    .await;
}

const FORM: &str = "mcp form";

/// A client of the newer era shows one form, a client of the older era none, since that form would only delay the call.
#[tokio::test]
async fn without_the_flag_whatever_is_accepted_decides_nothing() {
    each(&[], async |stdio, era, house| {
        for accepted in [reply(None, ""), reply(Some("approve"), "debug_confirm")] {
            let value = accepted["content"].to_string();
            let (shown, told) = call(stdio, era, &value, &[accepted]).await;
            assert!(text(&told, 0).starts_with("FAILED CONFIRMATION_REQUIRED: "), "{era:?} {told}");
            assert_eq!(shown.len(), usize::from(era == Era::New), "{shown:?}");
            let named = shown.iter().map(|it| it["message"].as_str().unwrap());
            for message in named {
                assert!(message.contains("--decide-here") && message.contains("in_client"), "{message}");
            }
            let listed = confirmations(house, stdio.state.path()).await;
            let listed = listed.iter().find(|it| it["confirmation_id"] == confirmation_id(&told)).unwrap();
            assert_eq!(listed["state"], "CONFIRMATION_STATE_PENDING", "{listed}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_form_of_a_call_that_is_given_up_is_withdrawn() {
    let mut stdio = Stdio::start(&["--decide-here"]);
    stdio.greet_as(Era::Old, &forms()).await;
    let message = Message::call(Era::Old, "debug_confirm", &json!({"value": "x"}), &json!({}));
    stdio.say(&message.body.to_string()).await;
    let asked = stdio.next().await;
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let params = json!({"requestId": message.body["id"]});
    stdio
        .say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string())
        .await;
    let withdrawn = stdio.next().await;
    assert_eq!(withdrawn["method"], "notifications/cancelled", "{withdrawn}");
    assert_eq!(withdrawn["params"]["requestId"], asked["id"], "{withdrawn}");
}

/// In the older era, in which a call waits for the answer to its form.
#[tokio::test]
async fn a_decision_made_elsewhere_withdraws_the_form_and_ends_the_call() {
    each(&["--decide-here"], async |stdio, era, house| {
        if era == Era::New {
            return;
        }
        let server = house.map(|house| format!("http://{}", house.server.address));
        for (decision, flag, value) in [("approve", "--tool", "debug_confirm"), ("deny", "--reason", "no")] {
            let message = Message::call(era, "debug_confirm", &json!({"value": decision}), &json!({}));
            stdio.say(&message.body.to_string()).await;
            let asked = stdio.next().await;
            assert_eq!(asked["method"], "elicitation/create", "{asked}");
            let listed = confirmations(house, stdio.state.path()).await;
            let pending = listed.iter().find(|it| it["arguments"]["value"] == decision).unwrap();
            let mut arguments = vec![decision, pending["confirmation_id"].as_str().unwrap(), flag, value];
            arguments.extend(server.iter().flat_map(|server| ["--server", server]));
            let decided = toolwire(&arguments, stdio.state.path()).await;
            assert!(decided.status.success(), "{decided:?}");
            let mut told = [stdio.next().await, stdio.next().await];
            told.sort_by_key(|it| it["method"].is_null());
            let [withdrawn, end] = told;
            assert_eq!(withdrawn["method"], "notifications/cancelled", "{withdrawn}");
            assert_eq!(withdrawn["params"]["requestId"], asked["id"], "{withdrawn}");
            if decision == "approve" {
                assert_eq!(end["result"]["structuredContent"]["value"], decision, "{end}");
            } else {
                assert!(text(&end["result"], 0).starts_with("FAILED CONFIRMATION_DENIED: "), "{end}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn the_form_of_a_confirmation_that_expires_is_withdrawn_and_the_call_says_so() {
    let house = house_with(|config| config.confirmations.expire_in = Duration::from_secs(2));
    let server = format!("http://{}", house.server.address);
    let mut stdio = Stdio::start(&["--server", &server, "--decide-here"]);
    stdio.greet_as(Era::Old, &forms()).await;
    let message = Message::call(Era::Old, "debug_confirm", &json!({"value": "x"}), &json!({}));
    stdio.say(&message.body.to_string()).await;
    let asked = stdio.next().await;
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let mut told = [stdio.next().await, stdio.next().await];
    told.sort_by_key(|it| it["method"].is_null());
    let [withdrawn, end] = told;
    assert_eq!(withdrawn["params"]["requestId"], asked["id"], "{withdrawn}");
    assert!(text(&end["result"], 0).starts_with("FAILED CONFIRMATION_EXPIRED: "), "{end}");
}

#[tokio::test]
async fn the_flag_is_refused_where_a_client_is_not_this_machines() {
    let state = tempfile::tempdir().unwrap();
    let url = "http://127.0.0.1:50080/mcp";
    for arguments in [
        &["serve", "--decide-here"][..],
        &["mcp", "--print", "cursor", "--server", url, "--decide-here"],
        &["mcp", "--print", "codex", "--server", url, "--decide-here"],
    ] {
        let output = toolwire(arguments, state.path()).await;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {said}");
        assert!(
            said.contains("--decide-here is for") && said.contains("[confirmations] in_client"),
            "{said}"
        );
    }
    let output = toolwire(&["mcp", "--print", "cursor", "--decide-here"], state.path()).await;
    let file: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(file["mcpServers"]["toolwire"]["args"], json!(["mcp", "--decide-here"]));
}

#[tokio::test]
async fn the_program_says_at_its_start_what_an_answer_in_a_form_does() {
    let place = tempfile::tempdir().unwrap();
    let said = async |flags: &[&str], variables: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
        command.arg("mcp").args(flags).env("TOOLWIRE_STATE", place.path()).envs(variables.iter().copied());
        let output = command.stdin(std::process::Stdio::null()).output().await.unwrap();
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let plain = said(&[], &[]).await;
    assert!(plain.contains("decides nothing; --decide-here") && plain.contains("in_client"), "{plain}");
    assert!(said(&["--decide-here"], &[]).await.contains("approve and deny calls (--decide-here)"));
    let named = said(&[], &[("TOOLWIRE_CONFIRMATIONS_IN_CLIENT", "demo")]).await;
    assert!(named.contains("of demo approve and deny calls ([confirmations] in_client)"), "{named}");
}
