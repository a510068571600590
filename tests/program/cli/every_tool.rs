//! `toolwire call TOOL 2>/dev/null | jq .`, for every bundled tool by its first example.

use std::{fs, path::Path};

use futures_util::{StreamExt, stream};
use serde_json::Value;
use toolwire::{config::Config, domains, engine::registry::Status, server::app::App};

use super::{run, stderr, stdout};
use crate::support::program::Program;

/// What examples read or hand on.
const DOCUMENTS: [&str; 5] =
    ["sales_raw.csv", "sales_summary.csv", "analysis.md", "requirements.md", "charts.png"];
/// The tools that fail on purpose, and the one whose example names a result that has not been kept.
const FAIL: [&str; 3] = ["debug_fail", "debug_panic", "read_result"];
/// The tools that a person must approve: the confirmation is printed.
const WAIT: [&str; 2] = ["debug_confirm", "debug_confirm_nested"];

/// The tools of the program, those for diagnostics included, each with the arguments of its first example.
fn examples() -> Vec<(String, Value)> {
    let directory = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.state.dir = Some(directory.path().to_owned());
    config.server.diagnostics = true;
    let app = App::build(&config, &domains::bundled()).unwrap();
    let snapshot = app.registry.snapshot();
    let ready = snapshot.tools().map(|tool| &tool.definition).filter(|it| it.status == Status::Ready);
    ready.map(|it| (it.name.to_string(), it.examples[0].arguments.clone().into())).collect()
}

/// A task with the documents.
async fn task(server: &str) -> String {
    let started = run(&["tasks", "start", "Report", "--server", server]).await;
    let task = stdout(&started).trim().to_owned();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("table.csv");
    fs::write(&file, "a,b\n1,2\n").unwrap();
    for path in DOCUMENTS {
        let put = ["workspace", "put", &task, path, "--file", file.to_str().unwrap(), "--server", server];
        let put = run(&put).await;
        assert_eq!(put.status.code(), Some(0), "{put:?}");
    }
    task
}

#[tokio::test]
async fn standard_output_has_the_result_alone() {
    let tools = examples();
    assert!(tools.len() > 50, "{}", tools.len());
    let program = Program::start(Path::new("."), &[], &[]).await;
    let server = format!("http://{}", program.address);
    let calls = tools.into_iter().map(|(tool, arguments)| {
        let server = server.clone();
        async move {
            let arguments = arguments.to_string();
            let line = ["call", &tool, "--json", &arguments, "--server", &server];
            let mut output = run(&line).await;
            if output.status.code() == Some(1) && stderr(&output).contains("task_id") {
                output = run(&[&line[..], &["--task", &task(&server).await]].concat()).await;
            }
            let printed = stdout(&output);
            let expected = match &*tool {
                fails if FAIL.contains(&fails) => 1,
                waits if WAIT.contains(&waits) => 3,
                _ => 0,
            };
            assert_eq!(output.status.code(), Some(expected), "{tool}: {output:?}");
            if expected == 1 {
                assert_eq!(printed, "", "{tool}: a failure has no result");
            } else {
                assert!(
                    serde_json::from_str::<Value>(printed).is_ok_and(|it| it.is_object()),
                    "{tool}: {printed}"
                );
            }
        }
    });
    stream::iter(calls).buffered(4).collect::<()>().await;
}
