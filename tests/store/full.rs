//! A file that cannot grow for a while.

use toolwire::{
    contract::ErrorCode,
    store::{
        Durability, StoreError,
        cool_downs::{CoolDown, CoolDowns},
    },
};

use super::{SECOND, in_sqlite, now};

#[tokio::test]
async fn after_a_write_that_found_no_room_the_next_one_finds_it() {
    let (store, _directory) = in_sqlite();
    let mut number = 0;
    let mut write = async || {
        number += 1;
        let cool_down = CoolDown { code: ErrorCode::Blocked, reason: "r".repeat(200), until: now() + SECOND };
        store.begin(&format!("s{number}"), None, &cool_down).await
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
