//! The table `postings`: the stems of documents in blocks, whose format [`documents::postings`](crate::documents)
//! defines.

use serde::Serialize;

use crate::{
    dialect,
    documents::{BLOCKS, Terms, block, parse_positions, parse_weights, text_before},
};
use toolwire_db::{
    Error,
    sql::{Connection, Statement, sql},
};

/// Replaces the terms by which a document is found.
pub(crate) async fn replace(
    db: &mut Connection,
    tree: i64,
    document: i64,
    terms: &Terms,
) -> Result<(), Error> {
    let others = (0..BLOCKS).filter(|block| !terms.blocks().contains_key(block));
    delete_blocks(db, tree, &[document], &others.collect::<Vec<_>>()).await?;
    // Without `WHERE`, SQLite would parse the `ON` as part of the `FROM`.
    let insert = sql!(
        "INSERT INTO postings (tree, block, document, stems)
         SELECT {tree}, CAST(key AS BIGINT), {document}, value FROM json_each({json(terms.blocks())})
         WHERE true ON CONFLICT (tree, block, document) DO UPDATE SET stems = excluded.stems"
    );
    insert.run(db).await
}

/// Removes documents from the index.
pub(crate) async fn delete(db: &mut Connection, tree: i64, documents: &[i64]) -> Result<(), Error> {
    delete_blocks(db, tree, documents, &(0..BLOCKS).collect::<Vec<_>>()).await
}

/// Deletes by the whole primary key: without the blocks, SQLite would scan all rows of the tree.
async fn delete_blocks(
    db: &mut Connection,
    tree: i64,
    documents: &[i64],
    blocks: &[u32],
) -> Result<(), Error> {
    if documents.is_empty() || blocks.is_empty() {
        return Ok(());
    }
    let delete = sql!(
        "DELETE FROM postings WHERE tree = {tree}
         AND block IN (SELECT CAST(value AS BIGINT) FROM json_each({json(blocks)}))
         AND document IN (SELECT CAST(value AS BIGINT) FROM json_each({json(documents)}))"
    );
    delete.run(db).await
}

/// Values as one parameter, so that the text of the statement does not depend on their number.
fn json(rows: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(rows).expect("numbers and texts are JSON")
}

/// The documents that contain a stem, with its weight in each. Fetched as one text: a row per document would cost more
/// than the rest of a search.
pub(crate) async fn weights(db: &mut Connection, tree: i64, stem: &str) -> Result<Vec<(i64, u8)>, Error> {
    let before = text_before(stem);
    // Null for a block without the stem, which the aggregate ignores: a condition would search each block twice.
    let weights: Statement<Option<String>> = sql!(
        "SELECT string_agg(document || ' ' ||
                           substr(stems, nullif(instr(stems, {&before}), 0) + {before.chars().count()}, 1),
                           '|'{..dialect::BY_DOCUMENT})
         FROM postings WHERE tree = {tree} AND block = {block(stem)}"
    );
    let weights = weights.one(db).await?.unwrap_or_default();
    parse_weights(&weights).ok_or_else(|| Error::unreadable("posting", stem))
}

/// The positions of a stem in the documents after one, up to another.
pub(crate) async fn positions(
    db: &mut Connection,
    tree: i64,
    stem: &str,
    after: i64,
    last: i64,
) -> Result<Vec<(i64, Vec<u32>)>, Error> {
    let before = text_before(stem);
    let positions: Statement<Option<String>> = sql!(
        "SELECT string_agg(document || ' ' ||
                           substr(stems, nullif(instr(stems, {&before}), 0) + {before.chars().count()}),
                           '|'{..dialect::BY_DOCUMENT})
         FROM postings WHERE tree = {tree} AND block = {block(stem)} AND document > {after} AND document <= {last}"
    );
    let positions = positions.one(db).await?.unwrap_or_default();
    parse_positions(&positions).ok_or_else(|| Error::unreadable("posting", stem))
}

/// The last of the next `count` documents after one that may contain a stem. Null if there are no more.
pub(crate) fn last_of_next(tree: i64, stem: &str, after: i64, count: u32) -> Statement<Option<i64>> {
    sql!(
        "SELECT max(document) FROM (SELECT document FROM postings
          WHERE tree = {tree} AND block = {block(stem)} AND document > {after} ORDER BY document LIMIT {count}) AS next"
    )
}
