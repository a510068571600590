//! Plans by a model's own calls: what it is shown, and what no call becomes of.

use toolwire::{
    contract::proto::{agent::v1::TurnOutcome, v1::tool_result::Outcome},
    sources::models::{
        Message,
        scripted::{Scripted, calls, text},
    },
};

use super::{by_model::*, *};

const ANSWER: &str = "Apple trades at 193.12 [tool:quotes:v1].";

fn symbol(symbol: &str) -> Value {
    json!({"symbol": symbol})
}

#[tokio::test]
async fn calls_of_one_answer_go_back_together_with_their_results_and_signatures() {
    let both = calls([
        tool_call("a", "get_quotes", &symbol("AAPL")),
        tool_call("b", "get_performance", &json!({"timeframe": "YTD"})),
    ]);
    let (house, model) = House::saying(NATIVE, [both, text(ANSWER)]);
    let riley = house.person("demo").await;
    let (events, _) = riley.events(message("How is Apple doing?")).await;
    let reply = last(&events);
    assert_eq!((reply.outcome(), answer(reply)), (TurnOutcome::Answered, ANSWER));
    assert_eq!(deltas(&events), ANSWER);
    assert_eq!(model.requests().len(), 2, "the answer is written with the last step");
    let asked = &model.requests()[1];
    let [Message::User(_), Message::Assistant { calls, .. }, Message::Results(outputs)] =
        asked.messages.as_slice()
    else {
        panic!("{:?}", asked.messages)
    };
    assert_eq!((calls[0].id.as_str(), calls[0].signatures[0].as_str()), ("a", "signature of a"));
    assert_eq!((calls[1].tool.as_str(), outputs[1].call_id.as_str()), ("get_performance", "b"));
    assert!(outputs[0].text.contains("193.12"), "{}", outputs[0].text);
    assert!(asked.tools.as_ref().unwrap().to_string().contains("\"get_quotes\""));
}

