//! Trees: made, bounded, given up half-way.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use crate::support::state;
use toolwire::{
    db::sql,
    state::tasks::{
        Filter, Kind, MAX_DEPTH, MAX_OPEN_TREES, MAX_WAITS, Scope, TreeLimit, entry::DocumentVersion,
        life::Reason,
    },
};

use super::*;

#[tokio::test]
async fn a_delegation_that_is_given_up_at_any_point_is_whole_or_never_was() {
    let house = House::new();
    let (mut whole, mut never) = (0, 0);
    for polls in 0..60 {
        let root = house.root().await;
        let delegate = call(&root, "route_to_analyst", CallType::AgentAsTool);
        let done = given_up(house.tasks().delegate_task(&delegate, &child()), polls).await;
        let stored = house.assert_folds(&root.id).await;
        let filter = Filter { scope: Scope::Tree(root.id.clone()), ..Filter::default() };
        let tree = house.tasks().tasks(&riley(), &filter, None, 10).await.unwrap().tasks;
        match stored.state {
            State::Pending => {
                assert!(done.is_none() && tree.len() == 1, "{polls}: {tree:?}");
                never += 1;
            }
            state => {
                assert_eq!((state, tree.len()), (State::Blocked(Reason::Child), 2), "{polls}");
                whole += 1;
            }
        }
        // The repeat, of either, is answered alike.
        let action = house.tasks().delegate_task(&delegate, &child()).await.unwrap();
        assert_eq!(house.assert_folds(&root.id).await.waits.len(), 1, "{action:?}");
        house.tasks().cancel_task(&riley(), &root.id, "").await.unwrap();
    }
    assert!(whole > 0 && never > 0, "{whole} {never}");
}

#[tokio::test]
async fn depth_waits_and_open_trees_are_bounded() {
    let house = House::new();
    let mut task = house.root().await;
    let root = task.id.clone();
    for _ in 0..MAX_DEPTH {
        task = house.delegate(&task, 1).await.1;
    }
    let deeper = call(&task, "route_to_analyst", CallType::AgentAsTool);
    let deepest = refused(house.tasks().delegate_task(&deeper, &child()).await);
    assert_eq!(deepest, Refused::TreeLimit(TreeLimit::Depth));
    assert_eq!(house.task(&task.id).await.next_sequence, 1, "nothing was done");

    let wide = house.root().await;
    for _ in 0..MAX_WAITS {
        house.delegate(&wide, 1).await;
    }
    let more = TaskCall { step_ref: of_step(1), ..call(&wide, "route_to_analyst", CallType::AgentAsTool) };
    let refusal = refused(house.tasks().delegate_task(&more, &child()).await);
    assert_eq!(refusal, Refused::TreeLimit(TreeLimit::Waits));

    for _ in 2..MAX_OPEN_TREES {
        house.root().await;
    }
    let another = mutation("CreateTask", "1");
    let refusal = refused(house.tasks().create_root_task(&new_root(), another).await);
    assert_eq!(refusal, Refused::TreeLimit(TreeLimit::OpenTrees));
    house.tasks().cancel_task(&riley(), &root, "").await.unwrap();
    house.root().await;
}

#[tokio::test]
async fn timelines_of_ended_trees_count_until_they_are_forgotten() {
    let house = House::new();
    let root = house.root().await;
    house.tasks().cancel_task(&riley(), &root.id, "").await.unwrap();
    let counted = "SELECT (SELECT bytes FROM timeline_usage) = (SELECT SUM(bytes) FROM tasks)";
    let is_counted: bool = state::row(&house.store, counted).await;
    assert!(is_counted);
    for table in ["tasks", "timeline_usage"] {
        state::run(&house.store, sql!("UPDATE {..table} SET bytes = {5_i64 << 30}")).await;
    }
    let another = || mutation("CreateTask", "1");
    let refusal = refused(house.tasks().create_root_task(&new_root(), another()).await);
    assert_eq!(refusal, Refused::TreeLimit(TreeLimit::BytesOfUser));
    house.tasks().delete_task_tree(&riley(), &root.id).await.unwrap();
    while house.tasks().sweep_tasks(MINUTE).await.unwrap() {}
    house.tasks().create_root_task(&new_root(), another()).await.unwrap();
    let is_counted: bool = state::row(&house.store, counted).await;
    assert!(is_counted);
}

