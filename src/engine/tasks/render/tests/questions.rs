//! A question for an agent follows that agent's own timeline.

use super::*;

/// Three entries of the master, then the question, then its own.
fn question() -> Task {
    let asked = Body::Question { text: "Which year?".to_owned(), documents: vec![reference("draft.md", 1)] };
    let mut task = Task::of(
        "Report on Q3.",
        vec![
            event(1, 1, 0, said(Speaker::Assistant, "I delegate.")),
            event(2, 1, 1, called("a", "route_to_analyst", "→ delegated (task 1)")),
            event(3, 0, 0, asked),
            // The same step, and the same name of a call: of another task.
            event(4, 1, 0, called("a", "load", "{}")),
        ],
    );
    task.before = 3;
    task.documents.insert(reference("draft.md", 1), text_document("A draft."));
    task
}

#[test]
fn the_masters_messages_come_before_it_and_its_own_after() {
    let rendered = question().render(9_000).unwrap();
    assert_eq!(
        lines(&rendered),
        [
            "user 0-0: text Report on Q3.",
            "assistant 0-0: text I delegate. | use a route_to_analyst {\"a\":1}",
            "user 0-0: result a → delegated (task 1) | document draft.md@1 whole A draft.0 | text Which year?",
            "assistant 1-1: use call_4 load {\"a\":1}",
            "user 1-1: result call_4 {}",
        ]
    );
    assert_eq!(rendered.last_sequence, 1, "of its own timeline");
}

#[test]
fn the_question_stays_whatever_else_is_left_out() {
    let mut task = question();
    for number in 5..40 {
        task.events.push(event(number, number, 0, called("x", "load", &"word ".repeat(200))));
    }
    let rendered = task.render(1_000).unwrap();
    let lines = lines(&rendered);
    assert!(lines[0].contains("text Report on Q3. | text [entries 1 to"), "{lines:#?}");
    assert!(lines[0].contains("text Which year?"), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("I delegate.")), "{lines:#?}");
    assert!(lines.last().unwrap().starts_with("user 36-36: result "), "{lines:#?}");
}
