//! Text that people outside wrote: the data alone is printed on standard output, and standard error has the two lines
//! around it that only this response can have.

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

/// The nonce of the lines around the data: the first opens the frame, the second closes it, and nothing follows it.
#[track_caller]
fn nonce(tool: &str, said: &str) -> String {
    let opening = "----- USER_GENERATED_CONTENT_BELOW ";
    let frame: Vec<_> = said.lines().skip_while(|line| !line.starts_with(opening)).collect();
    let [begin, end] = frame[..] else { panic!("{tool}: {said}") };
    let nonce = begin.strip_prefix(opening).unwrap().to_owned();
    assert!(nonce.len() == 32 && nonce.bytes().all(|byte| byte.is_ascii_hexdigit()), "{tool}: {nonce}");
    assert_eq!(end, format!("----- END OF USER_GENERATED_CONTENT_BELOW {nonce}"), "{tool}");
    nonce
}

#[tokio::test]
async fn text_from_outside_is_framed_by_nonce_lines_beside_the_data_that_no_other_call_has() {
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
            let nonce = nonce(tool, stderr(&output));
            let data: Value = serde_json::from_str(stdout(&output)).expect("the data alone");
            assert!(data.is_object() && !stdout(&output).contains(&nonce), "{tool}: {data}");
            assert!(nonces.insert(nonce), "{tool} repeats a nonce");
        }
    }
    assert_eq!(nonces.len(), 2 * tools.len());
}
