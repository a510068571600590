//! `docs/ERRORS.md` says of every code and every reason what the code does.

use std::{fs, path::Path, time::Duration};

use toolwire::contract::{ErrorCode, Refusal, status};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ERRORS.md");
    fs::read_to_string(path).expect("readable")
}

#[track_caller]
fn assert_row(begin: &str) {
    assert!(page().lines().any(|line| line.starts_with(begin)), "docs/ERRORS.md lacks a row {begin:?}");
}

#[test]
fn every_tool_error_code_has_its_row() {
    for code in ErrorCode::ALL {
        let retryable = if code.usual().0 { "yes" } else { "no" };
        assert_row(&format!(
            "| `{}` | {retryable} | `{}` |",
            code.name(),
            status::name(status::code_of(code))
        ));
    }
}

#[test]
fn every_refusal_has_its_row() {
    let text = || "x".to_owned();
    let refusals = [
        Refusal::InvalidRequest(Vec::new()),
        Refusal::UnknownTool { name: text(), near: Vec::new() },
        Refusal::UnknownIntent { intent: text(), near: Vec::new() },
        Refusal::PermissionDenied { tool: text() },
        Refusal::ToolDisabled { tool: text(), reason: text() },
        Refusal::RequestIdReused { request_id: text() },
        Refusal::Overloaded { what: text(), retry_after: Duration::ZERO },
        Refusal::DeadlineExceeded,
        Refusal::CallerGone,
        Refusal::ShuttingDown,
        Refusal::Internal { call_id: text() },
    ];
    for refusal in refusals {
        let code = status::name(status::code_of_refusal(&refusal));
        assert_row(&format!("| `{}` | `{code}` |", status::reason_of(&refusal)));
    }
}
