//! Copies of a state: made while it is used, whole or refused, and what a check finds.

use std::fs;

use sqlx::{Connection, SqliteConnection};
use toolwire::{
    base::digest::Digest,
    contract::ToolResult,
    state::{
        Store,
        backup::{backup, check, restore},
        idempotency::{About, Beginning, Begun, Effect, Idempotency, Key},
    },
    tool::context::{CallId, RequestId},
};

use super::{now, outcomes, provenance, user};

fn key(name: &str) -> Key {
    Key { user: user(name), tool: "pay".parse().unwrap(), request_id: RequestId::generate() }
}

async fn begin(store: &Store, key: &Key) -> Begun {
    let about = About::of(CallId::generate(), Digest::of_bytes(b"definition"));
    let digest = Digest::of_bytes(b"arguments");
    store.at_time(now()).begin(Beginning { key, effect: Effect::Write, digest, about: &about }).await
}

async fn end(store: &Store, key: &Key) {
    let result = ToolResult {
        tool: "pay".parse().unwrap(),
        fetched_at: now(),
        outcome: outcomes().remove(0),
        provenance: provenance(),
        kept: None,
    };
    store.end(key, &result).await.unwrap();
}

#[tokio::test]
async fn a_copy_is_of_one_instant_and_goes_back_into_an_empty_directory_only() {
    let house = tempfile::tempdir().unwrap();
    let (state, copy, other) =
        (house.path().join("state"), house.path().join("copy"), house.path().join("other"));
    let store = Store::at(&state);
    let (before, after) = (key("a"), key("a"));
    begin(&store, &before).await;
    end(&store, &before).await;
    // Bytes in a file, as a document of some size has them.
    let bytes = vec![7; 100_000];
    let digest = Digest::of_bytes(&bytes);
    let place = format!("blobs/{}/{digest}", &digest.to_string()[..2]);
    fs::create_dir_all(state.join(&place).parent().unwrap()).unwrap();
    fs::write(state.join(&place), &bytes).unwrap();
    let mut raw = connect(&state).await;
    sqlx::query("INSERT INTO blobs (digest, size, uses, touched_at) VALUES (?, 100000, 0, 0)")
        .bind(digest.as_bytes().to_vec())
        .execute(&mut raw)
        .await
        .unwrap();

    let made = backup(&state, &copy).await.unwrap();
    assert_eq!(made.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["toolwire.db", &place]);
    begin(&store, &after).await;
    assert!(backup(&state, &copy).await.unwrap_err().to_string().contains("is not empty"));
    assert!(restore(&copy, &state).unwrap_err().to_string().contains("is not empty"));
    restore(&copy, &other).unwrap();
    assert_eq!(fs::read(other.join(&place)).unwrap(), bytes);
    assert_eq!(check(&other).await.unwrap().problems, Vec::<String>::new());
    let restored = Store::at(&other);
    assert!(matches!(begin(&restored, &before).await, Begun::Ended(_)));
    assert!(matches!(begin(&restored, &after).await, Begun::New), "it began after the copy");
}

#[tokio::test]
async fn a_copy_that_is_not_whole_is_refused_before_anything_is_written() {
    let house = tempfile::tempdir().unwrap();
    let (state, copy, other) =
        (house.path().join("state"), house.path().join("copy"), house.path().join("other"));
    assert!(backup(&state, &copy).await.unwrap_err().to_string().contains("there is no state"));
    begin(&Store::at(&state), &key("a")).await;
    backup(&state, &copy).await.unwrap();
    let list = copy.join("backup.json");
    let text = fs::read_to_string(&list).unwrap();
    let mut damaged = fs::read(copy.join("toolwire.db")).unwrap();
    let middle = damaged.len() / 2;
    let mut emptied: serde_json::Value = serde_json::from_str(&text).unwrap();
    emptied["files"] = serde_json::json!([]);
    let emptied = emptied.to_string();
    damaged[middle] ^= 1;
    for (name, bytes) in [
        ("toolwire.db", damaged.as_slice()),
        ("backup.json", b"{"),
        ("backup.json", text.replace("\"version\": 1", "\"version\": 2").as_bytes()),
        ("backup.json", text.replace("toolwire.db", "../../etc/passwd").as_bytes()),
        ("backup.json", emptied.as_bytes()),
    ] {
        let whole = fs::read(copy.join(name)).unwrap();
        fs::write(copy.join(name), bytes).unwrap();
        let refused = restore(&copy, &other).unwrap_err().to_string();
        assert!(refused.contains("is not a whole backup"), "{refused}");
        assert!(!other.exists());
        fs::write(copy.join(name), whole).unwrap();
    }
    restore(&copy, &other).unwrap();
}

#[tokio::test]
async fn a_check_finds_what_is_not_as_it_must_be() {
    let house = tempfile::tempdir().unwrap();
    let store = Store::at(house.path());
    begin(&store, &key("a")).await;
    assert!(check(house.path()).await.unwrap().problems.is_empty());
    let mut raw = connect(house.path()).await;
    for (harm, finding) in [
        ("UPDATE idempotency_total SET bytes = bytes + 1", "idempotency_total"),
        ("UPDATE audit_usage SET records = 7", "audit_usage"),
        ("UPDATE kept_results_total SET bytes = 1", "kept_results_total"),
        (
            "INSERT INTO confirmation_events (sequence, confirmation_id, state, at, expires_at, reason) VALUES (1, 'a', 'pending', 0, 0, ''), (3, 'a', 'used', 0, 0, '')",
            "have a gap",
        ),
        ("INSERT INTO blobs (digest, size, uses, touched_at) VALUES (x'00ff', 1, 1, 0)", "blobs/00/00ff"),
    ] {
        sqlx::query(harm).execute(&mut raw).await.unwrap();
        let problems = check(house.path()).await.unwrap().problems.join("\n");
        assert!(problems.contains(finding), "{problems}");
    }
}

async fn connect(state: &std::path::Path) -> SqliteConnection {
    SqliteConnection::connect(&format!("sqlite://{}", state.join("toolwire.db").display())).await.unwrap()
}
