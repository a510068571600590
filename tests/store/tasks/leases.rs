//! Leases: tokens only grow, and an old one changes nothing.

use super::*;
use toolwire::state::tasks::{NewEnd, NewMessage, entry::Speaker};

#[tokio::test]
async fn a_task_has_one_worker_and_an_old_lease_does_nothing() {
    let house = House::new();
    let root = house.root().await;
    let first = house.lease(&root.id, "one", None, now()).await.unwrap().task;
    assert_eq!((token(first.lease.as_ref()), first.state), (1, State::Running));
    let other = refused(house.lease(&root.id, "two", None, now()).await);
    assert_eq!(other, Refused::LeaseLost { holder: "one".to_owned(), token: 1 });

    let think = |token, at| {
        let step_ref = StepRef { lease_token: token, ..StepRef::default() };
        let call = TaskCall { step_ref, ..call(&root, "stop_and_think", CallType::NonFunction) };
        let house = &house;
        async move { house.tasks().at_time(at).log_task_call(&call).await }
    };
    think(1, now()).await.unwrap();
    assert!(matches!(refused(think(0, now()).await), Refused::LeaseLost { .. }));
    // It expires, and nobody takes the task: whoever had it may go on, and so may anybody.
    let later = now() + 31 * SECOND;
    think(1, later).await.unwrap();
    think(0, later).await.unwrap();
    let second = house.lease(&root.id, "two", None, later).await.unwrap().task;
    assert_eq!(token(second.lease.as_ref()), 2);
    assert!(matches!(refused(think(1, later).await), Refused::LeaseLost { .. }));
    // However long ago it was.
    let much_later = later + 31 * SECOND;
    let lost = refused(think(1, much_later).await);
    assert_eq!(lost, Refused::LeaseLost { holder: String::new(), token: 2 });
    assert!(matches!(
        refused(house.lease(&root.id, "one", Some(1), much_later).await),
        Refused::LeaseLost { .. }
    ));
    house.assert_folds(&root.id).await;
}

#[tokio::test]
async fn a_renewed_lease_lasts_and_one_that_was_given_back_is_to_be_had() {
    let house = House::new();
    let root = house.root().await;
    house.lease(&root.id, "one", None, now()).await.unwrap();
    let entries = house.task(&root.id).await.next_sequence;
    let renewed = house.lease(&root.id, "one", Some(1), now() + 20 * SECOND).await.unwrap().task;
    assert_eq!(renewed.lease.unwrap().expires_at, now() + 50 * SECOND);
    assert_eq!(renewed.next_sequence, entries, "nobody need know");
    let later = now() + 40 * SECOND;
    assert!(house.lease(&root.id, "two", None, later).await.is_err());
    for _ in 0..2 {
        house.tasks().at_time(later).release_task(&riley(), &root.id, 1).await.unwrap();
    }
    let next = house.lease(&root.id, "two", None, later).await.unwrap().task;
    assert_eq!(token(next.lease.as_ref()), 2);
    house.tasks().at_time(later).release_task(&riley(), &root.id, 1).await.unwrap();
    assert!(house.task(&root.id).await.leased(later).is_some(), "an old token gives nothing back");
}

