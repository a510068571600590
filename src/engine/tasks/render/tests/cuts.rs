//! What exceeds the budget is cut in a fixed order and reported.

use super::{super::frame::nonce, *};

/// Many rounds with long results, and four documents in the first ones.
fn long() -> Task {
    let words = |word: &str| format!("{word} ").repeat(600);
    let mut task = Task::of("Do.", Vec::new());
    for number in 1..=12_u64 {
        let path = format!("{number}.md");
        let mut result = Outcome { is_untrusted: number == 1, ..outcome(&words("result")) };
        if number <= 4 {
            result.documents = vec![reference(&path, 1)];
            task.documents.insert(reference(&path, 1), text_document(&words("document")));
        }
        let call = ToolCall {
            id: format!("c{number}"),
            tool: format!("tool_{number}"),
            outcome: result,
            ..ToolCall::default()
        };
        task.events.push(event(2 * number, number, 0, Body::Call(call)));
        let thought = ToolCall {
            id: format!("t{number}"),
            tool: "think".to_owned(),
            is_thought: true,
            ..ToolCall::default()
        };
        task.events.push(event(2 * number + 1, number, 1, Body::Call(thought)));
    }
    task
}

#[test]
fn what_exceeds_the_budget_is_cut_in_order_and_named() {
    let task = long();
    let whole = task.render(500_000).unwrap();
    assert_eq!(whole.cuts, Vec::<String>::new());
    let cuts = |budget: u64| {
        let rendered = task.render(budget).unwrap();
        assert!(rendered.tokens <= budget, "{} of {budget}", rendered.tokens);
        rendered.cuts
    };
    assert_eq!(cuts(whole.tokens - 1), ["documents as references: 1.md"]);
    assert_eq!(cuts(whole.tokens - 600), ["documents as references: 1.md", "1 result shortened"]);
    let results = "4 results shortened";
    // The first budget for which shorter results are not enough.
    let next = (601..2_000).map(|less| cuts(whole.tokens - less)).find(|cuts| cuts.len() > 2).unwrap();
    assert_eq!(next, ["documents as references: 1.md", results, "1 thought left out"]);
    let rounds = "entries 2 to 5 of the timeline are left out, with calls of tool_1, tool_2";
    let after_rounds = cuts(whole.tokens - 2_000);
    assert_eq!(after_rounds[3], rounds, "{after_rounds:?}");
    let most = cuts(1_300);
    assert!(most.last().unwrap().starts_with("entries 2 to 21 of the timeline are left out"), "{most:?}");
    let BudgetTooSmall { least } = task.render(100).unwrap_err();
    assert!(task.render(least).is_ok() && task.render(least - 1).is_err());
}

#[test]
fn a_shortened_result_keeps_its_ends_and_its_frame() {
    let task = long();
    let whole = task.render(500_000).unwrap();
    let rendered = task.render(whole.tokens - 600).unwrap();
    let Content::Result { content, tokens_cut, .. } = &rendered.messages[2].blocks[0].content else {
        panic!()
    };
    assert!(*tokens_cut > 80 && content.contains("tokens left out]"), "{content}");
    assert_eq!(content.matches(&nonce(SECRET, 2)).count(), 2);
}

#[test]
fn entries_that_were_not_read_are_named() {
    let mut task = Task::of("Do.", vec![event(41, 9, 0, called("a", "x", "{}"))]);
    task.unread = 40;
    let rendered = task.render(9_000).unwrap();
    assert_eq!(
        lines(&rendered)[0],
        "user 0-40: text Do. | text [entries 1 to 40 of the timeline are left out]"
    );
}

/// It was not read, and is reported like a document that was cut.
#[test]
fn a_document_that_no_such_budget_holds_is_named_with_what_is_cut() {
    let mut task = Task::of("Do.", Vec::new());
    task.request.documents = vec![reference("big.txt", 1)];
    let big = Document { size: 51_000, tokens: Some(12_000), content: None, ..text_document("") };
    task.documents.insert(reference("big.txt", 1), big);
    let rendered = task.render(2_000).unwrap();
    assert_eq!(rendered.cuts, ["documents as references: big.txt"]);
    let cut = rendered.messages[0].blocks.iter().find_map(|block| match &block.content {
        Content::Document { is_reference: true, tokens_cut, .. } => Some(*tokens_cut),
        _ => None,
    });
    assert_eq!(cut, Some(12_000));
}
