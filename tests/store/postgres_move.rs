//! `toolwire state move`, as it is typed. Without PostgreSQL only what needs none is tested.

use std::{
    path::Path,
    process::{Command, Output},
};

use super::{earlier_state::unpack, in_sqlite, jobs::begun};
use crate::support::state;

/// An address at which nothing listens, with a password.
const NOWHERE: &str = "postgres://toolwire:s3cret@127.0.0.1:1/tools";

fn toolwire(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.args(arguments).env_clear().envs(variables.iter().copied()).output().unwrap()
}

fn moved(from: &str, to: &str, schema: &str) -> Output {
    toolwire(&["state", "move", "--from", from, "--to", to, "--schema", schema], &[])
}

#[track_caller]
fn is_refused(output: &Output, code: i32, words: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.contains(words) && !said.contains("s3cret"), "{said}");
    assert!(output.stdout.is_empty());
}

#[track_caller]
fn stdout(output: &Output) -> &str {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::str::from_utf8(&output.stdout).unwrap()
}

fn url(directory: &Path) -> String {
    format!("sqlite://{}", directory.display())
}

#[test]
fn what_cannot_be_moved_is_named_without_a_password() {
    let (state, empty) = (unpack(), tempfile::tempdir().unwrap());
    let from = url(state.path());
    is_refused(&moved("/var/lib/toolwire", NOWHERE, "tools"), 2, "such as sqlite:///var/lib/toolwire");
    is_refused(&moved("sqlite://", NOWHERE, "tools"), 2, "such as sqlite:///var/lib/toolwire");
    is_refused(&moved(&url(empty.path()), NOWHERE, "tools"), 2, "there is no state in");
    is_refused(&moved(&from, "mysql://me:s3cret@db/tools", "tools"), 2, "postgres://user@host/database");
    is_refused(&moved(&from, NOWHERE, "Tools"), 2, "63 lower-case letters");
    is_refused(&moved(&from, NOWHERE, "tools"), 1, "127.0.0.1:1/tools, schema tools cannot be reached");
}

#[tokio::test]
async fn a_state_is_moved_once_by_the_command_and_is_whole() {
    let Some(to) = state::url() else { return };
    let (state, directory) = (unpack(), tempfile::tempdir().unwrap());
    let (from, schema) = (url(state.path()), state::schema(directory.path()));
    let said = moved(&from, &to, &schema);
    let said = stdout(&said);
    assert!(said.contains(" rows of ") && said.contains("the bytes of 1 files are in postgres://"), "{said}");
    assert!(said.contains(&schema), "{said}");
    let database = [("TOOLWIRE_STATE_URL", &*to), ("TOOLWIRE_STATE_SCHEMA", &*schema)];
    let checked = toolwire(&["state", "check"], &database);
    assert!(stdout(&checked).contains("18 tasks and 72 entries"), "{checked:?}");
    is_refused(&moved(&from, &to, &schema), 1, "has a state already");
    let copied = toolwire(&["state", "backup", "/tmp/none"], &database);
    is_refused(&copied, 2, &format!("-n {schema} -Fc -f state.dump"));

    let (store, used) = in_sqlite();
    begun(&store, "riley").await;
    is_refused(&moved(&url(used.path()), &to, &schema), 1, "is in use: end every program");
}