#[tokio::test]
async fn the_task_that_has_waited_longest_goes_to_a_worker_of_its_role() {
    let house = House::new();
    let (one, two) = (house.root_of("analyst").await, house.root_of("analyst").await);
    house.root_of("developer").await;
    house.root().await;
    let any = async |roles: &[&str]| {
        let roles = roles.iter().map(|role| (*role).to_owned()).collect();
        let wish = wish(LeaseTarget::AnyOf(roles), "worker");
        house.tasks().lease_task(&riley(), &wish).await.unwrap().map(|leased| leased.task.id)
    };
    assert_eq!(any(&["analyst", "visualizer"]).await, Some(one.id.clone()));
    assert_eq!(any(&["analyst"]).await, Some(two.id.clone()));
    assert_eq!(any(&["analyst"]).await, None);
    // A wait is over: there is work again.
    house.tasks().release_task(&riley(), &one.id, 1).await.unwrap();
    let (_, below) = house.delegate(&one, 1).await;
    assert_eq!(any(&["analyst"]).await, Some(below.id.clone()), "its parent is blocked");
    let step_ref = StepRef { lease_token: 1, ..StepRef::default() };
    let handoff = TaskCall { step_ref, ..call(&below, "handoff", CallType::Handoff) };
    house.tasks().hand_off_task(&handoff, &Map::new(), &[]).await.unwrap();
    assert_eq!(any(&["analyst"]).await, Some(one.id));
    assert_eq!(
        house
            .tasks()
            .at_time(now() + MINUTE)
            .lease_task(&user("alex"), &wish(LeaseTarget::AnyOf(vec!["analyst".to_owned()]), "x"))
            .await
            .unwrap(),
        None
    );
}

/// Every worker gets the same answer, with the token of the lease, a stale one or none.
#[tokio::test]
async fn a_task_that_has_ended_has_ended_for_everybody() {
    let house = House::new();
    for (lease_ends, cancelled) in [(false, false), (false, true), (true, false), (true, true)] {
        let root = house.root().await;
        house.lease(&root.id, "one", None, now()).await.unwrap();
        let of = |tool: &str, kind, lease_token| TaskCall {
            step_ref: StepRef { lease_token, ..StepRef::default() },
            ..call(&root, tool, kind)
        };
        let end = of("handoff", CallType::Handoff, 1);
        if cancelled {
            house.tasks().cancel_task(&riley(), &root.id, "").await.unwrap();
        } else {
            house.tasks().hand_off_task(&end, &Map::new(), &[]).await.unwrap();
        }
        let ended = Refused::Ended(if cancelled { State::Cancelled } else { State::Completed });
        let at = if lease_ends { now() + 31 * SECOND } else { now() };
        for token in [0, 1, 2] {
            let tasks = || house.tasks().at_time(at);
            let log = of("stop_and_think", CallType::NonFunction, token);
            assert_eq!(refused(tasks().log_task_call(&log).await), ended, "{token}");
            let write = of("write_file", CallType::Function, token);
            assert_eq!(refused(tasks().begin_task_call(&write, None).await), ended, "{token}");
            let again = of("handoff", CallType::Handoff, token);
            assert_eq!(refused(tasks().hand_off_task(&again, &Map::new(), &[]).await), ended, "{token}");
            let below = of("route_to_analyst", CallType::AgentAsTool, token);
            assert_eq!(refused(tasks().delegate_task(&below, &child()).await), ended, "{token}");
            let failed = NewEnd::Failed("no".to_owned());
            let by = mutation("EndTask", "no");
            assert_eq!(
                refused(tasks().end_task(&riley(), &root.id, &failed, token, by).await),
                ended,
                "{token}"
            );
            let by = mutation("AppendMessage", "x");
            let step_ref = StepRef { lease_token: token, ..StepRef::default() };
            let said =
                NewMessage { speaker: Speaker::Assistant, text: "x".to_owned(), opaque: None, step_ref };
            assert_eq!(
                refused(tasks().append_message(&riley(), &root.id, &said, by).await),
                ended,
                "{token}"
            );
            assert_eq!(refused(house.lease(&root.id, "one", Some(token), at).await), ended, "{token}");
        }
        assert_eq!(refused(house.lease(&root.id, "two", None, at).await), ended);
        // Giving a lease back is fine whatever became of it, and a repeat has its answer.
        house.tasks().at_time(at).release_task(&riley(), &root.id, 1).await.unwrap();
        if !cancelled {
            house.tasks().at_time(at).hand_off_task(&end, &Map::new(), &[]).await.unwrap();
        }
    }
}
