//! Ends: by agents, by persons, by time; and what ends with them.

use crate::support::state;
use toolwire::{
    db::sql,
    state::tasks::{Filter, NewEnd, NewMessage, Scope, entry::Speaker, life::Reason},
};

use super::*;

async fn end(house: &House, task: &Task, end: NewEnd) -> Result<Ending<Task>, TaskError> {
    house.tasks().end_task(&riley(), &task.id, &end, 0, mutation("EndTask", "1")).await
}

#[tokio::test]
async fn an_end_and_a_message_that_are_repeated_are_answered_as_the_first_time() {
    let house = House::new();
    let root = house.root().await;
    let message = NewMessage {
        speaker: Speaker::User,
        text: "Hurry".to_owned(),
        opaque: None,
        step_ref: StepRef::default(),
    };
    let said = mutation("AppendMessage", "1");
    for _ in 0..2 {
        let sequence = house.tasks().append_message(&riley(), &root.id, &message, said).await.unwrap();
        assert_eq!(sequence, 1);
    }
    let reused = Mutation { digest: Digest::of_bytes(b"2"), ..said };
    let reused = house.tasks().append_message(&riley(), &root.id, &message, reused).await;
    assert!(matches!(refused(reused), Refused::RequestIdReused(_)));
    let (failed, ends) = (NewEnd::Failed("no".to_owned()), mutation("EndTask", "1"));
    for _ in 0..2 {
        let ended = house.tasks().end_task(&riley(), &root.id, &failed, 0, ends).await.unwrap();
        assert_eq!(ended.of.state, State::Failed);
    }
    assert_eq!(house.assert_folds(&root.id).await.next_sequence, 3);
}

/// It is one change, however many there are.
#[tokio::test]
async fn a_cancelled_tree_of_a_thousand_tasks_ends_as_a_whole() {
    let house = House::new();
    let root = house.root().await;
    let (mut parents, mut made) = (vec![root.clone()], vec![root.id.clone()]);
    while made.len() < 1_000 {
        let mut children = Vec::new();
        for parent in &parents {
            for _ in 0..16.min(1_000 - made.len()) {
                let (_, child) = house.delegate(parent, 1).await;
                made.push(child.id.clone());
                children.push(child);
            }
        }
        parents = children;
    }
    let last = parents.last().unwrap();
    let too_many = call(last, "route_to_analyst", CallType::AgentAsTool);
    let too_many = house.tasks().delegate_task(&too_many, &child()).await;
    assert!(matches!(refused(too_many), Refused::TreeLimit(_)));
    let open = call(last, "write_file", CallType::Function);
    assert_new(house.tasks().begin_task_call(&open, None).await);

    let ending = house.tasks().cancel_task(&riley(), &root.id, "enough").await.unwrap();
    assert_eq!((ending.stopped.tasks.len(), ending.stopped.calls.clone()), (1_000, vec![open.call_id()]));
    assert_eq!(ending.of.message, "enough");
    let again = house.tasks().cancel_task(&riley(), &root.id, "again").await.unwrap();
    assert_eq!((again.of, again.stopped.tasks.len()), (ending.of, 0));
    let filter = Filter { scope: Scope::Tree(root.id.clone()), ..Filter::default() };
    let tree = house.tasks().tasks(&riley(), &filter, None, 1_000).await.unwrap().tasks;
    assert!(
        tree.len() == 1_000
            && tree.iter().all(|task| task.state == State::Cancelled && task.waits.is_empty())
    );
    let mut positions: Vec<_> = tree.iter().map(|task| task.position).collect();
    positions.sort_unstable();
    positions.dedup();
    assert_eq!(positions.len(), 1_000);
    for id in [&made[0], &made[500], &made[999]] {
        house.assert_folds(id).await;
    }
    // What ends afterwards answers the entry that the end made of it.
    let done = result(&open, Ok(json!({})));
    let recorded = house.tasks().end_task_call(&open, super::ended(&done)).await.unwrap();
    assert_eq!(recorded, Recorded { sequence: Some(3), blocks: None });
}

#[tokio::test]
async fn a_cancelled_child_answers_its_parent_and_the_parent_goes_on() {
    let house = House::new();
    let root = house.root().await;
    let (_, child) = house.delegate(&root, 1).await;
    let (_, below) = house.delegate(&child, 1).await;
    let ending = house.tasks().cancel_task(&riley(), &child.id, "too slow").await.unwrap();
    assert_eq!(ending.stopped.tasks, [child.id.clone(), below.id.clone()]);
    assert_eq!(house.assert_folds(&root.id).await.state, State::Running);
    assert_eq!(house.assert_folds(&below.id).await.state, State::Cancelled);
}

