//! Documents: found by their words, with all their versions and bytes.

use std::fs;

use toolwire::state::Store;

use super::{FILES, REPORT, WAITS, assert_sound, lines, output, rows, run, unpack};

const UNICODE: &str = "berichte/größe-東京.md";

#[test]
fn documents_are_found_by_their_words_and_read() {
    let state = unpack();
    let find = |task: &str, query: &str| -> Vec<String> {
        let hits = lines(&state, &["workspace", "search", task, query]);
        hits.iter().map(|hit| hit["document"]["path"].as_str().unwrap().to_owned()).collect()
    };
    for (query, paths) in [
        (r#""quiet river""#, &["plan/notes.md"][..]),
        (r#""river quiet""#, &[]),
        ("zürich", &[UNICODE]),
        ("東京", &[UNICODE]),
        ("cinnamon", &["data/empty.bin"]),
        ("revenue", &["sales_raw.csv", "analysis.md"]),
        ("revenue -july", &["sales_raw.csv"]),
        ("herons", &["drafts/again.md"]),
        // They stand in a deleted document, in earlier versions, and in another tree.
        ("walrus", &[]),
        ("badger", &[]),
        ("orchard", &[]),
        ("lighthouses", &[]),
    ] {
        assert_eq!(find(REPORT, query), paths, "{query}");
    }
    assert_eq!(find(WAITS, "lighthouses").len(), 2);

    let versions = lines(&state, &["workspace", "versions", REPORT, "drafts/again.md"]);
    let deleted: Vec<_> = versions.iter().map(|it| it["deleted"].as_bool().unwrap()).collect();
    assert_eq!(deleted, [false, true, false]);
    let chart = output(&state, &["workspace", "cat", REPORT, "charts/q3.png"]).stdout;
    assert_eq!(chart.len(), 65_664);
    assert!(chart == fs::read(state.path().join(FILES[1])).unwrap());
}

#[tokio::test]
async fn the_index_of_words_is_what_writing_the_documents_again_makes() {
    let state = unpack();
    let store = Store::at(state.path());
    let index = "SELECT d.path || ' ' || w.root || ' ' || p.block || ' ' || p.stems FROM postings p \
                 JOIN documents d ON d.id = p.document JOIN workspaces w ON w.id = p.tree \
                 ORDER BY w.root, d.path, p.block";
    let migrated = rows(&store, index).await;
    let documents = lines(&state, &["workspace", "ls", REPORT]);
    assert_eq!(documents.len(), 8);
    for document in &documents {
        let (path, file) = (document["path"].as_str().unwrap(), state.path().join("content"));
        fs::write(&file, output(&state, &["workspace", "cat", REPORT, path]).stdout).unwrap();
        run(&state, &["workspace", "put", REPORT, path, "--file", file.to_str().unwrap()]);
    }
    assert_eq!(rows(&store, index).await, migrated);
    run(&state, &["workspace", "rm", REPORT, UNICODE]);
    assert_sound(&state);
}
