//! Turns of conversations: kept by user and name, remembered in order, bounded, and forgotten in time.

use std::time::Duration;

use toolwire::{
    state::{
        Store,
        sessions::{MAX_TURNS_PER_SESSION, RETENTION, State, StoredTurn},
    },
    tool::context::{RequestId, SessionId},
};

use super::{in_file, now, user};

fn session(name: &str) -> SessionId {
    name.parse().unwrap()
}

fn turn(name: &str, of: &str, message: &str) -> StoredTurn {
    StoredTurn {
        user: user(name),
        turn_id: RequestId::generate(),
        session: session(of),
        account: "Brokerage".to_owned(),
        message: message.to_owned(),
        state: State::Ended,
        created_at: now(),
        ended_at: now() + Duration::from_millis(7),
        answered: format!("to {message}"),
        calls: r#"[{"tool":"get_quotes"}]"#.to_owned(),
        tainted: message == "tainted",
        reply: vec![1, 2, 3],
        standing: String::new(),
    }
}

async fn keep(store: &Store, turn: StoredTurn) -> StoredTurn {
    store.keep_turn(&turn).await.unwrap();
    turn
}

async fn said(store: &Store, name: &str, of: &str) -> Vec<String> {
    let turns = store.turns(&user(name), &session(of), 0, 1_000).await.unwrap();
    turns.into_iter().map(|(_, turn)| turn.message).collect()
}

#[tokio::test]
async fn a_session_has_its_turns_in_order_and_its_users_apart() {
    let (store, _directory) = in_file();
    for (name, of, message) in
        [("riley", "s", "one"), ("sam", "s", "hers"), ("riley", "t", "other"), ("riley", "s", "tainted")]
    {
        keep(&store, turn(name, of, message)).await;
    }
    assert_eq!(said(&store, "riley", "s").await, ["one", "tainted"]);
    assert_eq!(said(&store, "sam", "s").await, ["hers"]);
    let first = store.turns(&user("riley"), &session("s"), 0, 1).await.unwrap();
    let rest = store.turns(&user("riley"), &session("s"), first[0].0, 10).await.unwrap();
    assert_eq!(rest[0].1.message, "tainted");
    let remembered = store.recall_turns(&user("riley"), &session("s"), 1).await.unwrap();
    assert_eq!(remembered.len(), 1);
    assert!(remembered[0].tainted && remembered[0].answered == "to tainted", "{remembered:?}");
}

#[tokio::test]
async fn a_paused_turn_that_goes_on_keeps_its_place() {
    let (store, _directory) = in_file();
    let standing = "{}".to_owned();
    let paused = StoredTurn { state: State::Paused, standing, ..turn("riley", "s", "one") };
    let paused = keep(&store, paused).await;
    keep(&store, turn("riley", "s", "two")).await;
    assert_eq!(
        store.paused_turns(&user("riley"), &session("s")).await.unwrap(),
        std::slice::from_ref(&paused)
    );
    assert_eq!(store.recall_turns(&user("riley"), &session("s"), 9).await.unwrap().len(), 1);
    let ended = StoredTurn { state: State::Ended, standing: String::new(), ..paused };
    keep(&store, ended.clone()).await;
    assert_eq!(said(&store, "riley", "s").await, ["one", "two"]);
    assert_eq!(store.turn(&user("riley"), ended.turn_id).await.unwrap(), Some(ended));
    assert_eq!(store.paused_turns(&user("riley"), &session("s")).await.unwrap(), []);
}

#[tokio::test]
async fn only_a_paused_turn_of_ones_own_is_cancelled_and_once() {
    let (store, _directory) = in_file();
    let paused = keep(&store, StoredTurn { state: State::Paused, ..turn("riley", "s", "one") }).await;
    let ended = keep(&store, turn("riley", "s", "two")).await;
    let cancel = async |name: &str, turn: &StoredTurn| {
        store.at_time(now()).cancel_paused_turn(&user(name), turn.turn_id).await.unwrap()
    };
    assert!(!cancel("sam", &paused).await && !cancel("riley", &ended).await);
    assert!(cancel("riley", &paused).await && !cancel("riley", &paused).await);
    let found = store.turn(&user("riley"), paused.turn_id).await.unwrap().unwrap();
    assert_eq!((found.state, found.reply.len(), found.standing.len()), (State::Cancelled, 0, 0));
}

#[tokio::test]
async fn a_session_keeps_its_newest_turns_and_no_turn_for_ever() {
    let (store, _directory) = in_file();
    for number in 0..MAX_TURNS_PER_SESSION + 2 {
        keep(&store, turn("riley", "s", &number.to_string())).await;
    }
    let said = said(&store, "riley", "s").await;
    assert_eq!((said.len(), said[0].as_str()), (MAX_TURNS_PER_SESSION as usize, "2"));
    assert!(!store.at_time(now() + RETENTION).sweep_turns().await.unwrap());
    assert_eq!(self::said(&store, "riley", "s").await.len(), MAX_TURNS_PER_SESSION as usize);
    assert!(!store.at_time(now() + RETENTION + Duration::from_secs(1)).sweep_turns().await.unwrap());
    assert_eq!(self::said(&store, "riley", "s").await, [""; 0]);
}
