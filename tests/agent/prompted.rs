//! Plans by a model in words: the request, its repair, and what no plan becomes of.

use toolwire::{
    contract::proto::agent::v1::TurnOutcome,
    sources::models::{Message, scripted::text},
};

use super::{by_model::*, *};

const ANSWER: &str = "Apple trades at 193.12 [tool:quotes:v1].";

#[tokio::test]
async fn a_plan_is_asked_for_until_there_is_none_and_then_the_answer() {
    let scripts = [plan("get_quotes", &json!({"symbol": "AAPL"})), none(), text(ANSWER)];
    let (house, model) = House::saying(PROMPTED, scripts);
    let riley = house.person("demo").await;
    let (events, status) = riley.events(message("What is Apple at?")).await;
    assert!(status.is_none(), "{status:?}");
    let reply = last(&events);
    assert_eq!((reply.outcome(), answer(reply)), (TurnOutcome::Answered, ANSWER));
    assert_eq!(deltas(&events), ANSWER);
    assert_eq!(reply.response.as_ref().unwrap().citations, ["tool:quotes:v1"]);
    assert_eq!((reply.tool_results.len(), reply.current_step.as_str()), (1, "validate"));
    let usage = reply.usage.clone().unwrap();
    assert_eq!((usage.model.as_str(), usage.steps, usage.calls), ("scripted/script", 2, 1));
    assert!(usage.input_tokens > 100 && usage.output_tokens > 10, "{usage:?}");

    let asked = model.requests();
    assert_eq!(asked.len(), 3);
    // The system prompt with the tools, the history, then the results as a message of the system.
    assert!(
        asked[0].system.contains("\n  Parameters: symbol (required): string")
            && asked[0].system.contains("\"tool\"")
    );
    assert_eq!(asked[0].messages, [Message::User("What is Apple at?".to_owned())]);
    assert!(asked.iter().all(|request| request.tools.is_none()));
    let Some(Message::System(results)) = asked[1].messages.last() else { panic!("{:?}", asked[1].messages) };
    assert!(results.starts_with("tool_results:") && results.contains("193.12"), "{results}");
    assert!(asked[2].system.contains("[tool:quotes:v1]"), "{}", asked[2].system);
}

#[tokio::test]
async fn what_was_said_before_is_told_and_its_results_are_not() {
    let scripts = [
        plan("get_quotes", &json!({"symbol": "AAPL"})),
        none(),
        text(ANSWER),
        none(),
        text("I can look that up."),
    ];
    let (house, model) = House::saying(PROMPTED, scripts);
    let riley = house.person("demo").await;
    riley.reply(within("s", message("What is Apple at?"))).await;
    riley.reply(within("s", message("And Microsoft?"))).await;
    let asked = &model.requests()[3];
    let expected = [
        Message::User("What is Apple at?".to_owned()),
        Message::assistant(ANSWER),
        Message::User("And Microsoft?".to_owned()),
    ];
    assert_eq!(asked.messages, expected);
}

#[tokio::test]
async fn a_plan_that_cannot_be_used_is_asked_for_once_more() {
    let wrong = text(r#"{"tool": "get_quote", "arguments": {"symbol": "AAPL"}}"#);
    let fenced = text("```json\n{\"tool\": \"get_quotes\", \"arguments\": {\"symbol\": \"AAPL\"}}\n```");
    let (house, model) = House::saying(PROMPTED, [wrong, fenced, none(), text(ANSWER)]);
    let riley = house.person("demo").await;
    let (events, _) = riley.events(message("What is Apple at?")).await;
    assert_eq!(started_tools(&events), ["get_quotes"]);
    assert_eq!(last(&events).outcome(), TurnOutcome::Answered);
    let repair = whole(&model.requests()[1]);
    assert!(repair.contains("there is no tool `get_quote`. Did you mean get_quotes"), "{repair}");
}

/// Each of these twice: nothing is called, and the turn says that the model failed.
#[tokio::test]
async fn what_is_no_plan_calls_nothing_and_is_said() {
    let long = "x".repeat(100_000);
    for bad in [
        "",
        "   ",
        "<html><body>502</body></html>",
        r#"{"tool": "get_quotes", "arguments": {"symbol": "AA"#,
        r#"{"tool": "../x", "arguments": {}}"#,
        r#"{"tool": "get_quotes", "arguments": "{\"symbol\": \"AAPL\"}"}"#,
        r#"{"tool": "get_quotes", "arguments": ["AAPL"]}"#,
        r#"{"tool": ["get_quotes"], "arguments": {}}"#,
        r#"{"tool": null}"#,
        "[]",
        "null",
        "\u{0}\u{202e}\u{feff}",
        long.as_str(),
    ] {
        let (house, model) = House::saying(PROMPTED, [text(bad), text(bad)]);
        let riley = house.person("demo").await;
        let (events, status) = riley.events(message("What is Apple at?")).await;
        assert!(status.is_none(), "{bad}: {status:?}");
        let reply = last(&events);
        assert_eq!(reply.outcome(), TurnOutcome::ModelFailed, "{bad}");
        assert_eq!(answer(reply), MODEL_FAILED, "{bad}");
        assert_eq!(started_tools(&events), [""; 0], "{bad}");
        assert!(reply.warnings.iter().any(|warning| warning.starts_with("the model's plan")), "{bad}");
        assert_eq!(model.requests().len(), 2, "{bad}");
    }
}

#[tokio::test]
async fn a_loop_is_answered_from_the_turn_and_ends_with_the_budget() {
    let model = toolwire::sources::models::scripted::Scripted::by(|request, _| {
        if request.system.contains("Answer with one JSON object") {
            plan("get_quotes", &json!({"symbol": "AAPL"}))
        } else {
            text(ANSWER)
        }
    });
    let house = House::asking(model.clone(), PROMPTED, |config| config.agent.max_tokens = 1_000_000);
    let riley = house.person("demo").await;
    let (events, _) = riley.events(message("What is Apple at?")).await;
    assert_eq!(started_tools(&events), ["get_quotes"], "an equal call is made once");
    let reply = last(&events);
    assert_eq!((reply.outcome(), answer(reply)), (TurnOutcome::BudgetSpent, ANSWER));
    assert_eq!(model.requests().len(), 9, "eight plans and the answer");
}
