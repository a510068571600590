//! Text that people outside wrote, as it stands on the terminal: between two lines that only this response can have.

use std::collections::HashSet;

use serde_json::Value;
use toolwire::{config::Config, domains, engine::registry::Status, server::app::App};

use super::{stderr, stdout, toolwire};

/// The tools whose definitions say `untrusted`, each with its own first example.
fn untrusted() -> Vec<(String, Value)> {
    let directory = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.state.dir = Some(directory.path().to_owned());
    let app = App::build(&config, &domains::bundled()).unwrap();
    let snapshot = app.registry.snapshot();
    let untrusted =
        snapshot.tools().map(|tool| &tool.definition).filter(|it| it.untrusted && it.status == Status::Ready);
    untrusted.map(|it| (it.name.to_string(), it.examples[0].arguments.clone().into())).collect()
}

/// The nonce of what the command line prints: its first line opens the frame, its last closes it, and no other does.
#[track_caller]
fn nonce(tool: &str, printed: &str) -> String {
    let lines: Vec<_> = printed.lines().collect();
    let nonce = lines[0].strip_prefix("----- USER_GENERATED_CONTENT_BELOW ");
    let nonce = nonce.unwrap_or_else(|| panic!("{tool} begins with {:?}", lines[0])).to_owned();
    assert!(nonce.len() == 32 && nonce.bytes().all(|byte| byte.is_ascii_hexdigit()), "{tool}: {nonce}");
    let end = format!("----- END OF USER_GENERATED_CONTENT_BELOW {nonce}");
    assert_eq!(lines.iter().position(|line| **line == end), Some(lines.len() - 1), "{tool}: {printed}");
    let within = lines[1..lines.len() - 1].join("\n");
    assert!(!within.contains(&nonce), "{tool}: {printed}");
    assert!(serde_json::from_str::<Value>(&within).is_ok_and(|data| data.is_object()), "{tool}: {printed}");
    nonce
}

#[tokio::test]
async fn text_from_outside_stands_between_nonce_lines_that_no_other_call_has() {
    let tools = untrusted();
    assert!(tools.len() >= 9, "{tools:?}");
    let directory = tempfile::tempdir().unwrap();
    let mut nonces = HashSet::new();
    for (tool, arguments) in &tools {
        // The second is answered from a cache where the tool has one.
        for _ in 0..2 {
            let mut command = toolwire(&directory);
            command.args(["call", tool, "--sources", "embedded", "--json", &arguments.to_string()]);
            let output = command.output().await.unwrap();
            assert_eq!(output.status.code(), Some(0), "{tool}: {}", stderr(&output));
            assert!(nonces.insert(nonce(tool, stdout(&output))), "{tool} repeats a nonce");
            assert!(!stderr(&output).contains("USER_GENERATED_CONTENT_BELOW"), "{tool}: {output:?}");
        }
    }
    assert_eq!(nonces.len(), 2 * tools.len());
}
