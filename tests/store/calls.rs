//! Calls as others see them: whether whoever carries one out is still there.

use tempfile::TempDir;
use toolwire::{
    context::{CallId, RequestId},
    digest::Digest,
    store::{
        Sqlite,
        calls::{Calls, Criteria, Named, Standing},
        idempotency::{About, Beginning, Begun, Effect, Idempotency, Key},
    },
};

use super::{now, user};

/// Begins a write, and says by which call.
async fn begin(store: &Sqlite) -> CallId {
    let key = Key { user: user("riley"), tool: "pay".parse().unwrap(), request_id: RequestId::generate() };
    let call_id = CallId::generate();
    let about = About::of(call_id, Digest::of_bytes(b"definition"));
    let begins =
        Beginning { key: &key, effect: Effect::Write, digest: Digest::of_bytes(b"x"), about: &about };
    assert!(matches!(store.begin(begins, now()).await, Begun::New));
    call_id
}

/// Whether the process of a call is gone, as one process sees it: named, and in a list.
async fn is_left(store: &Sqlite, call: CallId) -> [bool; 2] {
    let named = store.recorded(Named::Call(call), now()).await.unwrap().remove(0);
    let listed = store.calls(&Criteria::default(), None, 100, now()).await.unwrap();
    let listed = listed.into_iter().find(|it| it.call_id == call).unwrap();
    assert_eq!([&named.standing, &listed.standing], [&Standing::Started; 2]);
    [named.is_left, listed.is_left]
}

#[tokio::test]
async fn a_call_whose_process_is_gone_is_known_to_be_left() {
    let directory: TempDir = tempfile::tempdir().unwrap();
    let (one, other) = (Sqlite::at(directory.path()), Sqlite::at(directory.path()));
    let call = begin(&one).await;
    assert_eq!([is_left(&one, call).await, is_left(&other, call).await], [[false; 2]; 2]);
    // Its lock goes with it, as that of a process that is killed.
    drop(one);
    assert_eq!(is_left(&other, call).await, [true; 2]);
    let own = begin(&other).await;
    assert_eq!(is_left(&other, own).await, [false; 2]);
}
