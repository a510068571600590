//! What a shell offers at the cursor: commands, flags, tools, parameters and their values, identifiers.

use super::*;

/// What the word at the end of a line may become.
async fn completed(directory: &TempDir, line: &str) -> Vec<String> {
    let output = toolwire(directory).args(["complete", "--", line]).output().await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    stdout(&output).lines().map(ToOwned::to_owned).collect()
}

/// What it becomes in the end: a completion that takes too long on a busy machine has nothing.
async fn offered(directory: &TempDir, line: &str) -> Vec<String> {
    for _ in 0..10 {
        let offered = completed(directory, line).await;
        if !offered.is_empty() {
            return offered;
        }
    }
    Vec::new()
}

#[tokio::test]
async fn the_word_at_the_cursor_is_completed_by_its_place() {
    let directory = tempfile::tempdir().unwrap();
    for (line, expected) in [
        ("toolwire cal", &["call", "calls"][..]),
        ("toolwire call get_quo", &["get_quotes"]),
        ("toolwire describe --diagnostics debug_wr", &["debug_write"]),
        ("toolwire call get_performance timef", &["timeframe="]),
        ("toolwire call get_performance timeframe=Y", &["timeframe=YTD"]),
        ("toolwire call get_performance timeframe=YTD timef", &[]),
        ("toolwire call --intent perf", &["performance"]),
        ("toolwire call get_quotes --form", &["--format"]),
        ("toolwire call get_quotes --format=m", &["--format=model"]),
        ("toolwire list --tag mark", &["market"]),
        ("toolwire tasks --in comp", &["completed"]),
        ("toolwire nonsense x", &[]),
    ] {
        let completed = if expected.is_empty() {
            completed(&directory, line).await
        } else {
            offered(&directory, line).await
        };
        assert_eq!(completed, expected, "{line}");
    }
}

#[tokio::test]
async fn identifiers_of_what_is_open_are_completed() {
    let directory = tempfile::tempdir().unwrap();
    let call = ["call", "debug_confirm", "value=x", "--diagnostics"];
    let output = toolwire(&directory).args(call).output().await.unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let required: Value = serde_json::from_str(stdout(&output)).unwrap();
    let id = required["confirmation_id"].as_str().unwrap();
    for command in ["approve", "deny", "confirmations"] {
        let line = format!("toolwire {command} --diagnostics {}", &id[..8]);
        assert_eq!(offered(&directory, &line).await, [id]);
    }
    let task = toolwire(&directory).args(["tasks", "start", "Report"]).output().await.unwrap();
    let task = stdout(&task).trim();
    assert_eq!(offered(&directory, "toolwire timeline task_").await, [task]);
    // Commands take the beginnings, too.
    let shown = ["confirmations", &id[..8], "--json", "--diagnostics"];
    let shown = toolwire(&directory).args(shown).output().await.unwrap();
    assert_eq!(serde_json::from_str::<Value>(stdout(&shown)).unwrap()["confirmation_id"], id);
    let shown = toolwire(&directory).args(["tasks", &task[5..13], "--json"]).output().await.unwrap();
    assert_eq!(serde_json::from_str::<Value>(stdout(&shown)).unwrap()["task_id"], task);
}

#[tokio::test]
async fn bash_asks_the_program() {
    let directory = tempfile::tempdir().unwrap();
    let script = r#"
        source <("$0" completions bash)
        COMP_WORDS=("$0" call get_performance timeframe = Y)
        COMP_LINE="toolwire call get_performance timeframe=Y"
        COMP_POINT=${#COMP_LINE}
        for _ in {1..10}; do
          _toolwire
          [ "${#COMPREPLY[@]}" -eq 0 ] || break
        done
        printf '%s\n' "${COMPREPLY[@]}""#;
    let mut bash = Command::new("/bin/bash");
    bash.args(["--norc", "-c", script, env!("CARGO_BIN_EXE_toolwire")]);
    bash.current_dir(&directory).env_clear().env("TOOLWIRE_STATE", directory.path().join("state"));
    let output = bash.output().await.unwrap();
    // bash takes `timeframe=` for a word of its own.
    assert_eq!(stdout(&output), "YTD\n", "{output:?}");
}

#[tokio::test]
async fn every_shell_has_a_script() {
    for (shell, part) in [
        ("bash", "complete -o default -F _toolwire toolwire"),
        ("zsh", "#compdef toolwire"),
        ("fish", "complete -c toolwire"),
        ("elvish", "edit:completion:arg-completer[toolwire]"),
    ] {
        let output = run(&["completions", shell]).await;
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(stdout(&output).contains(part), "{output:?}");
    }
}
