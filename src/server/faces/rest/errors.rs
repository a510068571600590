//! The explanation of a code: the row of `docs/ERRORS.md` that a problem's `type` leads to.

use axum::{
    extract::{Path, rejection::PathRejection},
    response::{IntoResponse, Response},
};
use http::{StatusCode, header::CONTENT_TYPE};

use super::tool::tool_segment;
use crate::faces::http::problem::{Problem, title};

const PAGE: &str = include_str!("../../docs/ERRORS.md");

pub(super) async fn page(path: Result<Path<String>, PathRejection>) -> Result<Response, Problem> {
    let code = tool_segment(path)?;
    let unknown = || Problem::new("UNKNOWN_ROUTE", StatusCode::NOT_FOUND, "there is no such code");
    let text = explain(&code).ok_or_else(unknown)?;
    Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

/// The row of a code on the page, one line for each column.
fn explain(code: &str) -> Option<String> {
    let mut headings: Vec<&str> = Vec::new();
    let mut text = String::new();
    for line in PAGE.lines() {
        let Some(cells) = cells(line) else {
            headings.clear();
            continue;
        };
        if headings.is_empty() {
            headings = cells;
        } else if cells[0]
            .split(", ")
            .any(|it| it.strip_prefix('`').and_then(|it| it.strip_suffix('`')) == Some(code))
        {
            let filled = headings.iter().zip(cells).skip(1).filter(|(_, cell)| !cell.is_empty());
            text.extend(filled.map(|(heading, cell)| format!("{heading}: {cell}\n")));
        }
    }
    (!text.is_empty()).then(|| format!("{code}: {}\n\n{text}", title(code)))
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_explained_and_nothing_else_is() {
        let text = explain("RATE_LIMITED").unwrap();
        assert!(text.starts_with("RATE_LIMITED: Rate limited\n\nretryable: yes\n"), "{text}");
        assert!(explain("ALREADY_ANSWERED").is_some());
        assert!(explain("").is_none() && explain("code").is_none() && explain("---").is_none());
    }
}
