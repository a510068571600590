//! What is kept of confirmations is bounded, and whoever waits for one is told of that one.

use std::time::{Duration, SystemTime};

use crate::support::state;
use bytes::Bytes;
use serde_json::{Map, json};
use toolwire::{
    base::digest::Digest,
    contract::{ConfirmationCause, ConfirmationId, Crowding, proto::v1},
    db::sql,
    state::{
        Store,
        confirmations::{
            ARGUMENT_RETENTION, Admission, CallRef, Confirmation, ConfirmationRequest, Decided, Decision,
            EVENT_RETENTION, Verdict, life::State,
        },
        idempotency::{About, Beginning, Begun, Effect, Key, Quota},
    },
    tool::context::{CallId, KnownBy, Outermost, RequestId},
};

use super::{SECOND, now, user};

const KIB: u64 = 1024;

fn key(name: &str) -> Key {
    Key { user: user(name), tool: "pay".parse().unwrap(), request_id: RequestId::generate() }
}

fn asked(request_id: RequestId, value: &str) -> ConfirmationRequest {
    let arguments: Map<_, _> = json!({"value": value}).as_object().unwrap().clone();
    ConfirmationRequest {
        user_email: None,
        face: "grpc".to_owned(),
        client: String::new(),
        path: vec!["pay".parse().unwrap()],
        summary: "Pay".to_owned(),
        arguments: Some(arguments),
        definition_digest: Digest::of_bytes(b"definition"),
        definition: Bytes::new(),
        category: v1::ToolCategory::Write,
        consequence_level: v1::ConsequenceLevel::Low,
        cause: ConfirmationCause::Manifest,
        task_id: None,
        session_id: None,
        outermost: Outermost { call_id: CallId::generate(), request_id, is_repeatable: true },
    }
}

async fn ask(store: &Store, key: &Key, value: &str, at: SystemTime) -> Admission {
    let (asked, digest) = (asked(key.request_id, value), Digest::of_bytes(value.as_bytes()));
    let about = About::of(asked.outermost.call_id, asked.definition_digest);
    let begins = Beginning { key, effect: Effect::Write, digest, about: &about };
    store.at_time(at).begin_confirmed(begins, &asked, 600 * SECOND).await
}

#[track_caller]
fn asks(opened: Admission) -> Confirmation {
    match opened {
        Admission::Asks(confirmation) => *confirmation,
        other => panic!("{other:?}"),
    }
}

async fn arguments_kept(store: &Store, id: &ConfirmationId) -> bool {
    store.at_time(now()).confirmation(id).await.unwrap().unwrap().asked.arguments.is_some()
}

