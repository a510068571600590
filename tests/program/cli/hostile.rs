//! Texts of tools that would steer a terminal: no command prints a character of them that does.

use serde_json::Value;
use toolwire::base::words::is_hidden;

use super::{fake_server, run, stderr, stdout};

/// Clears the screen by an escape and by a control of C1, then reorders, erases and hides.
const HOSTILE: &str = "\u{1b}[2J\u{9b}31m\u{202e}\r\u{7f}\u{8}\u{200b}";

#[tokio::test]
async fn no_command_prints_a_character_that_steers_a_terminal() {
    let (address, ..) = fake_server::start_with_texts(HOSTILE).await;
    let server = address.to_string();
    for (line, code) in [
        (&["list"][..], 0),
        (&["list", "--json"], 0),
        (&["describe", "read"], 0),
        (&["describe", "read", "--json"], 0),
        (&["describe", HOSTILE], 1),
        (&["providers"], 0),
        (&["call", "read"], 0),
        (&["call", "read", "--format", "json"], 0),
        (&["call", "fail"], 1),
        (&["call", "fail", "--format", "json"], 1),
    ] {
        let output = run(&[line, &["--server", &server]].concat()).await;
        assert_eq!(output.status.code(), Some(code), "{line:?}: {output:?}");
        for printed in [stdout(&output), stderr(&output)] {
            assert!(!printed.chars().any(is_hidden), "{line:?} prints {printed:?}");
        }
    }
    let call = run(&["call", "read", "--server", &server]).await;
    let data: Value = serde_json::from_str(stdout(&call)).unwrap();
    assert_eq!(data["a"], format!("b{HOSTILE}"), "escaped, and the same");
    let lines = run(&["call", "read", "--format", "json", "--server", &server]).await;
    let last: Value = serde_json::from_str(stdout(&lines).lines().last().unwrap()).unwrap();
    assert_eq!(last["result"]["data"], data);
}
