//! What a client repeats of a conversation with each request never ends it: whatever its number, size and content. Only
//! what is new is refused.

use serde_json::{Value, json};

use crate::http::{
    house::House,
    raw::Raw,
    talk::{Answer, Talk},
};

const QUESTION: &str = "What is Apple trading at?";
const ROUTES: [&str; 4] = ["/agent/chat", "/agent/stream", "/copilotkit/action", "/copilotkit/stream"];
const MEGABYTE: usize = 1024 * 1024;

/// A body of a route, which holds these messages.
fn body(route: &str, messages: &str) -> String {
    match route {
        "/agent/chat" | "/agent/stream" => format!(r#"{{"messages": {messages}}}"#),
        _ => format!(
            r#"{{"action": "chat", "threadId": "t", "runId": "r", "messages": {messages}, "tools": [], "context": []}}"#
        ),
    }
}

async fn send(talk: &Talk, route: &str, messages: &str) -> Answer {
    talk.send("POST", route, &[], &body(route, messages)).await
}

#[track_caller]
fn assert_answered(answer: &Answer, route: &str, what: &str) {
    let is_whole = answer.text.contains("193.12") && !answer.text.contains("RUN_ERROR");
    assert!(answer.status == 200 && is_whole, "{route}, {what}: {} {:.400}", answer.status, answer.text);
}

fn exchange(said: &str, answered: &str) -> String {
    json!([{"role": "user", "content": said}, {"role": "assistant", "content": answered}])
        .to_string()
        .trim_matches(['[', ']'])
        .to_owned()
}

#[tokio::test]
async fn no_number_size_or_content_of_old_messages_ends_a_conversation() {
    let house = House::new();
    let talk = house.talk("demo");
    let hi = exchange("hi", "x");
    let nested = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
    let image = json!({"role": "user", "content": [{"type": "image", "source": {"value": "i".repeat(3 * MEGABYTE)}}]});
    let old = [
        ("51 messages", vec![hi.clone(); 25].join(",")),
        ("2,001 messages", vec![hi; 1_000].join(",")),
        ("300 KB in four answers", vec![exchange("hi", &"x".repeat(75_000)); 4].join(",")),
        ("a long message of the user", exchange(&"x".repeat(200_000), "too long")),
        ("an image of 3 MiB", image.to_string()),
        ("half a surrogate pair", r#"{"role": "user", "content": "\ud83d", "id": "\udc00"}"#.to_owned()),
        ("deep nesting", format!(r#"{{"role": "user", "content": {nested}, "more": {nested}}}"#)),
        ("a key that stands twice", r#"{"role": "user", "content": "a", "content": 5}"#.to_owned()),
        ("other values", r#"1, null, "x", [], {}, {"role": 7}, {"role": "user", "content": null}"#.to_owned()),
        (
            "calls of tools",
            json!({"role": "assistant", "toolCalls": [{"id": "c", "function": {"name": "f", "arguments": "{"}}]})
                .to_string()
                + r#", {"role": "tool", "toolCallId": "none"}, {"role": "oracle", "content": [{}]}"#,
        ),
        ("names", {
            let message = json!({"id": "i".repeat(10_000), "role": "user", "content": "hi"});
            format!("{message}, {message}")
        }),
    ];
    for (what, old) in old {
        for route in ROUTES {
            let messages = format!(r#"[{old}, {{"role": "user", "content": "{QUESTION}"}}]"#);
            assert_answered(&send(&talk, route, &messages).await, route, what);
        }
    }
}

#[tokio::test]
async fn what_a_run_does_not_read_of_its_input_is_let_be() {
    let house = House::new();
    let nested = (0..40).fold(json!("\u{fffd}"), |inner, _| json!({ "a": inner }));
    let input = json!({
        "threadId": "t", "runId": "r", "messages": [{"role": "user", "content": QUESTION}],
        "state": nested, "tools": [nested], "context": nested, "forwardedProps": "none",
    });
    let text = input.to_string().replace('\u{fffd}', "\\ud83d");
    let answer = house.talk("demo").send("POST", "/copilotkit/stream", &[], &text).await;
    assert_answered(&answer, "/copilotkit/stream", "state, tools and context");
}

#[tokio::test]
async fn a_part_that_is_no_text_is_named_in_the_answer() {
    let house = House::new();
    let talk = house.talk("demo");
    let text = json!({"type": "text", "text": QUESTION});
    let image = json!({"type": "image", "source": {"type": "url", "value": "https://e.example/a.png"}});
    let words = "Only text can be read. Not taken into account: image, x-ray.";
    for route in ROUTES {
        let messages = json!([{"role": "user", "content": [text, image, {"type": "x-ray"}]}]).to_string();
        let answer = send(&talk, route, &messages).await;
        assert_answered(&answer, route, "with an image");
        assert!(answer.text.contains(words), "{route}: {}", answer.text);
    }
    let alone = json!([{"role": "user", "content": [image]}]).to_string();
    let reply = send(&talk, "/agent/chat", &alone).await.ok();
    let words = "Only text can be read. Not taken into account: image.";
    let said = reply["response"]["answer_markdown"].as_str().unwrap();
    assert!(said.ends_with(words), "{said}");
    assert_eq!((&reply["warnings"], &reply["tool_results"]), (&json!([words]), &json!([])));
}

#[tokio::test]
async fn a_turn_that_waited_for_a_person_still_names_what_it_did_not_read() {
    let house = House::new();
    let talk = house.talk("demo");
    let order = json!({"type": "text", "text": "Add Infosys to my watchlist"});
    let messages = json!([{"role": "user", "content": [order, {"type": "audio"}]}]);
    let paused = talk.post("/agent/chat", &json!({"messages": messages, "session_id": "s"})).await;
    assert_eq!(paused.status, 202, "{paused:?}");
    let paused = paused.json();
    let id = paused["pending"][0]["confirmation_required"]["confirmation_id"].as_str().unwrap();
    let decided = talk.post(&format!("/v1/confirmations/{id}:decide"), &json!({"approve": {}})).await;
    decided.ok();
    let reply = talk.post("/agent/chat", &json!({"resume": {"turn_id": paused["turn_id"]}})).await.ok();
    assert!(reply["warnings"][0].as_str().unwrap().contains("audio"), "{reply}");
}

#[tokio::test]
async fn only_what_is_new_is_refused_and_the_conversation_goes_on() {
    let house = House::new();
    let talk = house.talk("demo");
    let long = json!({"role": "user", "content": "x".repeat(20_000)});
    for route in ROUTES {
        for refused in [json!([long]), json!([{"role": "user", "content": ""}]), json!("hello"), json!({})] {
            let answer = send(&talk, route, &refused.to_string()).await;
            assert_eq!(answer.problem(), (400, "INVALID_REQUEST".to_owned()), "{route}: {refused:.60}");
        }
        let messages = json!([long, {"role": "user", "content": QUESTION}]);
        assert_answered(&send(&talk, route, &messages.to_string()).await, route, "behind a long message");
    }
}

#[tokio::test]
async fn a_conversation_may_have_16_mib_whether_its_length_is_said_or_not() {
    let house = House::new();
    let talk = house.talk("demo");
    let question = json!({"role": "user", "content": QUESTION});
    let of = |size: usize| format!("[{}, {question}]", exchange("hi", &"x".repeat(size)));
    let most = 16 * MEGABYTE;
    for route in ["/agent/chat", "/copilotkit/stream"] {
        assert_answered(&send(&talk, route, &of(most - 1_000)).await, route, "16 MiB");
        let answer = send(&talk, route, &of(most)).await;
        assert_eq!(answer.problem(), (413, "MESSAGE_TOO_LARGE".to_owned()), "{route}");
    }
    let other =
        talk.send("POST", "/api/chat", &[], &json!({"message": "x".repeat(MEGABYTE)}).to_string()).await;
    assert_eq!(other.problem(), (413, "MESSAGE_TOO_LARGE".to_owned()), "no history is carried there");

    let address = house.server.http.unwrap();
    let head = "content-type: application/json\r\ntransfer-encoding: chunked";
    let mut raw = Raw::connect(address).await;
    raw.say(format!("POST /agent/chat HTTP/1.1\r\nhost: localhost\r\n{head}\r\n\r\n")).await;
    for chunk in body("/agent/chat", &of(5 * MEGABYTE)).as_bytes().chunks(64 * 1024) {
        raw.say(format!("{:x}\r\n{}\r\n", chunk.len(), str::from_utf8(chunk).unwrap())).await;
    }
    raw.say("0\r\n\r\n").await;
    let answer = raw.answer().await;
    assert!(answer.status == 200 && answer.body.contains("193.12"), "{:.200}", answer.body);
}

/// A client of AG-UI that keeps each message and sends all of them again, as `@ag-ui/client` does.
#[tokio::test]
async fn a_thread_of_thirty_turns_goes_on() {
    let house = House::new();
    let talk = house.talk("demo");
    let questions =
        [QUESTION, "How is my Apple position doing?", "And Microsoft?", "Show my recent transfers"];
    let mut messages = Vec::<Value>::new();
    for turn in 0..30 {
        messages.push(json!({"id": format!("u{turn}"), "role": "user", "content": questions[turn % 4]}));
        let input = json!({"action": "chat", "threadId": "long", "messages": messages});
        let answer = talk.post("/copilotkit/action", &input).await;
        assert_eq!(answer.status, 200, "turn {turn}, {} messages: {answer:?}", messages.len());
        let answer = answer.json();
        let new = answer["newMessages"].as_array().unwrap();
        assert!(new.last().unwrap()["content"].as_str().unwrap().len() > 20, "turn {turn}: {answer}");
        messages.extend(new.iter().cloned());
    }
    assert!(messages.len() > 100, "{}", messages.len());
}

/// The session holds the proposal; the messages show the last answer that the user saw.
#[tokio::test]
async fn a_yes_to_another_question_changes_nothing() {
    let house = House::new();
    let talk = house.talk("demo");
    let user = |text: &str| json!({"role": "user", "content": text});
    let order = "Remove TCS from my watchlist";
    for (session, since, calls) in [("a", None, 1), ("b", Some("Shall I show the news of Infosys?"), 0)] {
        let say = async |messages: Vec<Value>| {
            talk.post("/agent/chat", &json!({"messages": messages, "session_id": session})).await.ok()
        };
        let proposed = say(vec![user(order)]).await;
        let question = proposed["response"]["answer_markdown"].as_str().unwrap();
        assert!(question.ends_with("Yes or no."), "{question}");
        let mut messages = vec![user(order), json!({"role": "assistant", "content": question})];
        if let Some(other) = since {
            messages.extend([user("no, keep it"), json!({"role": "assistant", "content": other})]);
        }
        messages.push(user("yes"));
        let done = say(messages).await;
        assert_eq!(done["tool_results"].as_array().unwrap().len(), calls, "{done}");
    }
}

#[tokio::test]
async fn a_yes_makes_no_more_calls_than_the_turn_may() {
    let house = House::new();
    let talk = house.talk("demo");
    let say = async |text: &str, budget: Value| {
        let body = json!({"message": text, "session_id": "s", "budget": budget});
        talk.post("/agent/chat", &body).await.ok()
    };
    say("price of TCS and news of Infosys", json!({})).await;
    let refused = say("yes", json!({"max_calls": 1})).await;
    let said = refused["response"]["answer_markdown"].as_str().unwrap();
    assert_eq!(said, "That takes 2 calls, and this turn may make 1. Nothing was changed.");
    assert_eq!(refused["tool_results"], json!([]));
}
