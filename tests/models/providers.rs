//! Each provider's own interface, and what goes wrong with any of them.

use strum::VariantArray as _;

use super::{
    stub::{events, json as reply},
    *,
};

const OPENAI_TEXT: [&str; 5] = [
    r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#,
    r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Apple is "},"finish_reason":null}]}"#,
    r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a company."},"finish_reason":"stop"}]}"#,
    r#"{"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":5,"total_tokens":16}}"#,
    "[DONE]",
];

const OPENAI_CALLS: [&str; 6] = [
    r#"{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"get_quotes","arguments":""}}]},"finish_reason":null}]}"#,
    r#"{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"symbol\":"}}]},"finish_reason":null}]}"#,
    r#"{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"get_quotes","arguments":"{\"symbol\":\"MSFT\"}"}}]},"finish_reason":null}]}"#,
    r#"{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"AAPL\"}"}}]},"finish_reason":null}]}"#,
    r#"{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
    "[DONE]",
];

const ANTHROPIC_TEXT: &str = include_str!("../fixtures/models/anthropic_text_and_call.sse");

const GEMINI: [&str; 2] = [
    r#"{"candidates":[{"content":{"parts":[{"text":"Apple is a company."}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":11,"candidatesTokenCount":3,"totalTokenCount":14}}"#,
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"get_quotes","args":{"symbol":"AAPL"}},"thoughtSignature":"c2ln"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":11,"candidatesTokenCount":5,"totalTokenCount":16}}"#,
];

const OLLAMA: &str = include_str!("../fixtures/models/ollama_text.ndjson");

const COMPATIBLE_CALLS: &str = r#"{"id":"c","object":"chat.completion","model":"test-1","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"x1","type":"function","function":{"name":"get_quotes","arguments":"{\"symbol\":\"AAPL\"}"}},{"id":"x2","type":"function","function":{"name":"get_quotes","arguments":"{\"symbol\":\"MSFT\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":11,"completion_tokens":5,"total_tokens":16}}"#;

fn arguments(calls: &[ToolCall]) -> Vec<Value> {
    calls.iter().map(|call| call.arguments.clone()).collect()
}

#[tokio::test]
async fn text_comes_as_it_is_written() {
    let ollama = stub::Reply::Whole(200, "content-type: application/x-ndjson\r\n", OLLAMA.to_owned());
    for (provider, answered) in [
        (Provider::Openai, events(&OPENAI_TEXT)),
        (Provider::Compatible, events(&OPENAI_TEXT)),
        (Provider::Ollama, ollama),
    ] {
        let stub = Stub::answering([answered]).await;
        let (text, calls, stop, usage) = answer(&model(&stub, provider), question()).await.unwrap();
        assert_eq!(
            (text.as_str(), calls.len(), stop),
            ("Apple is a company.", 0, Stop::Done),
            "{provider:?}"
        );
        assert_eq!(usage, Usage { input_tokens: 11, output_tokens: 5 }, "{provider:?}");
        assert!(stub.requests()[0].contains("Be brief.") && stub.requests()[0].contains("\"test-1\""));
    }
}

#[tokio::test]
async fn calls_come_together_with_their_arguments_whole() {
    let stub = Stub::answering([events(&OPENAI_CALLS)]).await;
    let (_, calls, stop, _) = answer(&model(&stub, Provider::Openai), with_tools()).await.unwrap();
    assert_eq!(arguments(&calls), [json!({"symbol": "AAPL"}), json!({"symbol": "MSFT"})]);
    assert_eq!((calls[0].id.as_str(), calls[1].id.as_str(), stop), ("call_a", "call_b", Stop::Calls));

    let answered = Reply::Whole(200, "content-type: text/event-stream\r\n", ANTHROPIC_TEXT.to_owned());
    let stub = Stub::answering([answered]).await;
    let (text, calls, stop, _) = answer(&model(&stub, Provider::Anthropic), with_tools()).await.unwrap();
    assert_eq!((text.as_str(), stop), ("Apple is a company.", Stop::Calls));
    assert_eq!((calls[0].id.as_str(), arguments(&calls)), ("toolu_a", vec![json!({"symbol": "AAPL"})]));

    let stub = Stub::answering([events(&GEMINI)]).await;
    let (text, calls, stop, _) = answer(&model(&stub, Provider::Gemini), with_tools()).await.unwrap();
    assert_eq!((text.as_str(), stop), ("Apple is a company.", Stop::Calls));
    assert_eq!(arguments(&calls), [json!({"symbol": "AAPL"})]);
    assert_eq!(calls[0].signatures, ["c2ln"]);
}

