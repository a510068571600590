//! The index of words. FTS5 is asked for stems of ours in quotes and nothing else: its grammar, its ranking over all
//! trees and its own reading of words are not used.

use std::fmt::Write;

use serde_json::Value;

use super::quota::Workspace;
use crate::{
    documents::{Postings, Terms, Wanted},
    sqlite::{Change, Failed, Sqlite},
};
use toolwire_tool::context::TaskId;

const ADD: &str = "INSERT INTO texts (rowid, path, said, summary, text, weights) VALUES (?, ?, ?, ?, ?, ?)";

const REMOVE: &str = "DELETE FROM texts WHERE rowid = ?";

const WORKSPACE: &str = "SELECT id, documents FROM workspaces WHERE root = ?";

/// The documents of each of several queries, as one text a query: a row for each document, or a statement for each
/// query, would cost more than all the rest.
const POSTINGS: &str = "SELECT (SELECT json_group_array(rowid) FROM texts WHERE texts MATCH asked.value) \
                        FROM json_each(?) AS asked ORDER BY asked.key";

/// The highest step of a weight.
const STEPS: u8 = 8;

/// Lets a document be found by these words and no others.
pub(super) async fn index(
    change: &mut Change,
    workspace: &Workspace,
    id: i64,
    terms: &Terms,
) -> Result<(), Failed> {
    remove(change, id).await?;
    let stems = |stems: &[String]| {
        let mut text = String::new();
        for stem in stems {
            let _ = write!(text, "{}_{stem} ", workspace.id);
        }
        text
    };
    let mut weights = String::new();
    for (stem, weight) in &terms.weights {
        let _ = write!(weights, "{} ", weighted(workspace.id, stem, *weight));
    }
    let add = sqlx::query(ADD).bind(id).bind(stems(&terms.path)).bind(stems(&terms.said));
    let add = add.bind(stems(&terms.summary)).bind(stems(&terms.text)).bind(weights);
    add.execute(&mut **change).await?;
    Ok(())
}

/// Lets a document be found no more.
pub(super) async fn remove(change: &mut Change, id: i64) -> Result<(), Failed> {
    sqlx::query(REMOVE).bind(id).execute(&mut **change).await?;
    Ok(())
}

/// Two underlines, where a word of a text has one: neither is ever taken for the other.
fn weighted(workspace: i64, stem: &str, weight: u8) -> String {
    format!("{workspace}_{weight}_{stem}")
}

impl Sqlite {
    pub(super) async fn postings_of(&self, root: &TaskId, wanted: &[Wanted]) -> Result<Postings, Failed> {
        // All of them are of one state.
        let mut reading = self.readers().await?.begin().await?;
        let workspace: Option<(i64, i64)> =
            sqlx::query_as(WORKSPACE).bind(root.as_str()).fetch_optional(&mut *reading).await?;
        let Some((workspace, documents)) = workspace else {
            return Ok(Postings { documents: 0, parts: vec![Vec::new(); wanted.len()] });
        };
        let asked: Vec<_> = wanted.iter().map(|part| asked(workspace, part)).collect();
        let queries: Value = asked.iter().flatten().map(|(query, _)| query.as_str()).collect();
        let found: Vec<String> =
            sqlx::query_scalar(POSTINGS).bind(queries.to_string()).fetch_all(&mut *reading).await?;
        let mut found = found.iter().map(|rows| serde_json::from_str::<Vec<i64>>(rows).unwrap_or_default());
        let mut parts = Vec::new();
        for queries in &asked {
            let each = queries.iter().zip(&mut found);
            parts.push(each.flat_map(|((_, step), rows)| rows.into_iter().map(|row| (row, *step))).collect());
        }
        Ok(Postings { documents: u64::try_from(documents).unwrap_or_default(), parts })
    }
}

/// What FTS5 is asked for, query by query, with the step that an answer means.
fn asked(workspace: i64, part: &Wanted) -> Vec<(String, u8)> {
    match part {
        Wanted::Word(stem) => {
            (1..=STEPS).map(|step| (format!("\"{}\"", weighted(workspace, stem, step)), step)).collect()
        }
        Wanted::Phrase(stems) => {
            let words: Vec<_> = stems.iter().map(|stem| format!("{workspace}_{stem}")).collect();
            vec![(format!("\"{}\"", words.join(" ")), STEPS)]
        }
    }
}
