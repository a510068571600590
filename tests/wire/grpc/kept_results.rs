//! Results that are kept, and read on in by `read_result`: in every form, by their user alone, for a day, and after a
//! restart.

use std::path::Path;

use crate::support::state;
use toolwire::{
    contract::proto::v1::{GetCallRequest, get_call_request},
    db::sql,
};

use super::*;

/// A server over a state that outlives it.
fn server(state: &Path) -> Server {
    let mut config = config();
    config.state.dir = Some(state.to_owned());
    Server::with(config)
}

fn activity(format: ResultFormat, keep_over_tokens: u32, max_tokens: u32) -> CallToolRequest {
    CallToolRequest {
        result_format: format.into(),
        keep_over_tokens,
        max_tokens,
        ..call("get_activity", json!({}))
    }
}

/// The result of a call of the user's.
async fn by(server: &Server, user: &str, message: CallToolRequest) -> ToolResult {
    let mut request = Request::new(message);
    request.metadata_mut().insert("x-toolwire-user", user.parse().unwrap());
    called(server, request).await.unwrap()
}

async fn read_on(server: &Server, user: &str, input: Value) -> ToolResult {
    let result_format = ResultFormat::Json.into();
    by(server, user, CallToolRequest { result_format, ..call("read_result", input) }).await
}

#[track_caller]
fn shown(result: &ToolResult) -> &str {
    match &result.outcome {
        Some(Outcome::DataText(text)) => text,
        other => panic!("no text: {other:?}"),
    }
}

/// That a part has the shape of the whole: all members, and the first elements of lists.
#[track_caller]
fn assert_part(part: &Value, whole: &Value) {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            assert_eq!(part.len(), whole.len(), "{part:?}");
            part.iter().for_each(|(name, value)| assert_part(value, &whole[name]));
        }
        (Value::Array(part), Value::Array(whole)) => {
            assert!(part.len() <= whole.len());
            part.iter().zip(whole).for_each(|(one, other)| assert_part(one, other));
        }
        (Value::String(part), Value::String(whole)) => assert!(whole.starts_with(part.as_str())),
        _ => assert_eq!(part, whole),
    }
}

/// The code and the words of an error, without the call that it names.
#[track_caller]
fn error(result: ToolResult, call_id: &str) -> (ToolErrorCode, String) {
    match result.outcome {
        Some(Outcome::Error(error)) => (error.code(), error.message.replace(call_id, "…")),
        other => panic!("no error: {other:?}"),
    }
}

#[tokio::test]
async fn a_result_over_the_bound_is_a_part_in_every_form_and_is_read_on_from_its_call() {
    let server = Server::start();
    let whole = called(&server, activity(ResultFormat::Json, 0, 0)).await.unwrap();
    assert_eq!(whole.kept, None);
    let Some(Outcome::DataJson(whole)) = whole.outcome else { panic!("no JSON") };
    for (format, max_tokens) in
        [(ResultFormat::Struct, 0), (ResultFormat::Json, 0), (ResultFormat::Model, 400)]
    {
        let result = called(&server, activity(format, 300, max_tokens)).await.unwrap();
        let kept = result.kept.clone().expect("kept");
        if format == ResultFormat::Model {
            let note = format!(
                "At most 400 tokens of {} are shown. read_result with call_id {} and an offset, a pointer or a query \
                 reads on",
                kept.tokens, kept.call_id
            );
            assert!(shown(&result).contains(&note), "{}", shown(&result));
        } else {
            assert_part(&data(result), &serde_json::from_str(&whole).unwrap());
        }
        let part =
            data(read_on(&server, "demo", json!({"call_id": kept.call_id, "max_tokens": 20_000})).await);
        assert_eq!((part["content"].as_str(), &part["next_offset"]), (Some(whole.as_str()), &json!(0)));
    }
    let within = called(&server, activity(ResultFormat::Json, 100_000, 0)).await.unwrap();
    assert!(within.kept.is_none() && matches!(within.outcome, Some(Outcome::DataJson(_))), "{within:?}");
    for wrong in [1, 255, 1_000_001] {
        let status = called(&server, activity(ResultFormat::Json, wrong, 0)).await.unwrap_err();
        assert_status(&status, Code::InvalidArgument, "INVALID_REQUEST");
        assert!(status.message().contains("keep_over_tokens"), "{status:?}");
    }
}

#[tokio::test]
async fn a_stream_ends_with_what_is_kept() {
    let server = Server::start();
    let mut request = invoke("get_activity", json!({}));
    request.keep_over_tokens = 256;
    let mut stream = server.tools().await.invoke_tool(request).await.unwrap().into_inner();
    let mut last = None;
    while let Some(message) = stream.message().await.unwrap() {
        last = message.event;
    }
    let last = last.unwrap();
    let Some(Event::Result(result)) = last.event else { panic!("{last:?}") };
    assert_eq!(result.kept.as_ref().unwrap().call_id, last.call_id);
}

