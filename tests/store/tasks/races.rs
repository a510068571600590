//! At the same time: one wins, the others are told.
//!
//! `RACE_ROUNDS` says how often.

use toolwire::contract::ErrorCode;

use super::{
    confirmed::{begin, decide},
    *,
};

fn rounds() -> usize {
    std::env::var("RACE_ROUNDS").map_or(50, |text| text.parse().expect("a number"))
}

/// An approval is used in its last instant, while its time passes.
#[tokio::test(flavor = "multi_thread")]
async fn of_a_use_and_an_expiry_one_comes_first() {
    let house = House::new();
    let other = house.other();
    let mut count = 0;
    for round in 0..rounds() {
        let root = house.root().await;
        let call = call(&root, "write_file", CallType::Function);
        let Ok(Admission::Asks(asked)) = begin(&house, &call, now()).await else { panic!("it is asked for") };
        decide(&house, &asked.id, true).await;
        let over = now() + 10 * MINUTE;
        let uses = begin(&house, &call, over - Duration::from_millis(1));
        other.at_time(over);
        let passes = other.expire_confirmations();
        // Each has the start in turn.
        let (opened, expired) = if round.is_multiple_of(2) {
            tokio::join!(uses, passes)
        } else {
            let (expired, opened) = tokio::join!(passes, uses);
            (opened, expired)
        };
        expired.unwrap();
        let state = house.store.at_time(over).confirmation(&asked.id).await.unwrap().unwrap().state;
        match opened.unwrap() {
            Admission::Begun(Begun::New) => {
                assert_eq!(state.into_str(), "used");
                count += 1;
            }
            Admission::Begun(Begun::Ended(result)) => {
                assert_eq!(state.into_str(), "expired");
                assert_eq!(result.outcome.unwrap_err().code, ErrorCode::ConfirmationExpired);
            }
            other => panic!("{other:?}"),
        }
        let told = house.told(&root.id).await;
        assert_eq!(
            told.iter().filter(|it| it.starts_with("1 ←")).count(),
            if state.into_str() == "used" { 1 } else { 2 }
        );
        house.assert_folds(&root.id).await;
        house.tasks().cancel_task(&riley(), &root.id, "").await.unwrap();
    }
    println!("{count} of {} were used", rounds());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_workers_of_two_processes_one_has_the_task() {
    let house = House::new();
    let other = house.other();
    for _ in 0..rounds() {
        let root = house.root_of("analyst").await;
        let wish = wish(LeaseTarget::AnyOf(vec!["analyst".to_owned()]), "worker");
        let (user, at) = (riley(), now());
        let (one, two) = tokio::join!(
            house.tasks().at_time(at).lease_task(&user, &wish),
            other.at_time(at).lease_task(&user, &wish)
        );
        let (one, two) = (one.unwrap(), two.unwrap());
        assert_ne!(one.is_some(), two.is_some());
        assert_eq!(token(house.task(&root.id).await.lease.as_ref()), 1);
        house.tasks().cancel_task(&riley(), &root.id, "").await.unwrap();
    }
}

/// Appends to one task from many sides: no gap, no duplicate.
#[tokio::test(flavor = "multi_thread")]
async fn entries_that_come_together_are_all_there_without_a_gap() {
    let house = House::new();
    let root = house.root().await;
    let other = house.other();
    let calls = (0..40).map(|number| {
        let store = if number % 2 == 0 { house.store.clone() } else { other.clone() };
        let call = call(&root, "stop_and_think", CallType::NonFunction);
        tokio::spawn(
            async move { store.at_time(now()).log_task_call(&call).await.unwrap().sequence.unwrap() },
        )
    });
    let mut sequences = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        sequences.push(call.await.unwrap());
    }
    sequences.sort_unstable();
    assert_eq!(sequences, (1..=40).collect::<Vec<_>>());
    house.assert_folds(&root.id).await;
}
