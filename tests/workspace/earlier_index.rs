//! Documents that an earlier program indexed with FTS5 are found as they were.

use std::{path::Path, sync::Arc};

use sqlx::{Connection, SqliteConnection, migrate::Migrator};
use toolwire::{
    base::digest::Digest,
    state::{Store, backup::check, documents::Criteria, workspace::Workspace},
    tool::context::{TaskId, User},
};

use super::task;

/// The step that replaces the index.
const REPLACED_BY: i64 = 25;

const ADD_BLOB: &str =
    "INSERT INTO blobs (digest, size, bytes, uses, touched_at) VALUES (?1, length(?2), ?2, 0, ?3)";

const ADD_DOCUMENT: &str = "INSERT INTO documents (id, root, path, version, etag, previous_etag, deleted, digest, size, \
     mime_type, tokens, tokens_estimated, summary, untrusted, description, tags, created_by, created_at, updated_by, \
     updated_at) VALUES (?1, ?2, ?3, 1, 'e', '', 0, ?4, ?5, 'text/plain', 0, 0, '', 0, '', '', 'riley', 0, 'riley', 0)";

const ADD_VERSION: &str = "INSERT INTO versions (document, version, digest, size, mime_type, tokens, tokens_estimated, \
     summary, untrusted, written_by, written_at, why, call_id, deleted) \
     VALUES (?1, 1, ?2, ?3, 'text/plain', 0, 0, '', 0, 'riley', 0, '', '', 0)";

/// What the earlier program wrote of a document of tree 1: stems of path and text, and their weights.
const INDEXED: [(&str, &str, &str, &str, &str); 3] = [
    ("a.txt", "over the sea", "1_a 1_txt ", "1_over 1_the 1_sea ", "1_5_a 1_5_txt 1_3_over 1_3_the 1_3_sea "),
    ("b.txt", "sea over sea", "1_b 1_txt ", "1_sea 1_over 1_sea ", "1_5_b 1_5_txt 1_3_over 1_4_sea "),
    ("été.txt", "日 x", "1_ete 1_txt ", "1_日 1_x ", "1_5_ete 1_5_txt 1_3_日 1_3_x "),
];

/// A state file as the steps before left it, with documents of a tree.
async fn write_earlier(state: &Path, root: &TaskId) {
    let file = format!("sqlite://{}?mode=rwc", state.join("toolwire.db").display());
    let mut raw = SqliteConnection::connect(&file).await.unwrap();
    let steps = sqlx::migrate!("./migrations");
    let steps = steps.iter().filter(|step| step.version < REPLACED_BY).cloned().collect();
    Migrator::with_migrations(steps).run(&mut raw).await.unwrap();
    let workspace =
        "INSERT INTO workspaces (id, root, user_id, documents, bytes) VALUES (1, ?, 'riley', 3, 29)";
    sqlx::query(workspace).bind(root.as_str()).execute(&mut raw).await.unwrap();
    for (id, (path, text, path_stems, text_stems, weights)) in (1_i64..).zip(INDEXED) {
        let (digest, size) =
            (Digest::of_bytes(text.as_bytes()).as_bytes().to_vec(), i64::try_from(text.len()).unwrap());
        let blob = sqlx::query(ADD_BLOB).bind(digest.clone()).bind(text.as_bytes());
        blob.bind(0_i64).execute(&mut raw).await.unwrap();
        let document = sqlx::query(ADD_DOCUMENT).bind(id).bind(root.as_str()).bind(path);
        document.bind(digest.clone()).bind(size).execute(&mut raw).await.unwrap();
        sqlx::query(ADD_VERSION).bind(id).bind(digest).bind(size).execute(&mut raw).await.unwrap();
        // That program replaced the index of each version: words of an earlier version are gone.
        for stems in ["1_gone ", text_stems] {
            sqlx::query("DELETE FROM texts WHERE rowid = ?").bind(id).execute(&mut raw).await.unwrap();
            let add =
                "INSERT INTO texts (rowid, path, said, summary, text, weights) VALUES (?, ?, '', '', ?, ?)";
            let add = sqlx::query(add).bind(id).bind(path_stems).bind(stems);
            add.bind(weights).execute(&mut raw).await.unwrap();
        }
    }
    raw.close().await.unwrap();
}

#[tokio::test]
async fn documents_of_an_earlier_program_are_found_by_words_and_phrases() {
    let state = tempfile::tempdir().unwrap();
    let (root, user) = (TaskId::generate(), User::new("riley".parse().unwrap()));
    write_earlier(state.path(), &root).await;
    let store = Arc::new(Store::at(state.path()));
    task(&store, root.as_str(), root.as_str(), "riley", false).await;
    let workspace = Workspace::new(&store).of_task(&user, &root).await.unwrap();
    let found = async |query: &str| -> Vec<String> {
        let hits = workspace.search(query, &Criteria::default(), 9).await.unwrap();
        hits.hits.into_iter().map(|hit| hit.document.path).collect()
    };
    assert_eq!(found("sea").await, ["b.txt", "a.txt"], "by weight");
    assert_eq!(found("\"the sea\"").await, ["a.txt"]);
    assert_eq!(found("\"sea over sea\"").await, ["b.txt"]);
    assert_eq!(found("\"over the\" -sea").await, Vec::<String>::new());
    assert_eq!(found("ete").await, ["été.txt"]);
    assert_eq!(found("日").await, ["été.txt"]);
    assert_eq!(found("\"txt over\"").await, Vec::<String>::new(), "path and text are no phrase");
    assert_eq!(found("gone").await, Vec::<String>::new());
    let mut problems = check(state.path()).await.unwrap().problems;
    // The root is no whole task: documents need none.
    problems.retain(|it| !it.starts_with("task "));
    assert_eq!(problems, Vec::<String>::new());
    // Whatever is written from then on is found beside it.
    let header = toolwire::state::workspace::Header { path: "c.txt".to_owned(), ..Default::default() };
    workspace.put(header, "over the sea".into()).await.unwrap();
    assert_eq!(found("\"over the sea\"").await, ["a.txt", "c.txt"]);
}
