//! The index of words. FTS5 is asked for stems of ours in quotes and nothing else: its grammar, its ranking over all
//! trees and its own reading of words are not used.

use std::fmt::Write;

use super::quota::Workspace;
use crate::{
    context::TaskId,
    store::{
        documents::{Postings, Terms, Wanted},
        sqlite::{Change, Failed, Sqlite},
    },
};

const ADD: &str = "INSERT INTO texts (rowid, path, said, summary, text, weights) VALUES (?, ?, ?, ?, ?, ?)";

const REMOVE: &str = "DELETE FROM texts WHERE rowid = ?";

const WORKSPACE: &str = "SELECT id, documents FROM workspaces WHERE root = ?";

/// Answers with one text: a row for each document would cost more than all the rest.
const WORD: &str = "SELECT json_group_array(rowid) FROM texts WHERE texts MATCH ?";

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
        let mut parts = Vec::new();
        for part in wanted {
            let mut postings = Vec::new();
            for (words, step) in asked(workspace, part) {
                let rows: String = sqlx::query_scalar(WORD).bind(words).fetch_one(&mut *reading).await?;
                let rows: Vec<i64> = serde_json::from_str(&rows).unwrap_or_default();
                postings.extend(rows.into_iter().map(|row| (row, step)));
            }
            parts.push(postings);
        }
        Ok(Postings { documents: u64::try_from(documents).unwrap_or_default(), parts })
    }
}

/// What FTS5 is asked for, with the step that an answer means.
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
