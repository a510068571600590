//! Messages that come at the same time are appended together, and judged one by one.

use crate::support::state;
use futures_util::{
    future::{join_all, maybe_done},
    poll,
};
use toolwire::{
    db::sql,
    state::tasks::{MAX_TREE_BYTES, MAX_USER_BYTES, NewMessage, TreeLimit, entry::Speaker},
};

use super::*;

pub(super) async fn say(
    house: &House,
    user: &str,
    id: &TaskId,
    text: &str,
    request: RequestId,
) -> Result<u64, TaskError> {
    let new =
        NewMessage { speaker: Speaker::Assistant, text: text.to_owned(), opaque: None, step_ref: of_step(0) };
    let digest = Digest::of_bytes(text.as_bytes());
    let mutation = Mutation { method: "AppendMessage", request_id: request, digest };
    house.tasks().append_message(&super::user(user), id, &new, mutation).await
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_several_tasks_have_each_a_place_of_their_own() {
    let house = House::new();
    let tasks = [house.root().await, house.root().await, house.root().await];
    let all = (0..300).map(|number| {
        let (house, id) = (&house, &tasks[number % 3].id);
        async move { say(house, "riley", id, &format!("message {number}"), RequestId::generate()).await }
    });
    let mut places: Vec<_> = join_all(all).await.into_iter().map(Result::unwrap).collect();
    places.sort_unstable();
    let expected: Vec<u64> = (1..=100).flat_map(|place| [place; 3]).collect();
    assert_eq!(places, expected);
    for task in &tasks {
        assert_eq!(house.assert_folds(&task.id).await.next_sequence, 101);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_refused_harms_no_other_of_its_time() {
    let house = House::new();
    let (task, over) = (house.root().await, house.root().await);
    house.tasks().cancel_task(&riley(), &over.id, "").await.unwrap();
    let (same, unknown, long) = (RequestId::generate(), TaskId::generate(), "long ".repeat(10_000));
    let (one, again, other, foreign, ended, nowhere, last) = tokio::join!(
        say(&house, "riley", &task.id, "one", same),
        say(&house, "riley", &task.id, "one", same),
        say(&house, "riley", &task.id, "two", same),
        say(&house, "sam", &task.id, "three", RequestId::generate()),
        say(&house, "riley", &over.id, "four", RequestId::generate()),
        say(&house, "riley", &unknown, "five", RequestId::generate()),
        say(&house, "riley", &task.id, &long, RequestId::generate()),
    );
    assert_eq!((one.unwrap(), again.unwrap(), last.unwrap()), (1, 1, 2));
    assert_eq!(refused(other), Refused::RequestIdReused(same));
    assert_eq!((refused(foreign), refused(nowhere)), (Refused::Unknown, Refused::Unknown));
    assert_eq!(refused(ended), Refused::Ended(State::Cancelled));
    assert_eq!(house.assert_folds(&task.id).await.next_sequence, 3);
    assert_eq!(say(&house, "riley", &task.id, "one", same).await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_leaves_while_writing_for_others_leaves_them_their_places() {
    let house = House::new();
    let task = house.root().await;
    for polls in 0..12 {
        // Either may be over before the last poll.
        let say = |text| Box::pin(maybe_done(say(&house, "riley", &task.id, text, RequestId::generate())));
        let (mut leaving, mut staying) = (say("leaving"), say("staying"));
        for _ in 0..=polls {
            let _ = poll!(&mut leaving);
            let _ = poll!(&mut staying);
            tokio::task::yield_now().await;
        }
        drop(leaving);
        staying.as_mut().await;
        staying.as_mut().take_output().expect("it is over").unwrap();
        house.assert_folds(&task.id).await;
    }
}

/// Entries that are written in one change share what was read of others, and the bound is as exact as for each alone.
#[tokio::test(flavor = "multi_thread")]
async fn those_beyond_the_bytes_of_a_user_or_a_tree_are_refused_when_they_come_together() {
    for (limit, most) in [(TreeLimit::BytesOfUser, MAX_USER_BYTES), (TreeLimit::Bytes, MAX_TREE_BYTES)] {
        let house = House::new();
        let (mine, beside) = (house.root().await, house.root().await);
        let tree = if limit == TreeLimit::Bytes { &mine.id } else { &beside.id };
        for (id, root, bytes) in [(&mine.id, &mine.id, 2 << 20), (&beside.id, tree, most - (2 << 20) - 2_500)]
        {
            let set = sql!("UPDATE tasks SET bytes = {bytes}, root = {root} WHERE id = {id}");
            state::run(&house.store, set).await;
        }
        let count = sql!("UPDATE timeline_usage SET bytes = (SELECT SUM(bytes) FROM tasks)");
        state::run(&house.store, count).await;
        let text = "x".repeat(1_000);
        let all = (0..8).map(|_| say(&house, "riley", &mine.id, &text, RequestId::generate()));
        let (taken, refusals): (Vec<_>, Vec<_>) = join_all(all).await.into_iter().partition(Result::is_ok);
        assert_eq!(taken.len(), 3, "the last begins below the bound");
        assert!(refusals.into_iter().all(|it| refused(it) == Refused::TreeLimit(limit)));
    }
}