/// Servers that speak as another one does leave `index` out: they are asked for the whole answer.
#[tokio::test]
async fn a_compatible_server_is_asked_for_calls_without_a_stream() {
    let stub = Stub::answering([reply(200, COMPATIBLE_CALLS)]).await;
    let (_, calls, ..) = answer(&model(&stub, Provider::Compatible), with_tools()).await.unwrap();
    assert!(!stub.requests()[0].contains("\"stream\":true"), "{}", stub.requests()[0]);
    assert_eq!(arguments(&calls), [json!({"symbol": "AAPL"}), json!({"symbol": "MSFT"})]);
}

#[tokio::test]
async fn a_server_that_answers_a_request_for_a_stream_with_plain_json_is_read() {
    let whole = COMPATIBLE_CALLS.replace("null", "\"Apple is a company.\"");
    for provider in [Provider::Openai, Provider::Compatible] {
        let stub = Stub::answering([reply(200, &whole), reply(200, &whole), reply(200, &whole)]).await;
        let model = model(&stub, provider);
        for _ in 0..2 {
            let (text, calls, ..) = answer(&model, question()).await.unwrap();
            assert_eq!((text.as_str(), calls.len()), ("Apple is a company.", 2), "{provider:?}");
        }
        // The second time it is not asked for a stream.
        let requests = stub.requests();
        let streamed: Vec<_> = requests.iter().map(|it| it.contains("\"stream\":true")).collect();
        assert_eq!(streamed, [true, false, false], "{provider:?}");
    }
}

#[tokio::test]
async fn calls_without_ids_of_their_own_are_told_apart() {
    for ids in [["", ""], ["same", "same"]] {
        let [first, second] =
            ids.map(|id| if id.is_empty() { String::new() } else { format!("\"id\":\"{id}\",") });
        let answered = COMPATIBLE_CALLS.replace("\"id\":\"x1\",", &first).replace("\"id\":\"x2\",", &second);
        let stub = Stub::answering([reply(200, &answered)]).await;
        let (_, calls, ..) = answer(&model(&stub, Provider::Compatible), with_tools()).await.unwrap();
        assert_eq!(arguments(&calls), [json!({"symbol": "AAPL"}), json!({"symbol": "MSFT"})]);
        assert!(!calls[0].id.is_empty() && calls[0].id != calls[1].id, "{calls:?}");
    }
}

/// The length is counted while the body comes: a server that never ends it is not waited for.
#[tokio::test]
async fn a_whole_answer_has_at_most_1_mib_and_is_given_up_beyond() {
    let of = |length: usize| COMPATIBLE_CALLS.replace("null", &format!("\"{}\"", "x".repeat(length)));
    let stub = Stub::answering([reply(200, &of(1_000_000))]).await;
    let (text, calls, ..) = answer(&model(&stub, Provider::Compatible), with_tools()).await.unwrap();
    assert_eq!((text.len(), calls.len()), (1_000_000, 2));
    for answered in [reply(200, &of(1024 * 1024)), Reply::Stalled(of(1024 * 1024))] {
        let stub = Stub::answering([answered]).await;
        let error = answer(&model(&stub, Provider::Compatible), with_tools()).await.unwrap_err();
        assert_eq!((error, stub.requests().len()), (ModelError::TooLong, 1));
    }
}

