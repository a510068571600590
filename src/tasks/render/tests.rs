//! What a model is shown of a timeline: whole, in order, within its budget, and the same each time.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, option, prelude::*};

use super::{
    blocks::{Block, Content},
    frame::nonce,
    given::{
        Body, Called, Document, Event, Given, Listed, Opaque, Outcome, Reference, Request, Speaker, Stored,
    },
    *,
};

const SECRET: &[u8] = b"of this task";

/// What a test gives, owned.
#[derive(Clone, Debug, Default)]
struct Task {
    contents: Vec<Listed>,
    notes: Vec<String>,
    request: Request,
    unread: u64,
    events: Vec<Event>,
    documents: BTreeMap<Reference, Document>,
    media_types: Vec<String>,
    provider: String,
}

impl Task {
    fn of(request: &str, events: Vec<Event>) -> Self {
        Self {
            request: Request { text: request.to_owned(), ..Request::default() },
            events,
            ..Self::default()
        }
    }

    fn render(&self, budget: u64) -> Result<Rendered, BudgetTooSmall> {
        render(&Given {
            role: "You are the analyst.",
            contents: &self.contents,
            notes: &self.notes,
            request: self.request.clone(),
            unread: self.unread,
            events: &self.events,
            documents: &self.documents,
            secret: SECRET,
            budget,
            media_types: &self.media_types,
            provider: &self.provider,
        })
    }
}

fn event(sequence: u64, step: u64, position: u32, body: Body) -> Event {
    Event { sequence, step, position, body }
}

fn said(speaker: Speaker, text: &str) -> Body {
    Body::Said { speaker, text: text.to_owned(), opaque: None }
}

fn outcome(content: &str) -> Outcome {
    Outcome { content: content.to_owned(), ..Outcome::default() }
}

fn called(id: &str, tool: &str, content: &str) -> Body {
    let (id, tool, input) = (id.to_owned(), tool.to_owned(), "{\"a\":1}".to_owned());
    Body::Called(Called { id, tool, input, is_thought: false, outcome: outcome(content) })
}

fn reference(path: &str, version: u32) -> Reference {
    Reference { path: path.to_owned(), version }
}

fn text_document(text: &str) -> Document {
    Document {
        mime_type: "text/plain".to_owned(),
        size: text.len() as u64,
        summary: "A text.".to_owned(),
        content: Some(Stored::Text(text.to_owned())),
    }
}

/// A block in a line.
fn told(block: &Block) -> String {
    match &block.content {
        Content::Text(text) => format!("text {text}"),
        Content::Use { id, tool, input } => format!("use {id} {tool} {input}"),
        Content::Result { id, content, is_error, tokens_cut, .. } => {
            let failed = if *is_error { " failed" } else { "" };
            let cut = if *tokens_cut > 0 { format!(" cut {tokens_cut}") } else { String::new() };
            format!("result {id}{failed}{cut} {content}")
        }
        Content::Document { reference, text, data, is_reference, .. } => {
            let inner = text.lines().nth(1).unwrap_or_default();
            let how = if *is_reference { "reference" } else { "whole" };
            format!("document {}@{} {how} {inner}{}", reference.path, reference.version, data.len())
        }
        Content::Opaque(data) => format!("opaque {}", data.len()),
    }
}

fn lines(rendered: &Rendered) -> Vec<String> {
    let of = |message: &Message| {
        let who = if message.role == Speaker::User { "user" } else { "assistant" };
        let (first, last) = message.sequences;
        let blocks: Vec<_> = message.blocks.iter().map(told).collect();
        format!("{who} {first}-{last}: {}", blocks.join(" | "))
    };
    rendered.messages.iter().map(of).collect()
}

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
    task.events.push(event(2, 0, 0, Body::Answered { answers: 1, outcome: came }));
    task.documents.insert(reference("charts.md", 2), text_document("Bars."));
    let rendered = task.render(9_000).unwrap();
    assert_eq!(lines(&rendered)[2], "user 1-1: result a {\"charts\":1} | document charts.md@2 whole Bars.0");
    assert_eq!(rendered.last_sequence, 2);
    let denied = Outcome { is_error: true, ..outcome("denied") };
    task.events[1].body = Body::Decided { decides: 1, outcome: denied };
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
    let ids: Vec<_> = rendered.messages[3].blocks.iter().map(told).collect();
    let ids: Vec<_> = ids.iter().map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert_eq!(ids, ["call_3", "call_4", "call_5", "call_6"]);
}

