//! Calls as others see them: whether whoever carries one out is still there.

use crate::support::state;
use tempfile::TempDir;
use toolwire::{
    base::digest::Digest,
    state::{
        Store,
        calls::{CallState, Criteria, RecordSelector},
        cancellations::Subject,
        idempotency::{About, Beginning, Begun, Effect, Idempotency, Key, Owner, RemoteEnd},
    },
    tool::context::{CallId, RequestId},
};

use super::{now, user};

/// Begins a write, and says by which call.
async fn begin(store: &Store) -> CallId {
    begin_of(store, &key()).await
}

fn key() -> Key {
    Key { user: user("riley"), tool: "pay".parse().unwrap(), request_id: RequestId::generate() }
}

async fn begin_of(store: &Store, key: &Key) -> CallId {
    let call_id = CallId::generate();
    let about = About::of(call_id, Digest::of_bytes(b"definition"));
    let begins = Beginning { key, effect: Effect::Write, digest: Digest::of_bytes(b"x"), about: &about };
    assert!(matches!(store.at_time(now()).begin(begins).await, Begun::New));
    call_id
}

/// Whether the process of a call is gone, as one process sees it: named, and in a list.
async fn is_left(store: &Store, call: CallId) -> [bool; 2] {
    let named = store.at_time(now()).find_calls(RecordSelector::Call(call)).await.unwrap().remove(0);
    let listed = store.at_time(now()).list_calls(&Criteria::default(), None, 100).await.unwrap();
    let listed = listed.into_iter().find(|it| it.call_id == call).unwrap();
    assert_eq!([&named.standing, &listed.standing], [&CallState::Started; 2]);
    [named.is_left, listed.is_left]
}

#[tokio::test]
async fn a_call_whose_process_is_gone_is_known_to_be_left() {
    let directory: TempDir = tempfile::tempdir().unwrap();
    let (one, other) = (state::at(directory.path()), state::at(directory.path()));
    let call = begin(&one).await;
    assert_eq!([is_left(&one, call).await, is_left(&other, call).await], [[false; 2]; 2]);
    // Its lock goes with it, as that of a process that is killed, which a database notices a moment later.
    drop(one);
    state::until(async || is_left(&other, call).await == [true; 2]).await;
    let own = begin(&other).await;
    assert_eq!(is_left(&other, own).await, [false; 2]);
}

#[tokio::test]
async fn who_waits_for_a_call_of_another_process_is_told_how_it_ended() {
    let directory = tempfile::tempdir().unwrap();
    let (one, other) = (state::at(directory.path()), state::at(directory.path()));
    let key = key();
    let call = begin_of(&one, &key).await;
    assert_eq!(one.owner(&key).await.unwrap(), Owner::Lost, "it is its own, and knows best");
    assert_eq!(other.owner(&key).await.unwrap(), Owner::Remote(call));
    let (end, cancelled) = tokio::join!(other.wait_for_remote_end(&key, call), one.forget(&key, "CANCELLED"));
    assert!(cancelled.is_ok() && matches!(end, RemoteEnd::Cancelled), "{end:?}");
    assert_eq!(other.owner(&key).await.unwrap(), Owner::Over);

    let call = begin_of(&one, &key).await;
    let (end, forgotten) =
        tokio::join!(other.wait_for_remote_end(&key, call), one.forget(&key, "UNAVAILABLE"));
    assert!(forgotten.is_ok() && matches!(end, RemoteEnd::Unsettled), "{end:?}");

    let call = begin_of(&one, &key).await;
    let gone = async { drop(one) };
    let (end, ()) = tokio::join!(other.wait_for_remote_end(&key, call), gone);
    assert!(matches!(end, RemoteEnd::Unsettled), "{end:?}");
    assert_eq!(other.owner(&key).await.unwrap(), Owner::Lost);
}

#[tokio::test]
async fn a_request_to_cancel_is_read_once_by_every_other_process_and_is_answered() {
    let directory = tempfile::tempdir().unwrap();
    let (one, other) = (state::at(directory.path()), state::at(directory.path()));
    let (riley, subject) = (user("riley"), Subject::Turn(RequestId::generate()));
    assert!(!one.cancel_elsewhere(&riley, &subject).await.unwrap(), "nobody else is there");
    let mut requests = other.cancel_requests().await.unwrap();
    let answering = async {
        let asked = requests.next().await;
        assert_eq!((asked.len(), &asked[0].user, &asked[0].subject), (1, &riley, &subject));
        other.answer_cancel(&asked[0], true).await.unwrap();
    };
    let (cancelled, ()) = tokio::join!(one.cancel_elsewhere(&riley, &subject), answering);
    assert!(cancelled.unwrap());
    // Nobody answers: it waits for an owner that reads late.
    let second = Subject::Session("s".parse().unwrap());
    assert!(!one.cancel_elsewhere(&riley, &second).await.unwrap());
    one.request_cancel(&riley, &subject).await.unwrap();
    assert_eq!(requests.next().await.len(), 2);
    // Whoever comes later begins nothing that it is meant for.
    let third = state::at(directory.path());
    let mut later = third.cancel_requests().await.unwrap();
    one.request_cancel(&riley, &second).await.unwrap();
    let asked = later.next().await;
    assert_eq!((asked.len(), &asked[0].subject), (1, &second));
}
