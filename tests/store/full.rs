//! A file that cannot grow for a while.

use toolwire::{
    base::digest::Digest,
    contract::{ErrorCode, ToolName, ToolResult},
    db::{Durability, StoreError},
    state::{
        Store,
        cool_downs::{CoolDown, CoolDowns},
        idempotency::{About, Beginning, Begun, Effect, Idempotency, Key},
    },
    tool::context::{CallId, RequestId},
};

use super::{SECOND, in_sqlite, now, outcomes, provenance, user};

#[tokio::test]
async fn after_a_write_that_found_no_room_the_next_one_finds_it() {
    let (store, _directory) = in_sqlite();
    let mut number = 0;
    let mut write = async || {
        number += 1;
        let cool_down = CoolDown { code: ErrorCode::Blocked, reason: "r".repeat(200), until: now() + SECOND };
        CoolDowns::begin(&*store, &format!("s{number}"), None, &cool_down).await
    };
    write().await.unwrap();
    let mut change = store.change(Durability::Process).await.unwrap();
    // Of this connection alone: one that is opened after it has room.
    sqlx::query("PRAGMA max_page_count = 1").execute(change.sqlite().unwrap()).await.unwrap();
    change.commit().await.unwrap();
    let full = loop {
        if let Err(error) = write().await {
            break error;
        }
    };
    assert!(matches!(full, StoreError::Full { .. }), "{full:?}");
    assert!(store.last_error().borrow().is_some());
    write().await.unwrap();
    store.probe().await.unwrap();
    assert_eq!(*store.last_error().borrow(), None);
}

#[tokio::test]
async fn a_repeat_is_answered_from_its_record_while_nothing_can_be_written() {
    let (store, directory) = in_sqlite();
    let tool: ToolName = "debug_write".parse().unwrap();
    let key =
        |tool: &ToolName| Key { user: user("riley"), tool: tool.clone(), request_id: RequestId::generate() };
    let (ended, running, other) = (key(&tool), key(&tool), key(&tool));
    let outcome = outcomes().remove(0);
    let result = ToolResult { tool, fetched_at: now(), outcome, provenance: provenance(), kept: None };
    let about = About::of(CallId::generate(), Digest::of_bytes(b"definition"));
    let begin = async |store: &Store, key: &Key, arguments: &[u8]| {
        let digest = Digest::of_bytes(arguments);
        Idempotency::begin(store, Beginning { key, effect: Effect::Write, digest, about: &about }).await
    };
    for key in [&ended, &running] {
        assert!(matches!(begin(&store, key, b"1").await, Begun::New));
    }
    store.end(&ended, &result).await.unwrap();
    for (key, arguments, expected) in [
        (&ended, b"1", "Ended"),
        (&ended, b"2", "Conflict"),
        (&running, b"1", "Unfinished"),
        (&other, b"1", "Unavailable"),
    ] {
        let store = Store::at(directory.path());
        only_read(&store).await;
        let beginning = format!("{:?}", begin(&store, key, arguments).await);
        assert!(beginning.starts_with(expected), "{beginning}");
        assert!(store.last_error().borrow().is_some(), "the write failed");
    }
}

/// Lets the connection that writes only read.
async fn only_read(store: &Store) {
    let mut change = store.change(Durability::Process).await.unwrap();
    sqlx::query("PRAGMA query_only = 1").execute(change.sqlite().unwrap()).await.unwrap();
    change.commit().await.unwrap();
}
