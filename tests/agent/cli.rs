//! `toolwire chat`: the answer on standard output, everything else on standard error, and exit codes that tell ends
//! apart.

use std::process::{Output, Stdio};

use tokio::{io::AsyncWriteExt, process::Command};

use super::*;

/// Runs the program against the server; what it reads comes from a pipe.
async fn run(house: &House, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    let address = format!("http://{}", house.server.address);
    command.arg("chat").args(arguments).args(["--server", &address, "--user", "demo"]);
    command.env_remove("TOOLWIRE_SERVER").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).await.unwrap();
    drop(stdin);
    let Output { status, stdout, stderr } = child.wait_with_output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[tokio::test]
async fn one_message_is_answered_with_its_tools_and_sources_and_can_be_gone_on_with() {
    let house = House::new();
    let (code, out, said) = run(&house, &[&quotes().to_string()], "").await;
    assert_eq!((code, out.trim()), (0, "It is 193.12. [tool:quotes:v1]"), "{said}");
    assert!(said.contains(r#"🔧 get_quotes("AAPL")"#), "{said}");
    assert!(said.contains("[tool:quotes:v1] get_quotes, as of 2026-01-15"), "{said}");
    let session = said.split("--session ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let (code, ..) = run(&house, &[&quotes().to_string(), "--session", &session], "").await;
    let riley = house.person("demo").await;
    assert_eq!((code, riley.turns(&session).await.len()), (0, 2));
}

#[tokio::test]
async fn lines_of_standard_input_are_one_conversation() {
    let house = House::new();
    let clarify = json!({"plans": [{"clarify": "Which one?"}]});
    let lines = format!("{}\n\n{clarify}\n", quotes());
    let (code, out, said) = run(&house, &["--session", "s"], &lines).await;
    assert_eq!(code, 0, "{said}");
    assert!(out.contains("It is 193.12.") && out.contains("Which one?"), "{out}");
    assert_eq!(house.person("demo").await.turns("s").await.len(), 2);
}

#[tokio::test]
async fn programs_read_every_event_as_a_line_of_json() {
    let house = House::new();
    let (code, out, _) = run(&house, &["--json", &quotes().to_string()], "").await;
    let events: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((code, events[0]["sequence"].clone()), (0, json!(0)));
    let last = &events.last().unwrap()["final"];
    assert_eq!(last["response"]["citations"], json!(["tool:quotes:v1"]));
    assert_eq!(last["tool_results"][0]["arguments"], json!({"symbol": "AAPL"}));
}

#[tokio::test]
async fn exit_codes_tell_ends_apart() {
    let house = House::new();
    let script = |plan: Value| json!({"plans": [plan]}).to_string();
    let fails = script(json!({"calls": [call("debug_fail", &json!({"code": "NOT_FOUND"}))]}));
    let (code, out, said) = run(&house, &[&fails], "").await;
    assert_eq!(code, 1);
    assert!(out.trim().starts_with("I could not retrieve the data needed to answer."), "{out}");
    assert!(said.contains("? Can you double-check"), "{said}");
    let confirms = script(json!({"calls": [call("debug_confirm", &json!({"value": "x"}))]}));
    let (code, _, said) = run(&house, &[&confirms], "").await;
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("toolwire chat --resume "), "{said}");
    assert!(said.contains("  toolwire approve conf_") && said.contains("  toolwire deny conf_"), "{said}");
    let (code, _, said) = run(&house, &["--resume", &new_id()], "").await;
    assert_eq!(code, 1);
    assert!(said.contains("no turn"), "{said}");
    assert_eq!(run(&house, &["--resume", "42"], "").await.0, 2);
}

#[tokio::test]
async fn a_turn_that_waits_can_be_cancelled_and_the_session_goes_on() {
    let house = House::new();
    let confirms = json!({"plans": [{"calls": [call("debug_confirm", &json!({"value": "x"}))]}]}).to_string();
    let (code, _, said) = run(&house, &[&confirms, "--session", "s"], "").await;
    assert_eq!(code, 3, "{said}");
    let cancel = said.split("toolwire chat --cancel ").nth(1).expect("the command that cancels");
    let turn_id = cancel.split_whitespace().next().unwrap().to_owned();
    let (code, _, said) = run(&house, &[&quotes().to_string(), "--session", "s"], "").await;
    assert_eq!(code, 1);
    assert!(said.contains("toolwire chat --cancel TURN"), "{said}");
    let (code, _, said) = run(&house, &["--cancel", &turn_id], "").await;
    assert_eq!((code, said.trim()), (0, "cancelled"));
    let (code, out, said) = run(&house, &[&quotes().to_string(), "--session", "s"], "").await;
    assert_eq!((code, out.contains("193.12")), (0, true), "{said}");
    let (code, _, said) = run(&house, &["--cancel", &new_id()], "").await;
    assert_eq!(code, 1);
    assert!(said.contains("no turn") && !said.contains("toolwire list"), "{said}");
}

#[tokio::test]
async fn a_stream_that_breaks_off_ends_with_a_line_of_json_that_names_turn_and_session() {
    let house = House::new();
    let hang = json!({"plans": [{"hang": true}]}).to_string();
    let id = new_id();
    let arguments = ["--json", "--session", "s", "--request-id", &id, &hang];
    let cut = async {
        house.hung.waits(1).await;
        assert!(house.person("demo").await.cancel(Which::TurnId(id.clone())).await.unwrap());
    };
    let ((code, out, _), ()) = tokio::join!(run(&house, &arguments, ""), cut);
    let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!((code, &last["turn_id"], &last["session_id"]), (1, &json!(id), &json!("s")));
    assert_eq!(last["error"]["reason"], "TURN_CANCELLED");
}

#[tokio::test]
async fn a_conversation_ends_by_a_word_and_says_its_name() {
    let house = House::new();
    let lines = format!("{}\n/quit\n{}\n", quotes(), quotes());
    let (code, out, said) = run(&house, &[], &lines).await;
    assert_eq!((code, out.matches("193.12").count()), (0, 1), "{said}");
    let session = said.split("To go on: toolwire chat --session ").nth(1).expect("its name");
    let session = session.split(' ').next().unwrap();
    assert_eq!(house.person("demo").await.turns(session).await.len(), 1);
}

#[tokio::test]
async fn whoever_asks_for_help_is_told_what_can_be_asked() {
    let house = House::with(Mode::Embedded, |_| ());
    for asks in ["hello", "what can you do?", "Help!"] {
        let (code, out, said) = run(&house, &[asks], "").await;
        assert_eq!(code, 0, "{said}");
        assert!(out.contains("You can ask about:") && out.contains("\n- Quotes: "), "{out}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_failure_is_said_rather_than_to_use_another_symbol() {
    let house = House::new();
    let fails =
        |code| json!({"plans": [{"calls": [call("debug_fail", &json!({"code": code}))]}]}).to_string();
    for (failure, says) in [("TIMEOUT", "took too long"), ("UNAVAILABLE", "ask again later")] {
        let (code, out, said) = run(&house, &[&fails(failure)], "").await;
        assert_eq!(code, 1);
        assert!(out.contains(says) && !said.contains("different symbol"), "{out}{said}");
    }
}