#[tokio::test]
async fn documents_go_along_at_their_versions_and_an_unknown_one_is_refused_before_anything_ends() {
    let house = House::new();
    let root = house.root().await;
    let add = sql!(
        "INSERT INTO documents (root, path, version, etag, previous_etag, deleted, digest, size, mime_type, tokens,
         tokens_estimated, summary, untrusted, description, tags, created_by, created_at, updated_by, updated_at)
         VALUES ({root.id.as_str()}, 'charts.png', 3, 'e', '', 0, NULL, 0, '', 0, 0, '', 1, '', '', '', 0, '', 0)"
    );
    state::run(&house.store, add).await;

    let new = NewChild { documents: vec!["charts.png".to_owned()], ..child() };
    let delegate = call(&root, "route_to_analyst", CallType::AgentAsTool);
    let made = house.tasks().delegate_task(&delegate, &new).await.unwrap().task_id.unwrap();
    let child = house.assert_folds(&made).await;
    assert_eq!(child.documents, [DocumentVersion { path: "charts.png".to_owned(), version: 3 }]);
    assert!(child.tainted, "it has text from outside");

    let call = call(&child, "handoff", CallType::Handoff);
    let hand_off = async |path: &str| {
        let paths = [path.to_owned()];
        house.tasks().hand_off_task(&call, &Map::new(), &paths).await
    };
    let near = vec!["charts.png".to_owned()];
    assert_eq!(
        refused(hand_off("chart.png").await),
        Refused::NoSuchDocument { path: "chart.png".to_owned(), near }
    );
    assert_eq!(house.assert_folds(&made).await.state, State::Pending);
    hand_off("charts.png").await.unwrap();
    let Body::Answer(answer) = house.timeline(&root.id).await.remove(2).body else { panic!() };
    assert_eq!(answer.documents, child.documents);
    assert!(house.assert_folds(&root.id).await.tainted);
}

#[tokio::test]
async fn positions_of_a_user_say_nothing_of_others() {
    let house = House::new();
    let before = house.root().await.position;
    let new = NewRoot { id: TaskId::generate(), user: user("alex"), ..new_root() };
    let foreign = house.tasks().create_root_task(&new, mutation("CreateTask", "1")).await.unwrap();
    assert_eq!((foreign.position, house.root().await.position), (before, before + 1));
}

#[tokio::test]
async fn lists_are_filtered_and_paged_and_changes_are_in_order() {
    let house = House::new();
    let (one, two) = (house.root().await, house.root_of("analyst").await);
    let (_, below) = house.delegate(&one, 1).await;
    let listed = async |filter: Filter, from, limit| {
        let listed = house.tasks().tasks(&riley(), &filter, from, limit).await.unwrap();
        (listed.tasks.into_iter().map(|task| task.id).collect::<Vec<_>>(), listed.next)
    };
    let roots = || Filter { scope: Scope::Roots, ..Filter::default() };
    let (first, next) = listed(roots(), None, 1).await;
    assert_eq!(first, std::slice::from_ref(&two.id), "the newest first");
    assert_eq!(listed(roots(), next, 1).await, (vec![one.id.clone()], None));
    let tree = Filter { scope: Scope::Tree(one.id.clone()), ..Filter::default() };
    assert_eq!(listed(tree, None, 9).await.0, [one.id.clone(), below.id.clone()]);
    let roles = Filter { roles: vec!["analyst".to_owned()], kinds: vec![Kind::Root], ..Filter::default() };
    assert_eq!(listed(roles, None, 9).await.0, std::slice::from_ref(&two.id));
    let blocked = Filter { states: vec!["blocked"], ..Filter::default() };
    assert_eq!(listed(blocked, None, 9).await.0, std::slice::from_ref(&one.id));
    let label = |value: &str| Filter { labels: [("team".to_owned(), value.to_owned())].into(), ..roots() };
    assert_eq!(listed(label("sales"), None, 9).await.0.len(), 2);
    assert_eq!(listed(label("ops"), None, 9).await.0.len(), 0);

    let all = Filter::default();
    let before = house.tasks().task_changes(&riley(), &all, 0, 9).await.unwrap();
    assert_eq!(before.tasks.len(), 3);
    house.hand_off(&below).await.unwrap();
    let after = house.tasks().task_changes(&riley(), &all, before.up_to, 9).await.unwrap();
    let changed: Vec<_> = after.tasks.iter().map(|task| (task.id.clone(), task.state)).collect();
    assert_eq!(changed, [(below.id, State::Completed), (one.id, State::Running)]);
    let none = house.tasks().task_changes(&riley(), &all, after.up_to, 9).await.unwrap();
    assert_eq!((none.tasks.len(), none.up_to), (0, after.up_to));
}

/// Drops a future after `polls` polls, as a process that is killed abandons a change, and then returns `None`.
struct GivenUp<F> {
    future: Pin<Box<F>>,
    polls: usize,
}

fn given_up<F: Future>(future: F, polls: usize) -> GivenUp<F> {
    GivenUp { future: Box::pin(future), polls }
}

impl<F: Future> Future for GivenUp<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.polls == 0 {
            return Poll::Ready(None);
        }
        self.polls -= 1;
        self.future.as_mut().poll(context).map(Some)
    }
}
