//! The command line: what it shows of a call that waits, and how a person decides there.

use std::process::{Command, Output};

use super::*;

/// Runs the program in its own process on a state of its own.
fn run(state: &TempDir, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.args(arguments).args(["--diagnostics", "--state"]).arg(state.path());
    command.env_remove("TOOLWIRE_SERVER");
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[test]
fn without_a_terminal_nobody_is_asked_and_the_exit_code_is_3() {
    let state = tempfile::tempdir().unwrap();
    let id = RequestId::generate().to_string();
    let call = ["call", "debug_confirm", "value=x", "--request-id", id.as_str()];
    let (code, out, said) = run(&state, &call);
    assert_eq!(code, 3, "{said}");
    let card: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(card["arguments"], json!({"value": "x", "duration": "0s"}));
    let confirmation = card["confirmation_id"].as_str().unwrap();
    assert!(
        said.contains(&format!(
            "toolwire approve {confirmation} --tool debug_confirm --state {} --diagnostics=true",
            state.path().display()
        )),
        "{said}"
    );
    assert!(said.contains(&format!("call again with --request-id {id}")), "{said}");

    let (code, out, _) = run(&state, &["confirmations"]);
    assert_eq!(code, 0);
    assert!(out.lines().nth(1).unwrap().starts_with(&format!("{confirmation}  pending")), "{out}");
    let (code, out, _) = run(&state, &["confirmations", "--json"]);
    let listed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &listed["confirmation_id"]), (0, &card["confirmation_id"]));

    let (code, _, said) = run(&state, &["approve", confirmation]);
    assert_eq!(code, 1);
    assert!(said.contains("must repeat the name of the tool, debug_confirm"), "{said}");
    let (code, out, said) = run(&state, &["approve", confirmation, "--tool", "debug_confirm"]);
    assert_eq!(code, 0, "{said}");
    assert!(out.starts_with(&format!("{confirmation} approved: ")), "{out}");
    let (code, out, said) = run(&state, &call);
    assert_eq!(code, 0, "{said}");
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["writes"], 1);
    assert_eq!(run(&state, &["confirmations"]).1, "");
}

#[test]
fn a_denial_is_said_to_whoever_called() {
    let state = tempfile::tempdir().unwrap();
    let id = RequestId::generate().to_string();
    let call = ["call", "debug_confirm", "value=x", "--request-id", id.as_str(), "--format", "json"];
    let (code, out, _) = run(&state, &call);
    assert_eq!(code, 3);
    let event: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    let confirmation = event["confirmation_required"]["confirmation_id"].as_str().unwrap().to_owned();
    assert_eq!(run(&state, &["deny", &confirmation, "--reason", "not today"]).0, 0);
    let (code, out, _) = run(&state, &call);
    assert_eq!(code, 1);
    assert!(out.contains("CONFIRMATION_DENIED") && out.contains("not today"), "{out}");
}

/// Also a tool that demands nothing is asked for, if its caller says so; and what is printed to decide with works.
#[test]
fn a_call_can_ask_for_a_confirmation_and_the_printed_command_decides_it() {
    let state = tempfile::tempdir().unwrap();
    let id = RequestId::generate().to_string();
    let call = [
        "call",
        "debug_write",
        "value=x",
        "--require-confirmation",
        "--user",
        "riley",
        "--request-id",
        id.as_str(),
    ];
    let (code, _, said) = run(&state, &call);
    assert_eq!(code, 3, "{said}");
    let command = said.lines().find_map(|line| line.split_once("toolwire approve ")).unwrap().1;
    assert!(command.contains("--user riley"), "{command}");
    let arguments: Vec<_> = std::iter::once("approve").chain(command.split(' ')).collect();
    let mut approve = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    approve.args(arguments).env_remove("TOOLWIRE_SERVER");
    let Output { status, stderr, .. } = approve.output().unwrap();
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    let (code, out, said) = run(&state, &call);
    assert_eq!(code, 0, "{said}");
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["writes"], 1);
}
