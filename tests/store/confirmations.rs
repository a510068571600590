//! What is kept of confirmations is bounded, and whoever waits for one is told of that one.

use std::time::{Duration, SystemTime};

use serde_json::{Map, json};
use toolwire::{
    base::digest::Digest,
    contract::{ConfirmationCause, ConfirmationId, Crowding, proto::v1},
    store::{
        Sqlite,
        confirmations::{
            Asked, Confirmation, Confirmations, Decided, Decision, Of, Opened, Verdict, life::State,
        },
        idempotency::{About, Beginning, Effect, Key, Room},
    },
    tool::context::{CallId, KnownBy, Outermost, RequestId},
};

use super::{SECOND, now, user};

const KIB: u64 = 1024;

fn key(name: &str) -> Key {
    Key { user: user(name), tool: "pay".parse().unwrap(), request_id: RequestId::generate() }
}

fn asked(request_id: RequestId, value: &str) -> Asked {
    let arguments: Map<_, _> = json!({"value": value}).as_object().unwrap().clone();
    Asked {
        user_email: None,
        path: vec!["pay".parse().unwrap()],
        summary: "Pay".to_owned(),
        arguments: Some(arguments),
        definition_digest: Digest::of_bytes(b"definition"),
        category: v1::ToolCategory::Write,
        consequence_level: v1::ConsequenceLevel::Low,
        cause: ConfirmationCause::Manifest,
        task_id: None,
        session_id: None,
        outermost: Outermost { call_id: CallId::generate(), request_id, is_repeatable: true },
    }
}

async fn ask(store: &Sqlite, key: &Key, value: &str, at: SystemTime) -> Opened {
    let (asked, digest) = (asked(key.request_id, value), Digest::of_bytes(value.as_bytes()));
    let about = About::of(asked.outermost.call_id, asked.definition_digest);
    let begins = Beginning { key, effect: Effect::Write, digest, about: &about };
    store.begin_confirmed(begins, &asked, at + 600 * SECOND, at).await
}

#[track_caller]
fn asks(opened: Opened) -> Confirmation {
    match opened {
        Opened::Asks(confirmation) => *confirmation,
        other => panic!("{other:?}"),
    }
}

async fn arguments_kept(store: &Sqlite, id: &ConfirmationId) -> bool {
    store.find(id, now()).await.unwrap().unwrap().asked.arguments.is_some()
}

/// The growth that a client makes who asks and cancels for as long as it likes.
#[tokio::test]
async fn who_asks_and_cancels_for_ever_makes_the_state_forget_and_then_is_refused() {
    let store = Sqlite::in_memory().confirming(Room { of_user: 64 * KIB, of_all: 1024 * KIB });
    let value = "x".repeat(8 * 1024);
    let open = key("riley");
    let stays = asks(ask(&store, &open, &value, now()).await);
    let mut ended: Vec<ConfirmationId> = Vec::new();
    let (crowding, own, until) = loop {
        let key = key("riley");
        let at = now() + Duration::from_millis(u64::try_from(ended.len()).unwrap());
        match ask(&store, &key, &value, at).await {
            Opened::Asks(confirmation) => {
                assert_eq!(store.withdraw(&key.user, Of::Request(key.request_id), at).await.unwrap(), 1);
                ended.push(confirmation.id);
            }
            Opened::TooMany { crowding, own, until } => break (crowding, own, until),
            other @ Opened::Begun(_) => panic!("{other:?}"),
        }
        assert!(ended.len() < 1_000, "nothing bounds what one user keeps");
    };
    assert_eq!((crowding, own, until), (Crowding::Kept, true, stays.expires_at));
    assert!(ended.len() > 8, "arguments are forgotten before anybody is refused: {}", ended.len());
    assert!(!arguments_kept(&store, &ended[0]).await, "the earliest first");
    assert!(arguments_kept(&store, &stays.id).await, "what is open is never forgotten");
    asks(ask(&store, &key("sam"), &value, now()).await);
}

/// A user with little is not turned away for what others keep.
#[tokio::test]
async fn who_has_less_than_a_fair_share_finds_room_whatever_others_keep() {
    let store = Sqlite::in_memory().confirming(Room { of_user: 256 * KIB, of_all: 4 * 1024 * KIB });
    let value = "x".repeat(100 * 1024);
    let mut ended = Vec::new();
    for name in 0..60 {
        let key = key(&format!("user-{name}"));
        ended.push(asks(ask(&store, &key, &value, now()).await).id);
        store.withdraw(&key.user, Of::Request(key.request_id), now()).await.unwrap();
    }
    assert!(!arguments_kept(&store, &ended[0]).await && arguments_kept(&store, &ended[59]).await);
}

#[tokio::test]
async fn a_waiter_is_told_of_its_confirmation_by_either_process() {
    let directory = tempfile::tempdir().unwrap();
    let (one, other) = (Sqlite::at(directory.path()), Sqlite::at(directory.path()));
    let (mine, not_mine) = (key("riley"), key("riley"));
    let (mine_id, not_mine_id) = (
        asks(ask(&one, &mine, "x", toolwire::base::clock::wall()).await).id,
        asks(ask(&one, &not_mine, "y", toolwire::base::clock::wall()).await).id,
    );
    let (mut of_mine, mut of_not_mine) = (one.changes_of(&mine_id), one.changes_of(&not_mine_id));
    // The first look tells all: who knows what changed before it.
    one.look().await;
    of_mine.mark_unchanged();
    of_not_mine.mark_unchanged();
    deny(&one, &not_mine_id).await;
    assert!(of_not_mine.has_changed().unwrap() && !of_mine.has_changed().unwrap());
    deny(&other, &mine_id).await;
    let told = async {
        while !of_mine.has_changed().unwrap() {
            one.look().await;
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(60 * SECOND, told).await.expect("told");
}

async fn deny(store: &Sqlite, id: &ConfirmationId) {
    let decided = Decided {
        at: toolwire::base::clock::wall(),
        by: user("alex"),
        via: "grpc".to_owned(),
        on_behalf_of: String::new(),
    };
    let decision = Decision {
        verdict: Verdict::Deny,
        decided,
        reason: "no".to_owned(),
        known_by: KnownBy::Token,
        peer: None,
    };
    let outcome = store.decide(id, &decision).await.unwrap().unwrap();
    assert_eq!(outcome.confirmation.state, State::Denied);
}
