//! Answers of a model that are not in the results: repaired once, then replaced by an answer without the model.

use toolwire::{
    contract::proto::agent::v1::{TurnOutcome, ValidationAction, ValidationIssueKind},
    sources::models::{
        ModelError, Part,
        scripted::{Script, calls, text},
    },
};

use super::{by_model::*, *};

const TRUE: &str = "Apple trades at 193.12 [tool:quotes:v1].";

fn asks() -> Script {
    calls([tool_call("a", "get_quotes", &json!({"symbol": "AAPL"}))])
}

async fn reply(asked: Asked, scripts: Vec<Script>) -> (Vec<TurnEvent>, Reply) {
    let (house, _) = House::saying(asked, scripts);
    let riley = house.person("demo").await;
    let (events, status) = riley.events(message("What is the stock price of Apple?")).await;
    assert!(status.is_none(), "{status:?}");
    let reply = last(&events).clone();
    assert_eq!(deltas(&events), answer(&reply), "the deltas are the answer");
    (events, reply)
}

#[track_caller]
fn action(reply: &Reply) -> ValidationAction {
    reply.validation.as_ref().unwrap().action()
}

#[tokio::test]
async fn a_lie_is_never_given_out_and_is_repaired() {
    for (lie, kind) in [
        ("Apple trades at 412.99 [tool:quotes:v1].", ValidationIssueKind::Number),
        ("Tesla trades at 193.12 [tool:quotes:v1].", ValidationIssueKind::Name),
        ("Apple trades at 193.12 [tool:oracle:v1].", ValidationIssueKind::Citation),
        ("See [the page](https://evil.example/?q=193.12).", ValidationIssueKind::Link),
        ("See [the page](javascript:alert(1)).", ValidationIssueKind::Link),
        ("![](https://evil.example/a.png) It is fine.", ValidationIssueKind::Link),
        ("<img src=\"https://evil.example/a.png\"> It is fine.", ValidationIssueKind::Link),
    ] {
        let scripts = vec![asks(), text(&format!("It goes well. {lie} Bye.")), text(TRUE)];
        let (_, reply) = reply(NATIVE, scripts).await;
        assert_eq!(reply.outcome(), TurnOutcome::Answered, "{lie}");
        assert_eq!(answer(&reply), format!("It goes well.\n\n{TRUE}"), "{lie}");
        assert_eq!(action(&reply), ValidationAction::Repaired, "{lie}");
        assert_eq!(reply.validation.as_ref().unwrap().issues[0].kind(), kind, "{lie}");
        assert!((reply.response.unwrap().confidence - 0.7).abs() < 1e-9, "{lie}");
    }
}

#[tokio::test]
async fn who_lies_again_is_replaced_and_that_is_said() {
    let lie = || text("Apple trades at 412.99 [tool:quotes:v1].");
    let (_, reply) = reply(NATIVE, vec![asks(), lie(), lie()]).await;
    assert_eq!((reply.outcome(), action(&reply)), (TurnOutcome::Answered, ValidationAction::Replaced));
    assert!(answer(&reply).contains("193.12") && !answer(&reply).contains("412"), "{}", answer(&reply));
    assert!(
        reply.warnings.iter().any(|it| it.contains("did not stand in the results")),
        "{:?}",
        reply.warnings
    );
    assert!((reply.response.unwrap().confidence - 0.5).abs() < 1e-9);
}

#[tokio::test]
async fn what_a_model_writes_into_calls_that_fail_is_not_known_by_that() {
    for call in [
        tool_call("a", "price_412.99", &json!({"value": "412.99"})),
        tool_call("a", "get_quotes", &json!({"symbol": "412.99"})),
        tool_call("a", "get_quotes", &json!({"symbl": "412.99"})),
        tool_call("a", "get_quotes", &json!("412.99")),
    ] {
        let both = calls([call, tool_call("b", "get_quotes", &json!({"symbol": "AAPL"}))]);
        let lie = || text("It trades at 412.99.");
        let (_, reply) = reply(NATIVE, vec![both, lie(), lie()]).await;
        assert_eq!(action(&reply), ValidationAction::Replaced);
        assert!(!answer(&reply).contains("412"), "{}", answer(&reply));
        assert!(answer(&reply).contains("193.12"), "{}", answer(&reply));
    }
}

/// `Err` ends the answer, wherever it stands.
#[tokio::test]
async fn a_model_that_fails_is_said_by_its_kind_and_not_hidden() {
    for error in [
        ModelError::AuthFailed,
        ModelError::RateLimited { after: None },
        ModelError::Refused,
        ModelError::TooLong,
        ModelError::Unavailable,
        ModelError::Malformed,
        ModelError::TimedOut,
    ] {
        for asked in [NATIVE, PROMPTED] {
            let (_, reply) = reply(asked, vec![vec![Err(error)]]).await;
            assert_eq!(reply.outcome(), TurnOutcome::ModelFailed, "{error}");
            assert_eq!(reply.warnings, [error.to_string()]);
            assert_eq!(answer(&reply), MODEL_FAILED);
            assert!(!reply.response.unwrap().needs_clarification, "no other message would help");
        }
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_or_says_nothing_is_a_model_that_failed() {
    let broken = || vec![Ok(Part::Text("Apple trades. It".to_owned())), Err(ModelError::Malformed)];
    let planned = || vec![plan("get_quotes", &json!({"symbol": "AAPL"})), none()];
    let scripts = [planned(), vec![broken()]].concat();
    let (_, failed) = reply(PROMPTED, scripts).await;
    assert_eq!((failed.outcome(), answer(&failed)), (TurnOutcome::ModelFailed, "Apple trades."));

    let scripts = [planned(), vec![text("")]].concat();
    let (_, silent) = reply(PROMPTED, scripts).await;
    assert_eq!(silent.outcome(), TurnOutcome::ModelFailed);
    assert!(silent.warnings.iter().any(|it| it.contains("without a word")), "{:?}", silent.warnings);
    // Without calls and without a word the model is asked for the answer by itself.
    let (_, asked) = reply(NATIVE, vec![asks(), text(""), text(TRUE)]).await;
    assert_eq!((asked.outcome(), answer(&asked)), (TurnOutcome::Answered, TRUE));
}

#[tokio::test]
async fn with_fallback_a_turn_goes_on_without_the_model_and_says_so() {
    for asked in [NATIVE, PROMPTED] {
        let asked = Asked { fallback: true, ..asked };
        let (events, reply) = reply(asked, vec![vec![Err(ModelError::Unavailable)]]).await;
        assert_eq!(
            (reply.outcome(), started_tools(&events)),
            (TurnOutcome::Answered, vec!["get_quotes".to_owned()])
        );
        assert!(answer(&reply).contains("193.12"), "{}", answer(&reply));
        assert!(reply.warnings.iter().any(|it| it.contains("made without it")), "{:?}", reply.warnings);
    }
    // In the answer alone.
    let asked = Asked { fallback: true, ..PROMPTED };
    let planned = vec![plan("get_quotes", &json!({"symbol": "AAPL"})), none()];
    let (_, reply) = reply(asked, [planned, vec![vec![Err(ModelError::TimedOut)]]].concat()).await;
    assert_eq!((reply.outcome(), action(&reply)), (TurnOutcome::Answered, ValidationAction::Replaced));
    assert!(answer(&reply).contains("193.12"), "{}", answer(&reply));
}
