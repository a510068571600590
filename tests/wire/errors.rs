//! `docs/ERRORS.md` says of every code and every reason what the code does.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use strum::VariantArray as _;

use toolwire::contract::{ErrorCode, Refusal, status};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ERRORS.md");
    fs::read_to_string(path).expect("readable")
}

/// `NotFound` → `NOT_FOUND`.
fn screaming(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(c.to_ascii_uppercase());
    }
    text
}

#[track_caller]
fn assert_row(begin: &str) {
    assert!(page().lines().any(|line| line.starts_with(begin)), "docs/ERRORS.md lacks a row {begin:?}");
}

#[test]
fn every_tool_error_code_has_its_row() {
    for &code in ErrorCode::VARIANTS {
        let retryable = if code.usual().0 { "yes" } else { "no" };
        assert_row(&format!(
            "| `{}` | {retryable} | `{}` |",
            code.into_str(),
            status::name(status::code_of(code))
        ));
    }
}

#[test]
fn every_row_says_the_status_over_http_that_the_code_has() {
    let mut seen = 0;
    for line in page().lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let Some(at) = cells.iter().position(|cell| cell.parse::<u16>().is_ok()) else { continue };
        let named = |name: &&tonic::Code| format!("`{}`", status::name(**name)) == cells[at - 1];
        let codes: Vec<_> = (0..=16).map(tonic::Code::from_i32).collect();
        // The last table has no status of gRPC.
        let Some(code) = codes.iter().find(named) else { continue };
        for reason in cells[1].split(", ") {
            let reason = reason.trim_matches('`');
            assert_eq!(status::http_of(*code, reason).to_string(), cells[at], "{reason}");
            seen += 1;
        }
    }
    assert!(seen > 60, "found only {seen} reasons");
}

#[test]
fn every_refusal_has_its_row() {
    let text = || "x".to_owned();
    let refusals = [
        Refusal::InvalidRequest(Vec::new()),
        Refusal::UnknownTool { name: text(), near: Vec::new() },
        Refusal::UnknownIntent { intent: text(), near: Vec::new() },
        Refusal::PermissionDenied { tool: text() },
        Refusal::InsufficientScope { tool: text(), scope: text() },
        Refusal::ToolDisabled { tool: text(), reason: text() },
        Refusal::RequestIdReused { request_id: text() },
        Refusal::TooManyRequestIds { retry_after: Duration::ZERO },
        Refusal::TooManyRequestIdsInAll { retry_after: Duration::ZERO },
        Refusal::QuotaExhausted { user: text(), quota: text(), retry_after: Duration::ZERO },
        Refusal::StateUnavailable { retry_after: Duration::ZERO },
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

#[test]
fn every_refusal_of_the_transport_has_its_row() {
    let mut seen = 0;
    for path in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/transport")) {
        let text = fs::read_to_string(path).expect("readable");
        let code = text.split("#[cfg(test)]").next().expect("not empty");
        for call in code.split("Code::").skip(1) {
            if let Some((status, reason)) = status_and_reason(call) {
                assert_row(&format!("| `{reason}` | `{}` |", screaming(status)));
                seen += 1;
            }
        }
    }
    assert!(seen >= 8, "found only {seen} refusals: does the source still name them like this?");
}

/// `Unavailable, "DRAINING", …` → the two words.
fn status_and_reason(call: &str) -> Option<(&str, &str)> {
    let (status, rest) = call.split_once(',')?;
    let reason = rest.trim_start().strip_prefix('"')?.split('"').next()?;
    let is_reason = reason.len() > 1 && reason.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    (is_reason && status.bytes().all(|b| b.is_ascii_alphabetic())).then_some((status, reason))
}

fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("readable").map(|entry| entry.expect("readable").path());
    let (directories, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let is_test = |path: &PathBuf| path.ends_with("tests.rs");
    files
        .into_iter()
        .filter(|path| !is_test(path))
        .chain(directories.iter().flat_map(|directory| sources(directory)))
        .collect()
}
