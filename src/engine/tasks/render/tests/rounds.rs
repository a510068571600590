//! Responses of the model and what was returned to them, in order.

use super::{super::input::Opaque, *};
use toolwire_tokens::Length;

#[test]
fn a_step_is_one_response_and_its_results_follow_in_its_order() {
    let task = Task::of(
        "Analyse the sales.",
        vec![
            event(1, 1, 0, said(Speaker::Assistant, "I look.")),
            event(2, 1, 1, called("b", "list_documents", "[]")),
            event(3, 1, 0, called("a", "load", "{}")),
            event(4, 0, 0, said(Speaker::User, "Hurry up.")),
            event(5, 2, 0, called("c", "handoff", "{\"logged\":true}")),
        ],
    );
    assert_eq!(
        lines(&task.render(9_000).unwrap()),
        [
            "user 0-0: text Analyse the sales.",
            "assistant 1-4: text I look. | use a load {\"a\":1} | use b list_documents {\"a\":1}",
            "user 1-4: result a {} | result b [] | text Hurry up.",
            "assistant 5-5: use c handoff {\"a\":1}",
            "user 5-5: result c {\"logged\":true}",
        ]
    );
}

#[test]
fn a_call_that_waits_has_its_status_and_later_what_came() {
    let waiting = event(1, 1, 0, called("a", "route_to_analyst", "→ delegated (task 7)"));
    let mut task = Task::of("Do it.", vec![waiting]);
    assert!(lines(&task.render(9_000).unwrap())[2].ends_with("result a → delegated (task 7)"));
    let documents = vec![reference("charts.md", 2)];
    let came = Outcome { documents, ..outcome("{\"charts\":1}") };
    task.events.push(event(2, 0, 0, Body::Answer { answers: 1, outcome: came }));
    task.documents.insert(reference("charts.md", 2), text_document("Bars."));
    let rendered = task.render(9_000).unwrap();
    assert_eq!(lines(&rendered)[2], "user 1-1: result a {\"charts\":1} | document charts.md@2 whole Bars.0");
    assert_eq!(rendered.last_sequence, 2);
    let denied = Outcome { is_error: true, ..outcome("denied") };
    task.events[1].body = Body::Decision { decides: 1, outcome: denied };
    assert!(lines(&task.render(9_000).unwrap())[2].ends_with("result a failed denied"));
}

#[test]
fn a_call_that_waits_again_is_one_call_and_ids_fit_every_provider() {
    let events = vec![
        event(1, 1, 0, called("a", "x", "→ awaiting confirmation 1")),
        event(2, 1, 0, called("a", "x", "→ awaiting confirmation 2")),
        event(3, 2, 0, called("a", "x", "again")),
        event(4, 2, 1, called("a.b/ü", "x", "strange")),
        event(5, 2, 2, called("", "x", "none")),
        event(6, 2, 3, called(&"l".repeat(65), "x", "long")),
    ];
    let rendered = Task::of("Do.", events).render(9_000).unwrap();
    assert_eq!(lines(&rendered)[2], "user 1-2: result a → awaiting confirmation 2");
    let ids: Vec<_> = rendered.messages[3].blocks.iter().map(line).collect();
    let ids: Vec<_> = ids.iter().map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert_eq!(ids, ["call_3", "call_4", "call_5", "call_6"]);
}

#[test]
fn opaque_parts_return_to_their_provider_alone() {
    let opaque = Some(Opaque { provider: "acme".to_owned(), data: vec![1, 2, 3] });
    let thought = Body::Message { speaker: Speaker::Assistant, text: String::new(), tokens: None, opaque };
    let mut task = Task::of("Do.", vec![event(1, 1, 0, thought), event(2, 1, 0, called("a", "x", "{}"))]);
    assert!(lines(&task.render(9_000).unwrap())[1].starts_with("assistant 1-2: use a"));
    task.provider = "acme".to_owned();
    assert!(lines(&task.render(9_000).unwrap())[1].starts_with("assistant 1-2: opaque 3 | use a"));
}

/// Entries are stored with their token counts.
#[test]
fn what_was_counted_is_not_counted_again() {
    let length = Length { tokens: 7_000, first: 0, last: 0 };
    let called = ToolCall {
        id: "a".to_owned(),
        tool: "load".to_owned(),
        input: "{}".to_owned(),
        input_tokens: Some(300),
        outcome: Outcome { length: Some(length), ..outcome("short") },
        ..ToolCall::default()
    };
    let message =
        Body::Message { speaker: Speaker::User, text: "x".to_owned(), tokens: Some(40), opaque: None };
    let task = Task::of("Do.", vec![event(1, 1, 0, Body::Call(called)), event(2, 0, 0, message)]);
    let rendered = task.render(9_000).unwrap();
    let tokens: Vec<_> =
        rendered.messages.iter().flat_map(|message| &message.blocks).map(|block| block.tokens).collect();
    assert_eq!(tokens, [2, 301, 7_000, 40]);
}

/// The model may have acted on the approval: it stays, and the retraction is rendered after it.
#[test]
fn an_approval_that_comes_to_nothing_changes_nothing_that_was_shown() {
    let approved = outcome("← confirmed by riley: approved");
    let mut task = Task::of(
        "Pay.",
        vec![
            event(1, 1, 0, called("a", "pay", "→ awaiting confirmation 1")),
            event(2, 0, 0, Body::Decision { decides: 1, outcome: approved }),
            event(3, 2, 0, called("b", "think", "{\"logged\":true}")),
        ],
    );
    let before = task.render(9_000).unwrap().messages;
    let expired = Outcome { is_error: true, ..outcome("CONFIRMATION_EXPIRED: too late") };
    task.events.push(event(4, 0, 0, Body::Decision { decides: 1, outcome: expired }));
    let after = task.render(9_000).unwrap();
    let last = before.len() - 1;
    let blocks = |messages: &[Message]| messages.iter().map(|it| it.blocks.clone()).collect::<Vec<_>>();
    assert_eq!(blocks(&after.messages[..last]), blocks(&before[..last]));
    assert_eq!(after.messages[last].blocks[..1], before[last].blocks);
    assert_eq!(
        line(&after.messages[last].blocks[1]),
        "text [The approved call of pay was not carried out, and is not any more. CONFIRMATION_EXPIRED: too late]"
    );
}
