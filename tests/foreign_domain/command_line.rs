//! The toys through the command line, in process: what a team's own `main` hands its arguments to.
//!
//! Each test runs itself again as a child, whose standard output can be read.

use std::{
    env,
    process::{Command, ExitCode, Output, Stdio},
};

use toolwire::cli;

use crate::foreign_domain::toys::toy;

/// Set in a child: the arguments of the command line, one a line.
const ARGUMENTS: &str = "FOREIGN_DOMAIN_ARGUMENTS";

/// In a child, runs the command line it was made for. Whether this is one.
fn ran_as_child() -> bool {
    let Ok(arguments) = env::var(ARGUMENTS) else { return false };
    let done = cli::run(arguments.lines().map(Into::into), &[toy()]);
    assert_eq!(done, ExitCode::SUCCESS);
    true
}

/// Runs the named test as a child with the given words, and a state of its own.
fn run(test: &str, words: &[&str]) -> Output {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().display().to_string();
    let arguments = [&["toolwire"], words, &["--state", &folder]].concat().join("\n");
    Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            &format!("{}::{test}", module_path!().trim_start_matches("suite::")),
            "--nocapture",
        ])
        .env(ARGUMENTS, arguments)
        .env_remove("TOOLWIRE_SERVER")
        .env_remove("TOOLWIRE_DATA")
        .current_dir(state.path())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[track_caller]
fn printed(output: Output) -> String {
    let (text, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}{said}");
    text
}

#[test]
fn the_command_line_lists_the_toys_alone() {
    if ran_as_child() {
        return;
    }
    let text = printed(run("the_command_line_lists_the_toys_alone", &["list"]));
    let tools: Vec<_> = text.lines().filter(|line| line.contains(" read ")).map(str::trim_start).collect();
    assert_eq!(tools.len(), 2, "{text}");
    assert!(tools[0].starts_with("list_toys ") && tools[1].starts_with("stack_blocks "), "{text}");
}

#[test]
fn the_command_line_describes_a_toy() {
    if ran_as_child() {
        return;
    }
    let text = printed(run("the_command_line_describes_a_toy", &["describe", "stack_blocks"]));
    assert!(text.contains("how high blocks reach") && text.contains("count"), "{text}");
}

#[test]
fn the_command_line_calls_a_toy() {
    if ran_as_child() {
        return;
    }
    let text = printed(run("the_command_line_calls_a_toy", &["call", "stack_blocks", "count=6"]));
    assert!(text.contains("height_cm") && text.contains("24"), "{text}");
}

#[test]
fn a_call_that_the_manifest_refuses_fails() {
    if ran_as_child() {
        return;
    }
    let output = run("a_call_that_the_manifest_refuses_fails", &["call", "stack_blocks", "count=0"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("count"), "{said}");
}
