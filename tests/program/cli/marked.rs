//! Texts with a byte order mark in front of them, wherever the program reads one.

use std::path::Path;

use super::*;
use crate::support::{data_directory, save};

/// Puts a byte order mark before every text of a data tree.
fn mark(directory: &Path) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            mark(&path);
        } else if path.extension().is_some_and(|it| it == "json" || it == "md") {
            let text = fs::read_to_string(&path).unwrap();
            save(&path, &format!("\u{feff}{text}"));
        }
    }
}

#[tokio::test]
async fn a_byte_order_mark_before_any_text_is_skipped() {
    let (directory, data) = (tempfile::tempdir().unwrap(), data_directory());
    mark(data.path());
    let settings = format!("\u{feff}[data]\ndir = {:?}\n", data.path().display().to_string());
    fs::write(directory.path().join("toolwire.toml"), settings).unwrap();
    let output = toolwire(&directory).arg("lint").output().await.unwrap();
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), "0 problems\n"), "{output:?}");
    let mut command = toolwire(&directory);
    command.args(["call", "get_quotes", "--json", "-"]).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all("\u{feff}{\"symbol\": \"AAPL\"}".as_bytes()).await.unwrap();
    let output = child.wait_with_output().await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let asked = ["chat", "What is Apple trading at?"];
    let output = toolwire(&directory).args(asked).output().await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!stdout(&output).contains('\u{feff}'), "{output:?}");
}