/// What goes to a server that is asked for a whole answer: the conversation with its calls and results, to the letter.
#[tokio::test]
async fn a_compatible_server_is_sent_the_whole_conversation() {
    let stub = Stub::answering([reply(200, COMPATIBLE_CALLS)]).await;
    let call = ToolCall {
        id: "x0".to_owned(),
        tool: "get_quotes".to_owned(),
        arguments: json!({"symbol": "TCS"}),
        signatures: Vec::new(),
    };
    let output =
        ToolOutput { call_id: "x0".to_owned(), tool: "get_quotes".to_owned(), text: "{}".to_owned() };
    let mut request = with_tools();
    request.messages.push(Message::Assistant { text: "I look.".to_owned(), calls: vec![call] });
    request.messages.push(Message::Results(vec![output]));
    answer(&model(&stub, Provider::Compatible), request.clone()).await.unwrap();
    let asked = stub.requests().remove(0);
    let (head, body) = asked.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /api/chat/completions ") && head.contains(&format!("Bearer {KEY}")));
    let function = json!({"name": "get_quotes", "arguments": "{\"symbol\":\"TCS\"}"});
    let calls = json!([{"type": "function", "id": "x0", "function": function}]);
    let messages = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is AAPL?"},
        {"role": "assistant", "content": "I look.", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "x0", "content": "{}"},
    ]);
    let expected = json!({
        "model": "test-1", "messages": messages, "max_tokens": 4096, "stream": false,
        "tools": *request.tools.unwrap(),
    });
    assert_eq!(serde_json::from_str::<Value>(body).unwrap(), expected);
}

