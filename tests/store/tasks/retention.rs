//! Trees that ended go in time, or at once; open ones never.

use super::*;
use crate::support::state;

async fn rows(house: &House) -> Vec<i64> {
    let mut rows = Vec::new();
    for query in [
        "SELECT count(*) FROM tasks",
        "SELECT count(*) FROM entries",
        "SELECT count(*) FROM entry_parts",
        "SELECT count(*) FROM waits",
    ] {
        rows.push(state::row(&house.store, query).await);
    }
    rows
}

#[tokio::test]
async fn ended_trees_go_after_their_time_and_open_ones_never() {
    let house = House::new();
    let keep = 60 * MINUTE;
    let (open, old) = (house.root().await, house.root().await);
    house.delegate(&old, 1).await;
    let long = TaskCall { input: "x".repeat(20_000), ..call(&old, "stop_and_think", CallType::NonFunction) };
    let long = TaskCall { step_ref: of_step(1), ..long };
    house.tasks().log_task_call(&long).await.unwrap();
    house.tasks().cancel_task(&riley(), &old.id, "").await.unwrap();
    assert!(!house.tasks().at_time(now() + keep - SECOND).sweep_tasks(keep).await.unwrap());
    house.task(&old.id).await;
    while house.tasks().at_time(now() + 10 * keep).sweep_tasks(keep).await.unwrap() {}
    assert_eq!(refused(house.tasks().task(&riley(), &old.id).await), Refused::Unknown);
    assert_eq!(rows(&house).await, [1, 1, 0, 0]);
    house.task(&open.id).await;
}

#[tokio::test]
async fn a_deleted_tree_is_gone_at_once() {
    let house = House::new();
    let root = house.root().await;
    let (_, child) = house.delegate(&root, 1).await;
    let delete = async |id: &TaskId| house.tasks().delete_task_tree(&riley(), id).await;
    assert!(matches!(refused(delete(&root.id).await), Refused::NotEnded(_)));
    assert_eq!(refused(delete(&child.id).await), Refused::NotARoot);
    house.tasks().cancel_task(&riley(), &root.id, "").await.unwrap();
    delete(&root.id).await.unwrap();
    delete(&root.id).await.unwrap();
    for id in [&root.id, &child.id] {
        assert_eq!(refused(house.tasks().task(&riley(), id).await), Refused::Unknown);
    }
    while house.tasks().sweep_tasks(MINUTE).await.unwrap() {}
    assert_eq!(rows(&house).await, [0, 0, 0, 0]);
}
