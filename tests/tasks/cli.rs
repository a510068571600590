//! The command line: trees, timelines and answers, on a state of its own.

use std::process::{Command, Output};

use tempfile::TempDir;

use super::*;

/// Runs the program in its own process.
fn run(state: &TempDir, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.args(arguments).args(["--diagnostics", "--state"]).arg(state.path());
    command.env_remove("TOOLWIRE_SERVER");
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[test]
fn a_task_is_started_asked_answered_and_followed() {
    let state = tempfile::tempdir().unwrap();
    let (code, out, said) = run(&state, &["tasks", "start", "Report on Q3"]);
    assert_eq!(code, 0, "{said}");
    let root = out.trim().to_owned();
    let call = |tool: &str, argument: &str| {
        run(&state, &["call", tool, argument, "--task", &root, "--format", "json"])
    };
    assert_eq!(call("stop_and_think", "thoughts=hm").0, 0);
    let (code, out, said) = call("ask_master", "question=Which year?");
    assert_eq!(code, 0, "{out}{said}");
    let (code, out, said) = run(&state, &["tasks", &root]);
    assert_eq!(code, 0, "{said}");
    assert!(out.lines().nth(1).unwrap().contains("blocked (question)"), "{out}");
    let (_, out, _) = run(&state, &["tasks", &root, "--json"]);
    let tasks: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let question = tasks[1]["task_id"].as_str().unwrap();
    // Whoever answers finds it without knowing the tree, and can look at it alone.
    let (code, out, said) = run(&state, &["tasks", "--questions"]);
    assert_eq!(code, 0, "{said}");
    assert!(out.contains(question) && out.contains("question to a person: Which year?"), "{out}");
    assert!(!out.contains(&root), "{out}");
    let (_, out, _) = run(&state, &["tasks", question]);
    assert!(out.lines().nth(1).unwrap().starts_with(question), "{out}");
    let (code, _, said) = run(&state, &["tasks", "answer", question, "2024"]);
    assert_eq!(code, 0, "{said}");
    let (code, out, said) = run(&state, &["timeline", &root]);
    assert_eq!(code, 0, "{said}");
    let lines: Vec<_> = out.lines().collect();
    assert!(lines[1].contains("stop_and_think"), "{out}");
    assert!(lines[2].contains("→ asked a person"), "{out}");
    assert!(lines[3].contains("← answer from a person"), "{out}");
    let (_, from, _) = run(&state, &["timeline", &root, "--from", "3", "--json"]);
    let entry: Value = serde_json::from_str(from.lines().next().unwrap()).unwrap();
    assert_eq!(entry["sequence"], 3);

    let (code, _, said) = run(&state, &["tasks", "cancel", &root]);
    assert_eq!(code, 0, "{said}");
    let (_, out, _) = run(&state, &["tasks", "--in", "cancelled", "--in", "failed"]);
    assert!(out.contains(&root), "{out}");
    assert_eq!(run(&state, &["tasks", "--questions"]).2, "no such tasks\n");
    let (code, _, said) = run(&state, &["tasks", "cancel", &root]);
    assert_eq!((code, said.as_str()), (0, "it had ended; nothing was cancelled\n"));
    let (code, _, said) = run(&state, &["tasks", "answer", &root, "2024"]);
    assert_eq!(code, 1);
    assert!(said.contains("is not a question"), "{said}");
    // What has ended is followed to its end.
    let (code, out, said) = run(&state, &["timeline", &root, "--follow"]);
    assert_eq!(code, 0, "{said}");
    assert!(out.lines().last().unwrap().contains("cancelled"), "{out}");
}

#[test]
fn a_call_of_a_task_says_how_it_is_made_again() {
    let state = tempfile::tempdir().unwrap();
    let (_, out, _) = run(&state, &["tasks", "start", "Write it down"]);
    let call = ["call", "debug_confirm", "value=x", "--task", out.trim()];
    let (code, _, said) = run(&state, &call);
    assert_eq!(code, 3, "{said}");
    let again = said.lines().last().unwrap();
    assert!(again.contains("--request-id") && again.contains(&format!("--task {}", out.trim())), "{said}");
}

/// What a program gets by `GetConfirmation`, `GetCall` and `DeleteTask`, a person gets on the command line.
#[test]
fn one_confirmation_and_one_call_are_shown_whole_and_a_tree_is_deleted() {
    let state = tempfile::tempdir().unwrap();
    let (_, root, _) = run(&state, &["tasks", "start", "Write it down"]);
    let root = root.trim();
    let (_, out, said) = run(&state, &["call", "debug_confirm", "value=x", "--task", root]);
    let required: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{said}"));
    let id = required["confirmation_id"].as_str().unwrap();
    let (code, card, said) = run(&state, &["confirmations", id]);
    assert_eq!(code, 0, "{said}");
    assert!(card.contains(id) && card.contains("debug_confirm") && card.contains("\"x\""), "{card}");
    let (_, out, _) = run(&state, &["confirmations", id, "--json"]);
    let confirmation: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(confirmation["arguments"]["value"], "x");
    let (code, out, said) = run(&state, &["calls", confirmation["call_id"].as_str().unwrap(), "--json"]);
    assert_eq!(code, 0, "{said}");
    let call: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(call["confirmation_required"]["confirmation_id"], id, "{call}");
    assert_eq!(call["call"]["state"], "CALL_STATE_AWAITING_CONFIRMATION", "{call}");
    assert_eq!(run(&state, &["calls", "0193b0a0-0000-7000-8000-000000000000"]).0, 1);

    let (code, _, said) = run(&state, &["tasks", "delete", root]);
    assert!(code == 1 && said.contains("awaiting_confirmation"), "{code} {said}");
    run(&state, &["tasks", "cancel", root]);
    let (code, _, said) = run(&state, &["tasks", "delete", root]);
    assert_eq!(code, 0, "{said}");
    assert!(!run(&state, &["tasks"]).1.contains(root));
}
