//! Decisions and uses at the same time: one wins.
//!
//! `RACE_ROUNDS` says how often approval and cancelling meet.

use futures_util::future::join_all;

use super::*;

fn rounds() -> usize {
    std::env::var("RACE_ROUNDS").map_or(25, |text| text.parse().expect("a number"))
}

/// Exactly one decision counts, however many come at once.
#[tokio::test(flavor = "multi_thread")]
async fn of_a_thousand_racing_decisions_one_wins() {
    let house = House::open();
    let riley = house.person("riley").await;
    for round in 0..10 {
        let id = RequestId::generate();
        let asked = riley.asks(id, "x").await.confirmation_id;
        let decisions = (0..100).map(|number| {
            let (riley, asked) = (riley.clone(), asked.clone());
            tokio::spawn(async move {
                let approves = number % 2 == 0;
                let decision = match approves {
                    true => {
                        Decision::Approve(Approve { tool: "debug_confirm".to_owned(), ..Default::default() })
                    }
                    false => Decision::Deny(Deny { reason: format!("{number}") }),
                };
                (approves, riley.decide(&asked, decision).await)
            })
        });
        let ends: Vec<_> = join_all(decisions).await.into_iter().map(Result::unwrap).collect();
        let state = riley.state(&asked).await;
        let won = state == ConfirmationState::Approved;
        for (approves, end) in ends {
            match end {
                Ok(decided) => assert_eq!((approves, decided.state()), (won, state), "round {round}"),
                Err(status) => {
                    assert_ne!(approves, won, "{status:?}");
                    assert_refused(Err::<(), _>(status), Code::FailedPrecondition, "CONFIRMATION_DECIDED");
                }
            }
        }
        match won {
            true => assert!(data(riley.call_confirm(id, "x").await)["writes"].is_number()),
            false => {
                assert_eq!(error(riley.call_confirm(id, "x").await).0, ToolErrorCode::ConfirmationDenied);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_calls_at_once_one_uses_the_approval_and_all_have_its_outcome() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    let asked = riley.asks(id, "x").await.confirmation_id;
    riley.approve(&asked).await.unwrap();
    let calls = (0..200).map(|_| {
        let riley = riley.clone();
        tokio::spawn(async move { data(riley.call_confirm(id, "x").await) })
    });
    for outcome in join_all(calls).await {
        assert_eq!(outcome.unwrap()["writes"], 1);
    }
}

/// Approval against cancelling: whichever comes first, the other finds it.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_withdrawn_is_not_approved_and_what_is_approved_is_used_or_withdrawn() {
    use toolwire::contract::proto::v1::{CancelCallRequest, cancel_call_request};
    let house = House::open();
    let riley = house.person("riley").await;
    for _ in 0..rounds() {
        let id = RequestId::generate();
        let asked = riley.asks(id, "x").await.confirmation_id;
        let call = Some(cancel_call_request::Call::RequestId(id.to_string()));
        let request = riley.request(CancelCallRequest { call });
        let mut tools = riley.tools.clone();
        let (approved, cancelled, came) =
            tokio::join!(riley.approve(&asked), tools.cancel_call(request), riley.call_confirm(id, "x"));
        cancelled.unwrap();
        let ran = matches!(came, Ok(Came::Data(_)));
        let state = riley.state(&asked).await;
        assert_eq!(ran, state == ConfirmationState::Used, "{state:?} {came:?} {approved:?}");
    }
}

/// A use against a definition that changes: what is carried out is what was approved; otherwise another is asked for.
#[tokio::test(flavor = "multi_thread")]
async fn of_a_use_and_another_definition_one_comes_first() {
    let house = House::open();
    let riley = house.person("riley").await;
    house.patch("add_to_watchlist", &json!({"requires_confirmation": true}));
    for round in 0..10 {
        let id = RequestId::generate();
        let add = || call("add_to_watchlist", &json!({"symbol": "TCS"}), Some(id));
        let asked = confirmation(riley.call(add()).await).confirmation_id;
        riley.approve(&asked).await.unwrap();
        let caller = riley.clone();
        let message = add();
        let using = tokio::spawn(async move { caller.call(message).await });
        house.patch("add_to_watchlist", &json!({"title": format!("Version {round}")}));
        let came = using.await.unwrap();
        match riley.state(&asked).await {
            ConfirmationState::Used => assert!(data(came).is_object()),
            ConfirmationState::Voided => {
                let other = confirmation(came);
                assert_ne!(other.confirmation_id, asked);
                assert!(other.summary.starts_with("The definition of this tool has changed"), "{other:?}");
                riley.deny(&other.confirmation_id).await.unwrap();
            }
            other => panic!("{other:?}: {came:?}"),
        }
    }
}