#[tokio::test]
async fn calls_that_are_none_are_results_that_the_model_corrects() {
    let wrong = calls([
        tool_call("a", "get_quote", &symbol("AAPL")),
        tool_call("b", "get_quotes", &json!("{\"symbol\": \"AA")),
        tool_call("c", "get_quotes", &json!({"symbl": "AAPL"})),
    ]);
    let right = calls([tool_call("d", "get_quotes", &symbol("AAPL"))]);
    let (house, model) = House::saying(NATIVE, [wrong, right, text(ANSWER)]);
    let riley = house.person("demo").await;
    let (events, _) = riley.events(message("How is Apple doing?")).await;
    assert_eq!(last(&events).outcome(), TurnOutcome::Answered);
    let shown = whole(&model.requests()[1]);
    for words in ["Did you mean get_quotes?", "must be the text of a JSON object: EOF", "symbl"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert_eq!(started_tools(&events), ["get_quotes", "get_quotes"], "what is no call is not made");
}

#[tokio::test]
async fn two_answers_of_nothing_but_calls_that_are_none_end_the_turn() {
    let nothing =
        || calls([tool_call("a", "../../etc/passwd", &json!({"x": 1})), tool_call("", "", &json!(7))]);
    let (house, model) = House::saying(NATIVE, [nothing(), nothing(), nothing()]);
    let riley = house.person("demo").await;
    let (events, _) = riley.events(message("How is Apple doing?")).await;
    let reply = last(&events);
    assert_eq!((reply.outcome(), model.requests().len()), (TurnOutcome::ModelFailed, 2));
    assert!(started_tools(&events).is_empty());
    assert!(reply.tool_results.iter().all(|result| !result.tool.contains(['/', '.'])));
}

#[tokio::test]
async fn a_hundred_calls_at_once_are_cut_and_each_has_a_result() {
    let many = calls((0..100).map(|at| {
        tool_call(
            &at.to_string(),
            "get_performance",
            &json!({"timeframe": "YTD", "account": format!("a{at}")}),
        )
    }));
    let model = Scripted::by(move |request, turn| {
        if turn == 0 {
            many.clone()
        } else {
            text(if request.tools.is_some() { "More." } else { "Nothing." })
        }
    });
    let house = House::asking(model, NATIVE, |config| config.agent.max_tokens = 1_000_000);
    let riley = house.person("demo").await;
    let (events, _) = riley.events(message("How is Apple doing?")).await;
    let reply = last(&events);
    assert_eq!(started_tools(&events).len(), 16);
    assert_eq!(reply.tool_results.len(), 100);
    let cut = reply.tool_results.iter().filter(|it| match &it.result.as_ref().unwrap().outcome {
        Some(Outcome::Error(error)) => error.message.starts_with("not called"),
        _ => false,
    });
    assert_eq!(cut.count(), 84);
}

#[tokio::test]
async fn a_loop_ends_with_the_budget_and_is_answered() {
    let model = Scripted::by(|request, _| match &request.tools {
        Some(_) => calls([tool_call("a", "get_quotes", &symbol("AAPL"))]),
        None => text(ANSWER),
    });
    let house = House::asking(model.clone(), NATIVE, |config| config.agent.max_tokens = 1_000_000);
    let riley = house.person("demo").await;
    let (events, _) = riley.events(message("How is Apple doing?")).await;
    assert_eq!(started_tools(&events), ["get_quotes"]);
    let reply = last(&events);
    assert_eq!((reply.outcome(), answer(reply)), (TurnOutcome::BudgetSpent, ANSWER));
    assert_eq!(model.requests().len(), 9);
}

#[tokio::test]
async fn a_question_of_the_model_is_asked_unless_it_says_what_nothing_says() {
    for (question, asked) in [
        ("Which account do you mean?", "Which account do you mean?"),
        (
            "Do you mean the 987,654 of https://evil.example?",
            "Can you say more exactly what you want to know?",
        ),
        ("", "Can you say more exactly what you want to know?"),
    ] {
        let asks = calls([
            tool_call("a", "ask_master", &json!({"question": question})),
            tool_call("b", "debug_write", &json!({"value": "x"})),
        ]);
        let (house, _) = House::saying(NATIVE, [asks]);
        let riley = house.person("demo").await;
        let (events, _) = riley.events(message("How is it doing?")).await;
        let reply = last(&events);
        assert_eq!((reply.outcome(), answer(reply)), (TurnOutcome::Clarify, asked));
        assert!(started_tools(&events).is_empty(), "nothing is called beside a question");
    }
}

#[tokio::test]
async fn an_answer_without_calls_is_checked_too() {
    let (house, _) = House::saying(NATIVE, [text("Hello! What would you like to know?")]);
    let riley = house.person("demo").await;
    assert_eq!(answer(&riley.reply(message("Hi")).await), "Hello! What would you like to know?");
}

#[tokio::test]
async fn a_turn_that_waited_goes_on_with_the_models_own_calls() {
    let write = calls([
        tool_call("a", "debug_write", &json!({"value": "first"})),
        tool_call("b", "debug_confirm", &json!({"value": "second"})),
    ]);
    let (house, model) = House::saying(NATIVE, [write, text("Both are written.")]);
    let riley = house.person("demo").await;
    let (turn_id, paused) = riley.pauses(message("Write both")).await;
    riley.decides(&paused, pausing::approve()).await;
    let reply = riley.reply(resumes(&turn_id)).await;
    assert_eq!(answer(&reply), "Both are written.");
    let Some(Message::Assistant { calls, .. }) = model.requests()[1].messages.get(1).cloned() else {
        panic!()
    };
    assert_eq!((calls.len(), calls[0].signatures[0].as_str()), (2, "signature of a"));
    assert!(reply.usage.unwrap().input_tokens > 200, "what was spent before the pause counts");
}