/// The growth that a client makes who asks and cancels for as long as it likes.
#[tokio::test]
async fn who_asks_and_cancels_for_ever_makes_the_state_forget_and_then_is_refused() {
    let store = state::fresh().with_confirmations_quota(Quota { of_user: 64 * KIB, of_all: 1024 * KIB });
    let value = "x".repeat(8 * 1024);
    let open = key("riley");
    let stays = asks(ask(&store, &open, &value, now()).await);
    let mut ended: Vec<ConfirmationId> = Vec::new();
    let (crowding, own, until) = loop {
        let key = key("riley");
        let at = now() + Duration::from_millis(u64::try_from(ended.len()).unwrap());
        match ask(&store, &key, &value, at).await {
            Admission::Asks(confirmation) => {
                assert_eq!(
                    store
                        .at_time(at)
                        .withdraw_confirmations(&key.user, CallRef::Request(key.request_id))
                        .await
                        .unwrap(),
                    1
                );
                ended.push(confirmation.id);
            }
            Admission::TooMany { crowding, own, until } => break (crowding, own, until),
            other @ Admission::Begun(_) => panic!("{other:?}"),
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
    let store = state::fresh().with_confirmations_quota(Quota { of_user: 256 * KIB, of_all: 4 * 1024 * KIB });
    let value = "x".repeat(100 * 1024);
    let mut ended = Vec::new();
    for name in 0..60 {
        let key = key(&format!("user-{name}"));
        ended.push(asks(ask(&store, &key, &value, now()).await).id);
        store
            .at_time(now())
            .withdraw_confirmations(&key.user, CallRef::Request(key.request_id))
            .await
            .unwrap();
    }
    assert!(!arguments_kept(&store, &ended[0]).await && arguments_kept(&store, &ended[59]).await);
}

#[tokio::test]
async fn a_waiter_is_told_of_its_confirmation_by_either_process() {
    let directory = tempfile::tempdir().unwrap();
    let (one, other) = (state::at(directory.path()), state::at(directory.path()));
    let (mine, not_mine) = (key("riley"), key("riley"));
    let (mine_id, not_mine_id) = (
        asks(ask(&one, &mine, "x", toolwire::base::clock::wall()).await).id,
        asks(ask(&one, &not_mine, "y", toolwire::base::clock::wall()).await).id,
    );
    let (mut of_mine, of_not_mine) =
        (one.follow_confirmation(&mine_id), one.follow_confirmation(&not_mine_id));
    deny(&one, &not_mine_id).await;
    assert!(of_not_mine.has_changed().unwrap() && !of_mine.has_changed().unwrap());
    deny(&other, &mine_id).await;
    let until = toolwire::base::clock::now() + 60 * SECOND;
    let notified = async {
        // The first read notifies every waiter, since it does not know what changed before it.
        while one.at_time(now()).confirmation(&mine_id).await.unwrap().unwrap().state != State::Denied {
            one.confirmation_may_have_changed(&mut of_mine, until).await;
        }
    };
    tokio::time::timeout(60 * SECOND, notified).await.expect("notified");
}

/// Otherwise every call that waits would read as fast as it can while the database is away.
#[tokio::test]
async fn a_waiter_pauses_while_changes_cannot_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let store = state::at(directory.path());
    let id = asks(ask(&store, &key("riley"), "x", toolwire::base::clock::wall()).await).id;
    let mut changes = store.follow_confirmation(&id);
    // The first read notifies every waiter, since it does not know what changed before it.
    store.confirmation_may_have_changed(&mut changes, toolwire::base::clock::now() + 60 * SECOND).await;
    state::run(&store, sql!("ALTER TABLE confirmation_events RENAME TO elsewhere")).await;
    let began = toolwire::base::clock::now();
    store.confirmation_may_have_changed(&mut changes, began + 60 * SECOND).await;
    assert!((SECOND / 4..60 * SECOND).contains(&began.elapsed()), "{:?}", began.elapsed());
}

/// The stored counts, which quotas are checked against, equal those that `state check` computes from the rows.
#[tokio::test]
async fn the_counts_follow_every_change() {
    let directory = tempfile::tempdir().unwrap();
    let store = state::at(directory.path());
    let counted = async |when: &str| {
        assert_eq!(state::problems(directory.path()).await, Vec::<String>::new(), "{when}");
    };
    let keys: [_; 4] = std::array::from_fn(|_| key("riley"));
    let mut ids = Vec::new();
    for key in &keys {
        ids.push(asks(ask(&store, key, "x", now()).await).id);
    }
    counted("requested").await;
    let [used, denied, withdrawn, _expired] = &keys;
    let definition_digest = Some(Digest::of_bytes(b"definition"));
    let approve = Verdict::Approve { use_within: 600 * SECOND, definition_digest };
    assert_eq!(decide(&store, &ids[0], approve, now()).await, State::Approved);
    assert_eq!(decide(&store, &ids[1], Verdict::Deny, now()).await, State::Denied);
    counted("decided").await;
    let begun = ask(&store, used, "x", now()).await;
    assert!(matches!(begun, Admission::Begun(Begun::New)), "{begun:?}");
    let call = CallRef::Request(withdrawn.request_id);
    assert_eq!(store.at_time(now()).withdraw_confirmations(&denied.user, call).await.unwrap(), 1);
    assert_eq!(store.at_time(now() + 601 * SECOND).expire_confirmations().await.unwrap(), 1);
    counted("ended").await;
    store.at_time(now() + ARGUMENT_RETENTION + 3600 * SECOND).sweep_confirmations().await.unwrap();
    assert!(!arguments_kept(&store, &ids[0]).await);
    counted("without arguments").await;
    store.at_time(now() + EVENT_RETENTION + 3600 * SECOND).sweep_confirmations().await.unwrap();
    assert_eq!(store.at_time(now()).confirmation(&ids[0]).await.unwrap(), None);
    store.at_time(now() + EVENT_RETENTION + 3600 * SECOND).sweep_audit_records().await.unwrap();
    counted("deleted").await;
    let counts = "SELECT (SELECT bytes FROM confirmation_total) + (SELECT count(*) FROM confirmation_usage) \
                  + (SELECT records FROM audit_total) + (SELECT count(*) FROM audit_usage)";
    let counts: i64 = state::row(&store, counts).await;
    assert_eq!(counts, 0, "what is gone is not counted");
}

async fn deny(store: &Store, id: &ConfirmationId) {
    assert_eq!(decide(store, id, Verdict::Deny, toolwire::base::clock::wall()).await, State::Denied);
}

async fn decide(store: &Store, id: &ConfirmationId, verdict: Verdict, at: SystemTime) -> State {
    let (by, via) = (user("alex"), "grpc".to_owned());
    let decided = Decided { at, by, via, on_behalf_of: "the board".to_owned() };
    let (reason, known_by) = ("because".to_owned(), KnownBy::Token);
    let decision = Decision { verdict, decided, reason, known_by, peer: None, workload: None };
    store.at_time(at).decide_confirmation(id, &decision).await.unwrap().unwrap().confirmation.state
}