#[test]
fn of_one_path_only_the_newest_version_stands_whole() {
    let with = |version| Outcome { documents: vec![reference("a.md", version)], ..outcome("{}") };
    let call = |id: &str, version| {
        Body::Called(Called {
            id: id.to_owned(),
            tool: "x".to_owned(),
            outcome: with(version),
            ..Called::default()
        })
    };
    let mut task = Task::of("Do.", vec![event(1, 1, 0, call("a", 2)), event(2, 2, 0, call("b", 1))]);
    task.request.documents = vec![reference("a.md", 1), reference("gone.md", 1)];
    task.documents =
        [1, 2].map(|version| (reference("a.md", version), text_document(&format!("v{version}")))).into();
    let lines = lines(&task.render(9_000).unwrap());
    assert!(lines[0].contains("a.md@1 reference text/plain, 2 bytes, not shown here. A text."), "{lines:?}");
    assert!(lines[0].contains("gone.md@1 reference It cannot be read any longer."), "{lines:?}");
    assert!(lines[2].contains("a.md@2 whole v2") && lines[4].contains("a.md@1 reference"), "{lines:?}");
}

#[test]
fn media_that_the_model_takes_are_bytes_within_their_bound() {
    let image = |size: usize| Document {
        mime_type: "image/png".to_owned(),
        content: Some(Stored::Media(vec![7; size])),
        size: size as u64,
        summary: String::new(),
    };
    let mut task = Task::of("Look.", Vec::new());
    task.request.documents = vec![reference("a.png", 1), reference("b.png", 1)];
    task.documents = [("a.png", 2_000_000), ("b.png", 1_000_000)]
        .map(|(path, size)| (reference(path, 1), image(size)))
        .into();
    assert!(lines(&task.render(9_000).unwrap())[0].contains("b.png@1 reference"));
    task.media_types = vec!["image/png".to_owned()];
    let rendered = task.render(9_000).unwrap();
    assert!(
        lines(&rendered)[0].contains("a.png@1 reference image/png, 2000000 bytes"),
        "{:?}",
        lines(&rendered)
    );
    assert!(lines(&rendered)[0].contains("b.png@1 whole 1000000"));
    assert_eq!(rendered.cuts, ["media as references: a.png"]);
}

#[test]
fn opaque_parts_return_to_their_provider_alone() {
    let opaque = Some(Opaque { provider: "acme".to_owned(), data: vec![1, 2, 3] });
    let thought = Body::Said { speaker: Speaker::Assistant, text: String::new(), opaque };
    let mut task = Task::of("Do.", vec![event(1, 1, 0, thought), event(2, 1, 0, called("a", "x", "{}"))]);
    assert!(lines(&task.render(9_000).unwrap())[1].starts_with("assistant 1-2: use a"));
    task.provider = "acme".to_owned();
    assert!(lines(&task.render(9_000).unwrap())[1].starts_with("assistant 1-2: opaque 3 | use a"));
}

#[test]
fn the_system_tells_role_workspace_and_notes() {
    let listed = |number: usize| Listed {
        path: format!("{number}.md"),
        mime_type: "text/markdown".to_owned(),
        tokens: 1,
        summary: "One\nline.".to_owned(),
    };
    let mut task = Task::of("Do.", Vec::new());
    task.contents = (0..52).map(listed).collect();
    task.notes = vec!["Fiscal years begin in May.".to_owned()];
    let system = task.render(9_000).unwrap().system;
    assert!(system.starts_with("You are the analyst.\n\nThe workspace:\nCONTENT_BELOW_"), "{system}");
    assert!(
        system.contains("\n0.md (text/markdown, 1 token): One line.\n") && system.contains("\nand more\n"),
        "{system}"
    );
    assert!(system.ends_with("What you noted:\n- Fiscal years begin in May."), "{system}");
    assert!(!system.contains("\n50.md"));
}

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
        let call = Called {
            id: format!("c{number}"),
            tool: format!("tool_{number}"),
            outcome: result,
            ..Called::default()
        };
        task.events.push(event(2 * number, number, 0, Body::Called(call)));
        let thought = Called {
            id: format!("t{number}"),
            tool: "think".to_owned(),
            is_thought: true,
            ..Called::default()
        };
        task.events.push(event(2 * number + 1, number, 1, Body::Called(thought)));
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
    assert_eq!(cuts(whole.tokens - 916), ["documents as references: 1.md", results, "1 thought left out"]);
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

