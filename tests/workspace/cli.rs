//! `toolwire workspace`: over a server, and over the program's own state.

use std::{
    collections::HashMap,
    ffi::OsString,
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
};

use crate::support::state;
use serde_json::Value;

use super::{House, root};

/// A command of the program's, with arguments that say which documents are meant.
struct Program {
    target: Vec<String>,
    variables: HashMap<String, OsString>,
}

impl Program {
    fn run(&self, arguments: &[&str], input: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
        command.arg("workspace").args(arguments).args(&self.target);
        command.env_remove("TOOLWIRE_SERVER").envs(&self.variables);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    #[track_caller]
    fn said(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments, "");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8(ended.stdout).unwrap()
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let said = self.said(&[arguments, &["--json"]].concat());
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// What a person does with documents, one after the other.
fn tour(program: &Program, task: &str, directory: &Path) {
    let file = directory.join("report.md");
    std::fs::write(&file, "# Penguins\n\nThey swim.\n").unwrap();
    let file = file.to_str().unwrap();
    let put =
        program.said(&["put", task, "reports/q3.md", "--file", file, "--tag", "Q3", "--why", "asked for"]);
    assert!(put.starts_with("reports/q3.md written: version 1, etag "), "{put}");
    let piped = program.run(&["put", task, "notes.txt", "--json"], "from a pipe");
    let piped: Value = serde_json::from_slice(&piped.stdout).unwrap();
    assert_eq!((&piped["path"], &piped["size_bytes"]), (&"notes.txt".into(), &11.into()));

    let listed = program.said(&["ls", task]);
    assert!(listed.starts_with("PATH ") && listed.contains("reports/q3.md  1 "), "{listed}");
    assert_eq!(program.json(&["ls", task, "--tag", "q3"])[0]["mime_type"], "text/markdown");
    assert_eq!(program.json(&["ls", task, "--type", "image/*"]), Vec::<Value>::new());
    assert_eq!(program.said(&["cat", task, "reports/q3.md"]), "# Penguins\n\nThey swim.\n");
    let known = &program.json(&["cat", task, "reports/q3.md"])[0];
    assert_eq!(known["content_json"]["blocks"]["000001"]["text"], "Penguins", "{known}");
    let found = program.said(&["search", task, "penguin"]);
    assert_eq!(found, "reports/q3.md\n    # Penguins They swim.\n");

    let stale = program.run(&["put", task, "notes.txt", "--etag", "old"], "x");
    let told = String::from_utf8_lossy(&stale.stderr);
    assert!(stale.status.code() == Some(1) && told.contains("ABORTED: notes.txt has changed"), "{told}");
    let gone = program.said(&["rm", task, "notes.txt"]);
    assert!(gone.starts_with("notes.txt deleted: version 2"), "{gone}");
    let versions = program.said(&["versions", task, "notes.txt"]);
    assert!(versions.contains("2 (deleted)") && versions.lines().count() == 3, "{versions}");
    let unknown = program.run(&["cat", task, "reports/q4.md"], "");
    let told = String::from_utf8_lossy(&unknown.stderr);
    assert!(told.contains("Did you mean reports/q3.md?") && told.contains("workspace ls"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_a_server() {
    let house = House::open();
    let riley = house.person("riley").await;
    let server = format!("http://{}", house.server.address);
    let target = ["--server", &server, "--user", "riley"].map(ToOwned::to_owned).into();
    let directory = tempfile::tempdir().unwrap();
    let program = Program { target, variables: HashMap::new() };
    tokio::task::spawn_blocking(move || tour(&program, &riley.task, directory.path())).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_the_programs_own_state() {
    let directory = tempfile::tempdir().unwrap();
    let state = state::at(directory.path());
    let task = root(&state, "demo", false).await;
    let program = Program { target: Vec::new(), variables: state::variables([], directory.path()) };
    tokio::task::spawn_blocking(move || tour(&program, &task, directory.path())).await.unwrap();
}
