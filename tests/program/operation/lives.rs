//! What ends with what, however it ends: a server with the process that started it, and its children with a server.

use std::{fs, path::Path, process::Stdio};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use tempfile::TempDir;
use tokio::{
    io::{Interest, unix::AsyncFd},
    process::{Child, Command},
    time::{Duration, timeout},
};
use tonic::transport::Channel;

use super::terminate;
use crate::support::program::Program;

const FAMILY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/mcp_family.py");
const SOON: Duration = Duration::from_secs(10);

/// A server whose MCP server has children, and the numbers of all of these.
async fn with_family(directory: &TempDir) -> (Program, Vec<Pid>) {
    let config = format!(
        "[providers.family]\nkind = 'mcp'\ncommand = ['/usr/bin/python3', '{FAMILY}']\nenv = ['NOTES']\n"
    );
    fs::write(directory.path().join("toolwire.toml"), config).expect("written");
    let notes = directory.path().join("notes");
    let variables = [("NOTES", notes.to_str().expect("a path")), ("TOOLWIRE_DRAIN_LAME_DUCK", "0s")];
    let mut program = Program::start(directory.path(), &[], &variables).await;
    program.wait_for_log("an MCP server is connected").await;
    let lines = fs::read_to_string(notes).expect("noted");
    let ids = lines.trim().strip_prefix("family ").expect("its family").split(' ');
    let ids = ids.map(|id| Pid::from_raw(id.parse().expect("a number")).expect("a process"));
    (program, ids.collect())
}

/// Opened while it lives, so that it is this process and no later one of its number.
fn watch(id: Pid) -> AsyncFd<std::os::fd::OwnedFd> {
    let process = pidfd_open(id, PidfdFlags::empty()).expect("alive");
    #[allow(deprecated, reason = "what replaces it is unsafe; an owned descriptor is what that asks for")]
    AsyncFd::with_interest(process, Interest::READABLE).expect("can be waited for")
}

#[tokio::test]
async fn all_that_an_mcp_server_has_started_ends_with_a_killed_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let (program, family) = with_family(&directory).await;
    let watched: Vec<_> = family.iter().map(|id| watch(*id)).collect();
    assert_eq!(watched.len(), 5);
    kill_process(program.pid(), Signal::KILL).expect("running");
    for (number, process) in watched.iter().enumerate() {
        let ended = timeout(SOON, process.readable()).await;
        assert!(matches!(ended, Ok(Ok(_))), "{number} of {family:?} lives");
    }
}

#[tokio::test]
async fn all_that_an_mcp_server_has_started_ends_with_a_server_that_drains() {
    let directory = tempfile::tempdir().expect("a directory");
    let (program, family) = with_family(&directory).await;
    // But for the one without a variable, whose parent is gone when what is left is looked for.
    let watched: Vec<_> = [0, 1, 2, 4].map(|at| watch(family[at])).into();
    terminate(&program);
    for process in &watched {
        assert!(matches!(timeout(SOON, process.readable()).await, Ok(Ok(_))), "it ends");
    }
    assert!(program.wait_end().await.0.success());
}

/// A process, and a server that is to end with it and whose drain would take an hour.
async fn with_starter() -> (Child, Program, Channel) {
    let starter = Command::new("sleep").arg("600").kill_on_drop(true).spawn().expect("starts");
    let id = starter.id().expect("running").to_string();
    let patient = [("TOOLWIRE_DRAIN_LAME_DUCK", "1h"), ("TOOLWIRE_DRAIN_FORCED_END", "1h")];
    let program = Program::start(Path::new("."), &["--parent", &id], &patient).await;
    // Without a connection there would be no drain.
    let connected = program.channel().await;
    (starter, program, connected)
}

#[tokio::test]
async fn a_server_ends_with_the_process_that_it_is_told_of() {
    let (mut starter, mut program, _connected) = with_starter().await;
    // It is not reaped until later, as where the parent of a killed process does not look.
    starter.start_kill().expect("running");
    program.wait_for_log("the process that started the server has ended").await;
    let (status, _) = timeout(SOON, program.wait_end()).await.expect("it ends");
    assert!(status.success());
}

#[tokio::test]
async fn a_server_whose_starter_has_ended_before_ends_too() {
    let mut starter = Command::new("true").stdin(Stdio::null()).spawn().expect("starts");
    let id = starter.id().expect("running").to_string();
    starter.wait().await.expect("ends");
    let program = Program::start(Path::new("."), &["--parent", &id], &[]).await;
    assert!(timeout(SOON, program.wait_end()).await.expect("it ends").0.success());
}

#[tokio::test]
async fn a_signal_before_does_not_let_a_server_outlive_its_starter() {
    let (mut starter, mut program, _connected) = with_starter().await;
    terminate(&program);
    program.wait_for_log("draining").await;
    starter.start_kill().expect("running");
    assert!(timeout(SOON, program.wait_end()).await.expect("it ends").0.success());
}