/// The state of a call whose caller left before its end.
#[tokio::test]
async fn a_query_of_a_call_keeps_its_result_once_for_its_user() {
    let server = Server::start();
    let request_id = "0198c1f2-7d1e-7c3a-9d55-2f6a1b0c4e8f".to_owned();
    let request = CallToolRequest { request_id, ..activity(ResultFormat::Json, 0, 0) };
    let call_id = server.tools().await.call_tool(request).await.unwrap().into_inner().call_id;
    let query = async |keep_over_tokens| {
        let message = GetCallRequest {
            call: Some(get_call_request::Call::CallId(call_id.clone())),
            result_format: ResultFormat::Json.into(),
            keep_over_tokens,
            ..GetCallRequest::default()
        };
        server.tools().await.get_call(message).await.unwrap().into_inner().result.unwrap()
    };
    let whole = query(0).await;
    assert!(whole.kept.is_none() && query(100_000).await.kept.is_none());
    let (first, again) = (query(300).await, query(300).await);
    let kept = first.kept.clone().expect("kept");
    assert_eq!((&kept.call_id, again.kept), (&call_id, first.kept.clone()));
    assert_part(&data(first), &data(whole));
    let part = data(read_on(&server, "demo", json!({"call_id": call_id, "max_tokens": 20_000})).await);
    assert_eq!(part["tokens"], kept.tokens);
}

#[tokio::test]
async fn parts_are_read_by_offset_pointer_and_words() {
    let server = Server::start();
    let kept = called(&server, activity(ResultFormat::Json, 256, 0)).await.unwrap().kept.unwrap();
    let call_id = kept.call_id;
    let read = async |mut more: Value| {
        more["call_id"] = call_id.clone().into();
        read_on(&server, "demo", more).await
    };
    let whole = data(read(json!({"max_tokens": 20_000})).await);
    let text = whole["content"].as_str().unwrap();
    let parsed: Value = serde_json::from_str(text).unwrap();
    let (name, list) = parsed.as_object().unwrap().iter().find(|(_, value)| value.is_array()).unwrap();
    let pointer = format!("/{name}/1");
    let part = data(read(json!({"pointer": pointer})).await);
    let content: Value = serde_json::from_str(part["content"].as_str().unwrap()).unwrap();
    assert_eq!(content, list[1]);
    // The rest of what a pointer names is read by offset.
    let first = data(read(json!({"pointer": format!("/{name}"), "max_tokens": 64})).await);
    let next = data(read(json!({"offset": first["next_offset"], "max_tokens": 64})).await);
    let both = [&first, &next].map(|part| part["content"].as_str().unwrap()).concat();
    assert!(text.contains(&both), "{both}");
    let found = data(read(json!({"query": "AAPL"})).await);
    let passage = &found["passages"][0];
    assert!(passage["content"].as_str().unwrap().contains("AAPL"), "{found}");
    let part = data(read(json!({"pointer": passage["pointer"]})).await);
    assert_eq!(part["offset"], passage["offset"]);
    for (more, code, says) in [
        (
            json!({"pointer": "/nothing"}),
            ToolErrorCode::NotFound,
            "The result has the members account".to_owned(),
        ),
        (json!({"pointer": format!("/{name}/x")}), ToolErrorCode::NotFound, format!("/{name} is a list of ")),
        (json!({"offset": 4_000_000}), ToolErrorCode::InvalidArgument, "the last character".to_owned()),
        (json!({"offset": 1, "query": "a"}), ToolErrorCode::InvalidArgument, "give one of".to_owned()),
        (
            json!({"query": "a b c d e f g h i j k l m n o p q"}),
            ToolErrorCode::InvalidArgument,
            "at most 16 words".to_owned(),
        ),
    ] {
        let (found, message) = error(read(more.clone()).await, &call_id);
        assert_eq!(found, code, "{more}: {message}");
        assert!(message.contains(&says), "{more}: {message}");
    }
}

#[tokio::test]
async fn a_kept_result_is_its_users_alone_outlives_the_server_and_expires() {
    let state = tempfile::tempdir().unwrap();
    let before = server(state.path());
    let kept = called(&before, activity(ResultFormat::Json, 256, 0)).await.unwrap().kept.unwrap();
    let of = |call_id: &str| json!({"call_id": call_id});
    let unknown = "0198c1f2-7d1e-7c3a-9d55-2f6a1b0c4e8f";
    let not_there = error(read_on(&before, "sam", of(unknown)).await, unknown);
    assert_eq!(not_there.0, ToolErrorCode::NotFound);
    assert_eq!(error(read_on(&before, "sam", of(&kept.call_id)).await, &kept.call_id), not_there);
    assert_eq!(error(read_on(&before, "demo", of("no call")).await, "no call"), not_there);
    before.shut_down().await;
    let after = server(state.path());
    assert_eq!(data(read_on(&after, "demo", of(&kept.call_id)).await)["tokens"], json!(kept.tokens));
    state::run(&after.app.state, sql!("UPDATE kept_results SET expires_at = 1")).await;
    assert_eq!(error(read_on(&after, "demo", of(&kept.call_id)).await, &kept.call_id), not_there);
}

#[tokio::test]
async fn text_from_outside_is_framed_again_wherever_it_is_read_on() {
    let server = Server::start();
    let request = CallToolRequest { keep_over_tokens: 256, ..call("browse_reddit", json!({})) };
    let first = called(&server, request).await.unwrap();
    let framing = |result: &ToolResult| result.provenance.clone().unwrap().untrusted_framing.unwrap().nonce;
    let call_id = first.kept.as_ref().unwrap().call_id.clone();
    let mut nonces = vec![framing(&first)];
    for more in [json!({"offset": 0}), json!({"pointer": ""}), json!({"query": "stock"})] {
        let mut input = more;
        input["call_id"] = call_id.clone().into();
        nonces.push(framing(&read_on(&server, "demo", input).await));
    }
    nonces.sort();
    nonces.dedup();
    assert_eq!(nonces.len(), 4, "a nonce of its own for each");
    assert!(nonces.iter().all(|nonce| nonce.len() == 32));
}
