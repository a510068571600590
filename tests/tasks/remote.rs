//! The command line over a server that is a process of its own: every command of tasks, documents, calls, confirmations
//! and the audit, with `--server`.

use std::{
    path::Path,
    process::{Command, Output},
};

use super::*;
use crate::support::program::Program;

/// The address of a server.
struct Remote(String);

impl Remote {
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
        command.args(arguments).args(["--server", &self.0, "--user", "riley"]).env_remove("TOOLWIRE_SERVER");
        command.output().unwrap()
    }

    #[track_caller]
    fn stdout(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        let (out, error) = (text(&ended.stdout), text(&ended.stderr));
        assert!(ended.status.success(), "{arguments:?}: {out}{error}");
        out
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let said = self.stdout(&[arguments, &["--json"]].concat());
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What a command that fails says.
    #[track_caller]
    fn fails(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {}", text(&ended.stdout));
        text(&ended.stderr)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_command_works_over_a_server() {
    let program = Program::start(Path::new("."), &[], &[]).await;
    let remote = Remote(format!("http://{}", program.address));
    tokio::task::spawn_blocking(move || {
        let root = tasks(&remote);
        documents(&remote, &root);
        confirmations(&remote, &root);
        looking(&remote, &root);
        ends(&remote, &root);
    })
    .await
    .unwrap();
}

fn tasks(remote: &Remote) -> String {
    let root = remote.stdout(&["tasks", "start", "Report on Q3", "--role", "lead"]).trim().to_owned();
    let call = |tool: &str, argument: &str| remote.stdout(&["call", tool, argument, "--task", &root]);
    call("stop_and_think", "thoughts=hm");
    call("ask_master", "question=Which year?");
    let tree = remote.stdout(&["tasks", &root]);
    assert!(tree.lines().nth(1).unwrap().contains("blocked (question)"), "{tree}");
    let listed = remote.json(&["tasks", &root]);
    let question = listed[1]["task_id"].as_str().unwrap();
    let blocked = remote.stdout(&["tasks", "--in", "blocked"]);
    assert!(blocked.contains(&root), "{blocked}");
    remote.stdout(&["tasks", "answer", question, "2024"]);
    let said = remote.fails(&["tasks", "answer", question, "2025"]);
    assert!(said.contains("answered before"), "{said}");
    let said = remote.fails(&["tasks", "resolve", &root, &new_id(), "--not-done", "--reason", "seen"]);
    assert!(said.contains("no such call whose end is not known"), "{said}");
    let said = remote.fails(&["tasks", "cancel", &format!("task_{}", "0".repeat(32))]);
    assert!(said.contains("NOT_FOUND") || said.contains("no task") || said.contains("No task"), "{said}");
    root
}

fn documents(remote: &Remote, root: &str) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("q3.md");
    std::fs::write(&file, "# Penguins\n\nThey swim.\n").unwrap();
    let workspace = |arguments: &[&str]| remote.stdout(&[&["workspace"], arguments].concat());
    let put = workspace(&["put", root, "q3.md", "--file", file.to_str().unwrap(), "--tag", "q3"]);
    assert!(put.starts_with("q3.md written: version 1"), "{put}");
    assert!(workspace(&["ls", root, "--tag", "q3"]).contains("q3.md"));
    assert_eq!(workspace(&["cat", root, "q3.md"]), "# Penguins\n\nThey swim.\n");
    assert!(workspace(&["search", root, "penguin"]).starts_with("q3.md"));
    assert!(workspace(&["rm", root, "q3.md"]).starts_with("q3.md deleted: version 2"));
    assert_eq!(workspace(&["versions", root, "q3.md"]).lines().count(), 3);
    let said = remote.fails(&["workspace", "cat", root, "q4.md"]);
    assert!(said.contains("q4.md"), "{said}");
}

fn confirmations(remote: &Remote, root: &str) {
    let id = new_id();
    let call = ["call", "debug_confirm", "value=x", "--task", root, "--request-id", &id];
    let asked = remote.run(&call);
    assert_eq!(asked.status.code(), Some(3), "{}", text(&asked.stderr));
    assert!(text(&asked.stderr).contains(&format!("--server {}", remote.0)), "{}", text(&asked.stderr));
    let listed = remote.json(&["confirmations"]);
    let confirmation = listed[0]["confirmation_id"].as_str().unwrap();
    assert!(remote.stdout(&["tasks", root]).contains("awaiting_confirmation"));
    remote.stdout(&["approve", confirmation, "--tool", "debug_confirm"]);
    assert!(remote.stdout(&call).contains("\"writes\": 1"));
    let said = remote.fails(&["deny", confirmation, "--reason", "too late"]);
    assert!(said.contains("CONFIRMATION_DECIDED") || said.contains("used"), "{said}");
}

fn looking(remote: &Remote, root: &str) {
    let calls = remote.json(&["calls"]);
    assert!(calls.iter().any(|call| call["tool"] == "debug_confirm"), "{calls:?}");
    let records = remote.json(&["audit"]);
    let confirmed = records.iter().filter(|it| it["tool"] == "debug_confirm");
    assert_eq!(confirmed.count(), 2, "the decision and the write: {records:?}");
    let kinds: Vec<_> =
        remote.json(&["timeline", root]).into_iter().map(|it| it["sequence"].clone()).collect();
    assert_eq!(kinds, (0..kinds.len()).map(|n| json!(n)).collect::<Vec<_>>());
    let model = remote.stdout(&["timeline", root, "--as-model"]);
    assert!(model.contains("Report on Q3"), "{model}");
    let from = remote.json(&["timeline", root, "--from", "2"]);
    assert_eq!(from[0]["sequence"], 2);
}

fn ends(remote: &Remote, root: &str) {
    remote.stdout(&["tasks", "cancel", root, "--reason", "no more"]);
    let told = remote.stdout(&["timeline", root, "--follow"]);
    assert!(told.lines().last().unwrap().contains("cancelled"), "{told}");
    assert!(remote.stdout(&["tasks", "--in", "cancelled"]).contains(root));
    let said = remote.fails(&["call", "stop_and_think", "thoughts=x", "--task", root]);
    assert!(said.contains("cancelled"), "{said}");
}
