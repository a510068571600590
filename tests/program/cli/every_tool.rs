//! `toolwire call TOOL 2>/dev/null | jq .`, for every bundled tool by its first example, and the commands of
//! docs/TOOLS.md.

use std::{fs, os::unix::fs::symlink, path::Path, process::Stdio};

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::process::Command;
use toolwire::{
    config::Config,
    contract::proto::v1::{
        CallToolRequest, ToolContext,
        call_tool_request::{Input, Target},
        tool_service_client::ToolServiceClient,
    },
    domains,
    engine::registry::Status,
    server::app::App,
};

use super::{run, stderr, stdout};
use crate::support::program::Program;

/// What examples read or hand on.
const DOCUMENTS: [&str; 6] =
    ["sales_raw.csv", "sales_summary.csv", "analysis.md", "requirements.md", "charts.png", "report.md"];
/// The rows of each.
const ROWS: usize = 400;
/// The call whose result the examples of `read_result` read on in.
const EXAMPLE_CALL: &str = "0198c1f2-7d1e-7c3a-9d55-2f6a1b0c4e8f";
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
    fs::write(&file, format!("region,revenue\n{}", "EMEA: net revenue,1200\n".repeat(ROWS))).unwrap();
    for path in DOCUMENTS {
        let put = ["workspace", "put", &task, path, "--file", file.to_str().unwrap(), "--server", server];
        let put = run(&put).await;
        assert_eq!(put.status.code(), Some(0), "{put:?}");
    }
    task
}

fn is_object(printed: &str) -> bool {
    serde_json::from_str::<Value>(printed).is_ok_and(|it| it.is_object())
}

/// A call whose result is kept, since it is long.
async fn kept(program: &Program) -> String {
    let task = task(&format!("http://{}", program.address)).await;
    let arguments = json!({"path": "sales_raw.csv", "limit": ROWS});
    let request = CallToolRequest {
        target: Some(Target::Tool("ask_data".to_owned())),
        input: Some(Input::ArgumentsJson(arguments.to_string())),
        context: Some(ToolContext { task_id: task, ..ToolContext::default() }),
        keep_over_tokens: 256,
        ..CallToolRequest::default()
    };
    let mut client = ToolServiceClient::new(program.channel().await);
    client.call_tool(request).await.unwrap().into_inner().call_id
}

/// The commands of the page, without those of tools that are disabled.
fn commands(page: &str) -> Vec<&str> {
    let offered = page.split("\n## ").skip(1).filter(|section| !section.contains("\n- Disabled: "));
    offered.flat_map(blocks).collect()
}

/// What the text has for a shell.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next())
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
                assert!(is_object(printed), "{tool}: {printed}");
            }
        }
    });
    stream::iter(calls).buffered(4).collect::<()>().await;
}

#[tokio::test]
async fn the_commands_of_the_page_work() {
    let page = fs::read_to_string("docs/TOOLS.md").unwrap();
    let (intro, _) = page.split_once("\n## ").unwrap();
    let commands = commands(&page);
    assert!(commands.len() > 80, "{}", commands.len());
    let program = Program::start(Path::new("."), &[], &[]).await;
    let server = format!("http://{}", program.address);
    let folder = tempfile::tempdir().unwrap();
    symlink(env!("CARGO_BIN_EXE_toolwire"), folder.path().join("toolwire")).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let shell = |script: &str, task: String| {
        let mut shell = Command::new("sh");
        shell.args(["-euc", script]).env_clear().stdin(Stdio::null()).kill_on_drop(true);
        shell.env("PATH", &path).env("TOOLWIRE_SERVER", &server).env("TASK", task);
        async move { shell.output().await.unwrap() }
    };
    let before = blocks(intro).collect::<String>();
    let listed = shell(&format!("{before}toolwire call list_documents --task $TASK"), String::new()).await;
    assert!(stdout(&listed).contains("sales_raw.csv"), "{listed:?}");
    let kept = kept(&program).await;
    let calls = commands.into_iter().map(|command| {
        let (server, shell, kept) = (&server, &shell, &kept);
        async move {
            let task = if command.contains("$TASK") { task(server).await } else { String::new() };
            let output = shell(&command.replace(EXAMPLE_CALL, kept), task).await;
            assert!(output.status.success() && is_object(stdout(&output)), "{command}: {output:?}");
        }
    });
    stream::iter(calls).buffered(4).collect::<()>().await;
}