fn body() -> impl Strategy<Value = Body> {
    let text = prop_oneof!["[a-z ]{0,40}", "(word ){0,400}", "CONTENT_ABOVE_[0-9a-f]{0,32}"];
    let documents = vec(("[a-c]", 1_u32..3), 0..3);
    let outcome = (text.clone(), any::<bool>(), any::<bool>(), documents).prop_map(
        |(content, is_error, is_untrusted, documents)| Outcome {
            content,
            is_error,
            is_untrusted,
            documents: documents.into_iter().map(|(path, version)| reference(&path, version)).collect(),
        },
    );
    let id = prop_oneof!["[a-z]{0,2}", "[a-z/]{1,3}"];
    prop_oneof![
        2 => (any::<bool>(), text, option::of(Just("p"))).prop_map(|(is_user, text, provider)| Body::Said {
            speaker: if is_user { Speaker::User } else { Speaker::Assistant },
            text,
            opaque: provider.map(|provider| Opaque { provider: provider.to_owned(), data: vec![0; 9] }),
        }),
        6 => (id, any::<bool>(), outcome.clone()).prop_map(|(id, is_thought, outcome)| Body::Called(Called {
            id, tool: "tool".to_owned(), input: "{}".to_owned(), is_thought, outcome,
        })),
        1 => (0_u64..30, outcome.clone()).prop_map(|(answers, outcome)| Body::Answered { answers, outcome }),
        1 => (0_u64..30, outcome).prop_map(|(decides, outcome)| Body::Decided { decides, outcome }),
        1 => Just(Body::Silent),
    ]
}

fn task() -> impl Strategy<Value = Task> {
    let events = vec((0_u64..12, 0_u32..3, body()), 0..30);
    (events, 0_u64..3, any::<bool>()).prop_map(|(events, unread, is_provider)| {
        let numbered = events.into_iter().enumerate();
        let events =
            numbered.map(|(at, (step, position, body))| event(1 + unread + at as u64, step, position, body));
        let mut task = Task::of("The request.", events.collect());
        task.unread = unread;
        task.request.documents = vec![reference("a", 1)];
        task.documents = [("a", 1), ("a", 2), ("b", 1)]
            .map(|(path, version)| (reference(path, version), text_document(&"some words ".repeat(200))))
            .into();
        task.provider = if is_provider { "p".to_owned() } else { String::new() };
        task
    })
}

/// Calls and results of neighbouring messages are the same, in the same order, and results come first.
fn assert_pairs(messages: &[Message]) {
    let used = |message: &Message| -> Vec<String> {
        let ids = message.blocks.iter().filter_map(|block| match &block.content {
            Content::Use { id, .. } => Some(id.clone()),
            _ => None,
        });
        ids.collect()
    };
    let returned = |message: &Message| -> Vec<String> {
        let first = message.blocks.iter().map_while(|block| match &block.content {
            Content::Result { id, .. } => Some(id.clone()),
            _ => None,
        });
        first.collect()
    };
    let mut seen = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let results =
            message.blocks.iter().filter(|block| matches!(block.content, Content::Result { .. })).count();
        assert_eq!(results, returned(message).len(), "results come first");
        match message.role {
            Speaker::Assistant => {
                let ids = used(message);
                assert!(ids.iter().all(|id| seen.insert(id.clone())), "a name twice: {ids:?}");
                let results = messages.get(at + 1).map(returned).unwrap_or_default();
                assert_eq!(ids, results);
            }
            Speaker::User => assert!(used(message).is_empty()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn pairs_are_whole_roles_alternate_and_the_budget_holds(task in task(), budget in 200_u64..6_000) {
        let rendered = task.render(budget);
        prop_assert_eq!(&rendered, &task.render(budget), "the same each time");
        let rendered = match rendered {
            Ok(rendered) => rendered,
            Err(BudgetTooSmall { least }) => {
                prop_assert!(least > budget);
                task.render(least).unwrap()
            }
        };
        assert_pairs(&rendered.messages);
        prop_assert_eq!(rendered.messages[0].role, Speaker::User);
        for neighbours in rendered.messages.windows(2) {
            prop_assert_ne!(neighbours[0].role, neighbours[1].role);
        }
        let blocks = || rendered.messages.iter().flat_map(|message| &message.blocks);
        let tokens: u64 = blocks().map(|block| block.tokens).sum();
        prop_assert_eq!(tokens + tokens::count(&rendered.system), rendered.tokens);
        let nonces: Vec<_> = (0..64).map(|sequence| nonce(SECRET, sequence)).collect();
        for block in blocks() {
            let text = match &block.content {
                Content::Text(text) | Content::Result { content: text, .. } | Content::Document { text, .. } => text,
                Content::Use { .. } | Content::Opaque(_) => continue,
            };
            for nonce in &nonces {
                let count = text.matches(nonce.as_str()).count();
                prop_assert!(count == 0 || count == 2 && text.ends_with(nonce.as_str()), "{}", text);
            }
        }
    }
}