/// What is no JSON stays as it was written: whoever asked can tell the model.
#[tokio::test]
async fn arguments_that_are_not_json_never_pass_for_arguments() {
    let broken = COMPATIBLE_CALLS.replace(r#"\"MSFT\"}"#, "");
    let stub = Stub::answering([reply(200, &broken)]).await;
    let (_, calls, ..) = answer(&model(&stub, Provider::Compatible), with_tools()).await.unwrap();
    assert_eq!(arguments(&calls), [json!({"symbol": "AAPL"}), json!("{\"symbol\":")]);

    let stub =
        Stub::answering([events(&[OPENAI_CALLS[0], OPENAI_CALLS[1], OPENAI_CALLS[4], "[DONE]"])]).await;
    let (_, calls, ..) = answer(&model(&stub, Provider::Openai), with_tools()).await.unwrap();
    assert_eq!(arguments(&calls), [json!("{\"symbol\":")]);
}

/// Servers that speak as others do leave `index` out, or send equal parts: of a stream such calls would be lost.
#[tokio::test]
async fn parts_without_an_index_are_not_taken_for_calls() {
    let without = OPENAI_CALLS[2].replace(r#""index":1,"id""#, r#""id""#);
    let stub = Stub::answering([events(&[&without, OPENAI_CALLS[4], "[DONE]"])]).await;
    let (_, calls, stop, _) = answer(&model(&stub, Provider::Openai), with_tools()).await.unwrap();
    assert_eq!((calls.len(), stop), (0, Stop::Done));
}

#[tokio::test]
async fn calls_and_results_go_back_with_what_the_provider_wants_to_see_again() {
    let stub = Stub::answering([events(&GEMINI)]).await;
    let call = ToolCall {
        id: "1".to_owned(),
        tool: "get_quotes".to_owned(),
        arguments: json!({"symbol": "AAPL"}),
        signatures: vec!["c2ln".to_owned()],
    };
    let output = ToolOutput {
        call_id: "1".to_owned(),
        tool: "get_quotes".to_owned(),
        text: "{\"price\":1}".to_owned(),
    };
    let mut request = with_tools();
    request.messages.push(Message::Assistant { text: String::new(), calls: vec![call] });
    request.messages.push(Message::Results(vec![output]));
    answer(&model(&stub, Provider::Gemini), request).await.unwrap();
    let asked = stub.requests().remove(0);
    for part in ["functionCall", "functionResponse", "c2ln", "get_quotes"] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
}

#[tokio::test]
async fn a_refusal_is_said_by_its_kind() {
    for (status, body, expected) in [
        (401, r#"{"error":{"message":"Incorrect API key: sk-planted-0123456789"}}"#, ModelError::AuthFailed),
        (403, "{}", ModelError::AuthFailed),
        (400, "{}", ModelError::Refused),
        (413, "{}", ModelError::TooLong),
        (302, "", ModelError::Refused),
    ] {
        for &provider in Provider::VARIANTS {
            let stub = Stub::answering([reply(status, body)]).await;
            let error = answer(&model(&stub, provider), question()).await.unwrap_err();
            assert_eq!((error, stub.requests().len()), (expected, 1), "{provider:?} {status}");
        }
    }
}

#[tokio::test]
async fn what_passes_is_tried_again_before_anything_was_seen() {
    let limited = Reply::Whole(429, "retry-after: 0\r\ncontent-type: application/json\r\n", "{}".to_owned());
    let stub = Stub::answering([limited, reply(503, "{}"), events(&OPENAI_TEXT)]).await;
    assert!(answer(&model(&stub, Provider::Openai), question()).await.is_ok());
    assert_eq!(stub.requests().len(), 3);

    let stub =
        Stub::answering([reply(500, "{}"), reply(502, "<html>"), reply(503, "{}"), events(&OPENAI_TEXT)])
            .await;
    let error = answer(&model(&stub, Provider::Openai), question()).await.unwrap_err();
    assert_eq!((error, stub.requests().len()), (ModelError::Unavailable, 3));
}

#[tokio::test]
async fn a_limit_without_room_to_wait_is_told_with_its_pause() {
    let limited = Reply::Whole(429, "retry-after: 600\r\n", String::new());
    let stub = Stub::answering([limited]).await;
    let error = answer(&model(&stub, Provider::Openai), question()).await.unwrap_err();
    assert_eq!(error, ModelError::RateLimited { after: Some(Duration::from_mins(10)) });
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_no_answer_and_is_not_asked_for_again() {
    let begun = format!("data: {}\n\n", OPENAI_TEXT[1]);
    for cut in [Reply::CutOff(begun.clone()), Reply::Whole(200, "content-type: text/event-stream\r\n", begun)]
    {
        let stub = Stub::answering([cut, events(&OPENAI_TEXT)]).await;
        let parts = parts(&model(&stub, Provider::Openai), question()).await;
        assert_eq!(parts[0], Ok(Part::Text("Apple is ".to_owned())));
        assert!(matches!(parts[1], Err(ModelError::Malformed | ModelError::Unavailable)), "{parts:?}");
        assert_eq!((parts.len(), stub.requests().len()), (2, 1));
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_said_so() {
    for body in ["<html>", "data: {\"choices\":", "\u{1f600}", ""] {
        let stub = Stub::answering([Reply::Whole(
            200,
            "content-type: text/event-stream\r\n",
            format!("data: {body}\n\n"),
        )])
        .await;
        let error = answer(&model(&stub, Provider::Openai), question()).await.unwrap_err();
        assert_eq!(error, ModelError::Malformed, "{body}");
    }
}

#[tokio::test]
async fn an_answer_is_bounded() {
    let piece = OPENAI_TEXT[1].replace("Apple is ", &"x".repeat(100_000));
    let body = format!("data: {piece}\n\n").repeat(12);
    let stub = Stub::answering([Reply::Whole(200, "content-type: text/event-stream\r\n", body)]).await;
    let parts = parts(&model(&stub, Provider::Openai), question()).await;
    assert_eq!(parts.last(), Some(&Err(ModelError::TooLong)));
    assert!(parts.len() <= 12);
}

#[tokio::test]
async fn silence_lasts_until_the_deadline_and_no_longer() {
    let text = Ok(Part::Text("Apple is ".to_owned()));
    // A slow machine gets more time to receive the first part.
    let mut time = Duration::from_millis(300);
    loop {
        let stub = Stub::answering([Reply::Stalled(format!("data: {}\n\n", OPENAI_TEXT[1]))]).await;
        let context = ToolContext::new(User::new("ada".parse().unwrap()), clock::now() + time);
        let parts: Vec<_> = model(&stub, Provider::Openai).chat(question(), &context).collect().await;
        match parts.as_slice() {
            [Err(ModelError::TimedOut)] => time *= 2,
            parts => break assert_eq!(parts, [text, Err(ModelError::TimedOut)]),
        }
    }
}

#[tokio::test]
async fn a_dropped_answer_drops_the_request() {
    let stub = Stub::answering([Reply::Stalled(format!("data: {}\n\n", OPENAI_TEXT[1]))]).await;
    let mut stream = model(&stub, Provider::Openai).chat(question(), &context());
    assert!(stream.next().await.is_some());
    assert_eq!(stub.open(), 1);
    drop(stream);
    while stub.open() > 0 {
        tokio::task::yield_now().await;
    }
}
