//! What a turn spends on a model: bounded by its budget, counted, and told.

use std::sync::{
    Arc as Shared,
    atomic::{AtomicUsize, Ordering},
};

use futures_util::{StreamExt, stream};
use toolwire::{
    contract::proto::agent::v1::{TurnBudget, TurnOutcome},
    sources::models::{
        Model, Part, Request, ResponseStream, Stop, ToolForm, Usage,
        scripted::{Scripted, calls, text},
    },
    tool::context,
};

use super::{by_model::*, *};

const TRUE: &str = "Apple trades at 193.12 [tool:quotes:v1].";

fn within_tokens(max_tokens: u32) -> TurnInput {
    TurnInput {
        budget: Some(TurnBudget { max_tokens, ..Default::default() }),
        ..message("What is Apple at?")
    }
}

/// An answer that costs so much.
fn costing(tokens: u64, part: Part) -> Vec<Result<Part, toolwire::sources::models::ModelError>> {
    let usage = Usage { input_tokens: tokens, output_tokens: 7 };
    vec![Ok(part), Ok(Part::End { stop: Stop::Done, usage })]
}

#[tokio::test]
async fn what_the_provider_tells_is_counted_and_told() {
    let quotes = Part::Calls(vec![tool_call("a", "get_quotes", &json!({"symbol": "AAPL"}))]);
    let scripts = [costing(1_000, quotes), costing(2_000, Part::Text(TRUE.to_owned()))];
    let (house, model) = House::saying(NATIVE, scripts);
    let riley = house.person("demo").await;
    let usage = riley.reply(message("What is Apple at?")).await.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (3_000, 14));
    let asked = model.requests();
    // 60,000 by default, a fifth of which is kept for the answer.
    assert!(asked.iter().all(|request| request.max_tokens.is_some_and(|most| most < 48_000)), "{asked:?}");
    assert!(asked[1].max_tokens < asked[0].max_tokens);
}

#[tokio::test]
async fn a_turn_that_may_not_spend_so_much_asks_nobody_and_says_so() {
    let (house, model) = House::saying(NATIVE, [text(TRUE)]);
    let riley = house.person("demo").await;
    let reply = riley.reply(within_tokens(100)).await;
    assert_eq!((reply.outcome(), model.requests().len()), (TurnOutcome::Degraded, 0));
    assert!(reply.warnings.iter().any(|it| it.contains("tokens")), "{:?}", reply.warnings);
}

#[tokio::test]
async fn what_was_found_when_the_tokens_are_spent_is_answered_without_the_model() {
    let quotes = || Part::Calls(vec![tool_call("a", "get_quotes", &json!({"symbol": "AAPL"}))]);
    let model = Scripted::by(move |_, _| costing(60_000, quotes()));
    let house = House::asking(model.clone(), NATIVE, |_| ());
    let riley = house.person("demo").await;
    let reply = riley.reply(message("What is Apple at?")).await;
    assert_eq!((reply.outcome(), model.requests().len()), (TurnOutcome::BudgetSpent, 1));
    assert!(answer(&reply).contains("193.12"), "{}", answer(&reply));
    assert!(reply.warnings.iter().any(|it| it.contains("tokens")), "{:?}", reply.warnings);
}

/// A model that says something and then nothing for ever, and notes when it is dropped.
#[derive(Clone, Debug, Default)]
struct Stalled {
    begun: Shared<tokio::sync::Notify>,
    dropped: Shared<tokio::sync::Notify>,
    asked: Shared<AtomicUsize>,
}

struct Dropped(Shared<tokio::sync::Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl Model for Stalled {
    fn id(&self) -> &'static str {
        "scripted/stalled"
    }

    fn form(&self) -> ToolForm {
        ToolForm::Openai
    }

    fn chat(&self, _: Request, _: &context::ToolContext) -> ResponseStream {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.begun.notify_one();
        let dropped = Dropped(Shared::clone(&self.dropped));
        let stalled = stream::pending().inspect(move |_: &Result<Part, _>| {
            let _held = &dropped;
        });
        stream::iter([Ok(Part::Text("Let me ".to_owned()))]).chain(stalled).boxed()
    }
}

#[tokio::test]
async fn a_turn_that_is_cancelled_or_left_drops_the_models_request() {
    for asked in [NATIVE, PROMPTED] {
        let model = Stalled::default();
        let house = House::asking(model.clone(), asked, |_| ());
        let riley = house.person("demo").await;
        let stream = riley.stream(within("s", message("What is Apple at?"))).await.unwrap();
        model.begun.notified().await;
        drop(stream);
        model.dropped.notified().await;

        let again = riley.clone();
        let cancelled =
            tokio::spawn(async move { again.events(within("t", message("What is Apple at?"))).await });
        model.begun.notified().await;
        assert!(riley.cancel(Which::SessionId("t".to_owned())).await.unwrap());
        model.dropped.notified().await;
        assert_eq!(cancelled.await.unwrap().1.unwrap().code(), Code::Cancelled);
    }
}

#[tokio::test]
async fn a_model_that_stalls_takes_no_longer_than_the_turn() {
    let model = Stalled::default();
    let house = House::asking(model.clone(), NATIVE, |config| {
        config.agent.turn_timeout = std::time::Duration::from_millis(500);
    });
    let riley = house.person("demo").await;
    let (events, status) = riley.events(message("What is Apple at?")).await;
    match status {
        None => assert_eq!(last(&events).outcome(), TurnOutcome::Degraded),
        // There was no time for it to begin.
        Some(status) => assert_eq!(status.code(), Code::DeadlineExceeded),
    }
    if model.asked.load(Ordering::Relaxed) > 0 {
        model.dropped.notified().await;
    }
}

#[tokio::test]
async fn the_last_step_of_a_prompted_turn_may_spend_what_was_kept() {
    let planned = calls([tool_call("a", "get_quotes", &json!({"symbol": "AAPL"}))]);
    let (house, model) = House::saying(NATIVE, [planned, text(""), text(TRUE)]);
    let riley = house.person("demo").await;
    riley.reply(message("What is Apple at?")).await;
    let most: Vec<_> = model.requests().iter().map(|request| request.max_tokens.unwrap()).collect();
    assert!(most[0] < 48_000 && most[2] > most[1], "{most:?}");
}
