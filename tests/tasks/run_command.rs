//! `toolwire tasks run`: what is done is shown, what the task ends with is printed, and exit codes tell ends apart.

use std::process::Output;

use tokio::process::Command;
use toolwire::sources::models::scripted::{Scripted, calls, text};

use super::{
    runs::{House, call, seen},
    *,
};

async fn run(house: &House, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    let address = format!("http://{}", house.server.address);
    command.args(["tasks", "run"]).args(arguments).args(["--server", &address, "--user", "riley"]);
    let Output { status, stdout, stderr } = command.env_remove("TOOLWIRE_SERVER").output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[tokio::test]
async fn a_run_shows_which_tasks_are_worked_on_and_prints_what_comes_out() {
    let model = Scripted::by(|request, _| match (seen(request), request.messages.len()) {
        ((0, "root"), _) => calls([call("route_to_analyst", json!({"request": "Look at Apple"}))]),
        ((_, "root"), _) => text("Apple is at 193.12."),
        ((0, _), _) => calls([call("get_quotes", json!({"symbol": "AAPL"}))]),
        _ => calls([call("handoff", json!({"result": {"price": 193.12}}))]),
    });
    let house = House::new(Some(&model));
    let root = person(&house.server, "riley").await.create("What is Apple at?").await.task;
    let (code, out, said) = run(&house, &[&root]).await;
    assert_eq!((code, out.trim()), (0, "Apple is at 193.12."), "{said}");
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines[0], root, "{said}");
    assert!(said.contains(r#"🔧 get_quotes("AAPL")"#), "{said}");
    let worked_on: Vec<_> = lines.iter().filter(|line| line.starts_with("task_")).collect();
    assert_eq!((worked_on.len(), worked_on[2]), (3, &root.as_str()), "{said}");
    // It has ended: the same again, for programs.
    let (code, out, _) = run(&house, &[&root, "--json"]).await;
    let events: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(code, 0, "{out}");
    let last = &events.last().unwrap()["final"]["response"]["answer_markdown"];
    assert_eq!(last.as_str(), Some("Apple is at 193.12."));
}

#[tokio::test]
async fn exit_codes_tell_what_waits_from_what_failed() {
    let model = Scripted::by(|request, _| match seen(request) {
        (0, _) => calls([call("ask_master", json!({"question": "Which quarter?"}))]),
        _ => text("Q3."),
    });
    let house = House::new(Some(&model));
    let riley = person(&house.server, "riley").await;
    let root = riley.create("Report").await.task;
    let (code, out, said) = run(&house, &[&root]).await;
    assert_eq!((code, out.as_str()), (3, ""), "{said}");
    assert!(said.contains(&format!("{root} blocked, waits for an answer to task_")), "{said}");
    assert!(said.contains(&format!("Then go on: toolwire tasks run {root} --server http://")), "{said}");
    let (code, _, said) = run(&house, &["task_0195f1c2-7a4b-7c3d-8e5f-0123456789ab"]).await;
    assert_eq!(code, 1, "{said}");
    let without = House::new(None);
    let root = person(&without.server, "riley").await.create("Report").await.task;
    let (code, _, said) = run(&without, &[&root]).await;
    assert!(code == 1 && said.contains("agent.model"), "{said}");
}

#[tokio::test]
async fn what_waits_for_approval_is_printed_where_nobody_can_be_asked() {
    let model = Scripted::by(|_, _| calls([call("debug_confirm", json!({"value": "x"}))]));
    let house = House::new(Some(&model));
    let root = person(&house.server, "riley").await.create("Do it").await.task;
    let (code, out, said) = run(&house, &[&root]).await;
    assert_eq!(code, 3, "{said}");
    let required: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(required["tool"], "debug_confirm");
}
