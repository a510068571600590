//! What is read of messages, and what is not.

use serde_json::{Value, json};

use super::*;

fn read_text(text: &str) -> ChatInput {
    let text = raw::without_lone_surrogates(text.to_owned());
    read("messages", Some(serde_json::from_str(&text).unwrap())).unwrap()
}

fn read_all(messages: &[Value]) -> ChatInput {
    read_text(&Value::from(messages).to_string())
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn assistant(content: impl Into<Value>) -> Value {
    json!({"role": "assistant", "content": content.into()})
}

#[test]
fn the_last_message_of_the_user_is_the_question() {
    let said = read_all(&[
        json!({"role": "system", "content": "You are a pirate."}),
        user("What is Apple worth?"),
        json!({"role": "assistant", "content": "", "toolCalls": []}),
        json!({"role": "tool", "content": "{}", "toolCallId": "c"}),
        assistant("193.12."),
        user(json!([{"type": "text", "text": "And"}, {"type": "text", "text": "VOO?"}])),
    ]);
    assert_eq!(said.question, "And\nVOO?");
    assert_eq!(said.before.len(), 1);
    assert_eq!(
        (said.before[0].said.as_str(), said.before[0].answered.as_str()),
        ("What is Apple worth?", "193.12.")
    );
    assert_eq!(read("messages", None).unwrap(), ChatInput::default());
    assert_eq!(read_all(&[]), ChatInput::default());
}

#[test]
fn the_newest_exchanges_are_kept_and_the_question_is_always_read() {
    let mut messages: Vec<_> = (0..500).flat_map(|at| [user(format!("q{at}")), assistant("a")]).collect();
    messages.push(user("now"));
    let said = read_all(&messages);
    assert_eq!((said.before.len(), said.question.as_str()), (MAX_EXCHANGES, "now"));
    assert_eq!((said.before[0].said.as_str(), said.before[49].said.as_str()), ("q450", "q499"));

    let long = "é".repeat(40_000);
    let said = read_all(&[
        user("old"),
        assistant("a"),
        user(long.as_str()),
        assistant(long.as_str()),
        user("newest"),
        assistant(long.as_str()),
        user("now"),
    ]);
    let kept: Vec<_> = said.before.iter().map(|it| it.said.len()).collect();
    assert_eq!((kept, said.before[2].answered.len()), (vec![3, MAX_TEXT_LENGTH, 6], MAX_TEXT_LENGTH));
    let said = read_all(&[user("a"), assistant("b"), user(long.as_str())]);
    assert_eq!(said.question, long, "what is new is judged when the turn begins");
}

#[test]
fn nothing_in_an_old_message_ends_the_conversation() {
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let long = "i".repeat(100_000);
    for old in [
        "1",
        "null",
        r#""text""#,
        "[]",
        "{}",
        r#"{"role": 1, "content": "x"}"#,
        r#"{"role": "shaman", "content": {"a": 1}}"#,
        r#"{"role": "tool", "content": null, "toolCallId": 5}"#,
        r#"{"role": "assistant", "toolCalls": [{"id": "c"}]}"#,
        r#"{"role": "assistant", "content": null}"#,
        r#"{"role": "assistant", "content": 1e999}"#,
        r#"{"role": "user", "content": ""}"#,
        r#"{"role": "user", "content": false}"#,
        r#"{"role": "user", "content": [1, "x", {"type": "text", "text": 3}, {"type": ["a"]}]}"#,
        r#"{"role": "user", "content": "half \ud83d", "id": "\udc00"}"#,
        r#"{"role": "user", "role": "assistant", "content": "a", "content": "b"}"#,
        &format!(r#"{{"role": "user", "content": {deep}, "state": {deep}}}"#),
        &format!(r#"{{"id": "{long}", "{long}": 1, "role": "user", "content": "a"}}"#),
    ] {
        let answered = r#"{"role": "assistant", "content": "answered"}"#;
        let now = r#"{"role": "user", "content": "now"}"#;
        let said = read_text(&format!("[{old}, {old}, {answered}, {now}]"));
        assert_eq!((said.question.as_str(), said.unread.len()), ("now", 0), "{old:.100}");
    }
}

#[test]
fn a_part_that_is_no_text_is_named() {
    let image = json!({"type": "image", "source": {"type": "url", "value": "https://e.example/a.png"}});
    let said =
        read_all(&[user(json!([{"type": "text", "text": "And this?"}, image, image, {"type": "file"}]))]);
    assert_eq!(
        (said.question.as_str(), said.unread),
        ("And this?", vec!["image".to_owned(), "file".to_owned()])
    );
    let said = read_all(&[user(json!([image]))]);
    assert_eq!(
        (said.question.as_str(), said.unread.as_slice()),
        ("[attachment]", ["image".to_owned()].as_slice())
    );
    for content in [json!(7), json!({"a": 1}), json!([{"type": "<>"}]), json!([[]])] {
        let said = read_all(&[user(content.clone())]);
        assert_eq!(
            (said.question, said.unread),
            ("[attachment]".to_owned(), vec!["attachment".to_owned()]),
            "{content}"
        );
    }
    for content in [json!(null), json!(""), json!([]), json!([null, ""])] {
        assert_eq!(read_all(&[user(content.clone())]), ChatInput::default(), "{content}");
    }
    let many: Vec<_> = (0..100).map(|n| json!({"type": format!("kind{n}")})).collect();
    assert_eq!(read_all(&[user(many)]).unread.len(), 8);
}

#[test]
fn messages_that_are_no_list_are_refused() {
    for wrong in ["{}", "1", r#""hello""#] {
        assert!(read("messages", Some(serde_json::from_str(wrong).unwrap())).is_err(), "{wrong}");
    }
}
