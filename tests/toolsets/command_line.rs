//! On the command line, by `--toolset`.

use std::{fs, process::Output};

use tempfile::TempDir;
use tokio::process::Command;

use super::{FILE, MARKET, house};

async fn run(directory: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.current_dir(directory.path()).env("TOOLWIRE_STATE", directory.path().join("state"));
    command.args(arguments).output().await.unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test]
async fn commands_list_and_call_its_tools_of_a_server_and_of_their_own() {
    let house = house();
    let server = format!("http://{}", house.server.address);
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("toolwire.toml"), FILE).unwrap();
    for connection in [&["--server", &*server][..], &[]] {
        let at = |words: &[&'static str], toolset: &'static str| {
            let words = words.iter().copied().chain(["--toolset", toolset]);
            words.chain(connection.iter().copied()).map(str::to_owned).collect::<Vec<_>>()
        };
        let run = async |line: Vec<String>| {
            run(&directory, &line.iter().map(String::as_str).collect::<Vec<_>>()).await
        };
        let listed = run(at(&["list", "--json"], "market")).await;
        let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
        let names: Vec<_> =
            listed.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, MARKET);
        let called = run(at(&["call", "get_quotes", "symbol=AAPL"], "market")).await;
        assert!(called.status.success(), "{called:?}");
        let other = run(at(&["call", "get_positions", "symbol=AAPL"], "market")).await;
        assert!(!other.status.success(), "{other:?}");
        assert!(text(&other.stderr).contains("get_positions"), "{other:?}");
        let unknown = run(at(&["list"], "markets")).await;
        assert!(!unknown.status.success() && text(&unknown.stderr).contains("markets"), "{unknown:?}");
    }
    let unknown = run(&directory, &["list", "--toolset", "markets"]).await;
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("Did you mean market?"), "{unknown:?}");
    let malformed = run(&directory, &["list", "--toolset", "The market"]).await;
    assert!(text(&malformed.stderr).contains("of a-z, 0-9, _ and -"), "{malformed:?}");
}