#[tokio::test]
async fn a_task_whose_time_is_over_fails_by_the_timer_and_when_it_is_used() {
    let house = House::new();
    let late = now() + 61 * MINUTE;
    let (used, timed) = (house.root().await, house.root().await);
    let (_, child) = house.delegate(&timed, 1).await;
    let call = call(&used, "stop_and_think", CallType::NonFunction);
    assert_eq!(
        refused(house.tasks().at_time(late).log_task_call(&call).await),
        Refused::Ended(State::Failed)
    );
    let used = house.assert_folds(&used.id).await;
    assert_eq!((used.state, used.message.is_empty()), (State::Failed, false));
    assert_eq!(house.tasks().expire_tasks().await.unwrap().tasks, []);
    let stopped = house.tasks().at_time(late).expire_tasks().await.unwrap();
    assert_eq!(stopped.tasks, [timed.id.clone(), child.id.clone()]);
    assert_eq!(house.told(&timed.id).await.pop().unwrap(), "failed by timed_out");
    assert_eq!(house.assert_folds(&child.id).await.state, State::Cancelled);
}

#[tokio::test]
async fn a_full_timeline_takes_its_end_and_nothing_else() {
    let house = House::new();
    let root = house.root().await;
    state::run(&house.store, sql!("UPDATE tasks SET bytes = 268435456")).await;
    let delegate = call(&root, "route_to_analyst", CallType::AgentAsTool);
    assert_eq!(refused(house.tasks().delegate_task(&delegate, &child()).await), Refused::TimelineFull);
    let write = call(&root, "write_file", CallType::Function);
    assert_eq!(refused(house.tasks().begin_task_call(&write, None).await), Refused::TimelineFull);
    house.hand_off(&root).await.unwrap();
    assert_eq!(house.assert_folds(&root.id).await.state, State::Completed);
}

#[tokio::test]
async fn a_blocked_task_may_fail_and_takes_what_it_waits_for_with_it() {
    let house = House::new();
    let root = house.root().await;
    let (_, child) = house.delegate(&root, 1).await;
    assert_eq!(house.task(&root.id).await.state, State::Blocked(Reason::Child));
    end(&house, &root, NewEnd::Failed("no".to_owned())).await.unwrap();
    assert_eq!(house.assert_folds(&child.id).await.state, State::Cancelled);
    assert!(matches!(refused(house.hand_off(&child).await), Refused::Ended(State::Cancelled)));
    assert_eq!(house.told(&root.id).await.len(), 3, "nothing comes after the end");
}

/// A started write goes on, and the timeline is everything that was done; the task is as it ended.
#[tokio::test]
async fn what_is_under_way_when_a_task_ends_has_its_entry_then_and_its_outcome_later() {
    let house = House::new();
    let root = house.root().await;
    let (_, child) = house.delegate(&root, 1).await;
    let [own, below] = [&root, &child]
        .map(|task| TaskCall { step_ref: of_step(1), ..call(task, "write_file", CallType::Function) });
    for call in [&own, &below] {
        assert_new(house.tasks().begin_task_call(call, None).await);
    }
    let ended_so = house.tasks().cancel_task(&riley(), &root.id, "enough").await.unwrap();
    assert_eq!(ended_so.stopped.calls.len(), 2);
    for call in [&own, &below] {
        assert_eq!(house.tasks().open_calls(&riley(), &call.task).await.unwrap(), []);
        let before = house.assert_folds(&call.task).await;
        let done = result(call, Ok(json!({"path": "a.md"})));
        let late = CallEnd { untrusted: true, ..ended(&done) };
        let recorded = house.tasks().end_task_call(call, late).await.unwrap();
        let after = house.assert_folds(&call.task).await;
        assert_eq!(recorded.sequence, Some(before.next_sequence));
        let (state, tainted) = (State::Cancelled, before.tainted);
        assert_eq!((after.state, after.tainted, after.ended_at), (state, tainted, before.ended_at));
        let told = house.told(&call.task).await;
        let told: Vec<_> = told.iter().rev().take(3).rev().map(String::as_str).collect();
        let at = before.next_sequence - 2;
        assert_eq!(
            told,
            [
                "write_file → under way when the task ended",
                "cancelled by cancelled",
                &format!("{at} ← ended after the task")
            ]
        );
        let again = house.tasks().begin_task_call(call, None).await;
        assert!(matches!(again, Ok(Admission::Begun(Begun::Ended(_)))), "{again:?}");
    }
}
