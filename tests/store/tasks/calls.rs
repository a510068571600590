//! Calls that execute: one record and one entry, in one change at both ends.

use crate::support::state;
use toolwire::{
    contract::ErrorCode,
    state::{
        idempotency::Idempotency,
        tasks::{
            MAX_INLINE_TEXT, Memory, NewMessage, SavedNote, Settled,
            entry::{Speaker, Text},
        },
    },
    tokens::{self, Length},
};

use super::*;

#[tokio::test]
async fn a_call_has_its_outcome_under_its_identifier_and_one_entry() {
    let house = House::new();
    let root = house.root().await;
    let call = call(&root, "write_file", CallType::Function);
    assert_new(house.tasks().begin_task_call(&call, None).await);
    let unfinished = house.tasks().begin_task_call(&call, None).await;
    assert!(matches!(unfinished, Ok(Admission::Begun(Begun::Unfinished { .. }))), "{unfinished:?}");
    let done = result(&call, Ok(json!({"path": "a.md"})));
    let recorded = house.tasks().end_task_call(&call, ended(&done)).await.unwrap();
    assert_eq!(recorded, Recorded { sequence: Some(1), blocks: None });

    let again = house.tasks().begin_task_call(&call, None).await;
    assert!(matches!(again, Ok(Admission::Begun(Begun::Ended(_)))), "{again:?}");
    let other = TaskCall { digest: Digest::of_bytes(b"2"), ..call.clone() };
    let conflict = house.tasks().begin_task_call(&other, None).await;
    assert!(matches!(conflict, Ok(Admission::Begun(Begun::Conflict))), "{conflict:?}");
    // Without its task it is the same call.
    let begun = house.tasks().begin(call.begins()).await;
    assert!(matches!(begun, Begun::Ended(_)), "{begun:?}");

    let of = house.tasks().entry_of_call(&riley(), &root.id, call.key.request_id).await.unwrap();
    let of = of.map(|of| (of.sequence, of.call_id));
    assert_eq!(of, Some((1, call.call_id())));
    let entry = house.timeline(&root.id).await.remove(1);
    assert_eq!(
        (entry.call_id, entry.trace_id.as_deref()),
        (Some(call.call_id()), Some("4bf92f3577b34da6a3ce929d0e0e4736"))
    );
    let Body::ToolCall(entry) = entry.body else { panic!() };
    assert_eq!(entry.input.inline(), Some(call.input.as_str()));
    assert_eq!(entry.result.unwrap().inline(), Some(r#"{"path":"a.md"}"#));
    assert_eq!(house.assert_folds(&root.id).await.state, State::Running);
}

#[tokio::test]
async fn a_call_that_is_not_final_may_be_made_again_and_every_attempt_has_an_entry() {
    let house = House::new();
    let root = house.root().await;
    let call = call(&root, "write_file", CallType::Function);
    assert_new(house.tasks().begin_task_call(&call, None).await);
    let failed = result(&call, Err(ToolError::new(ErrorCode::Unavailable, "later")));
    let end = CallEnd { is_final: false, ..ended(&failed) };
    house.tasks().end_task_call(&call, end).await.unwrap();
    assert_new(house.tasks().begin_task_call(&call, None).await);
    let done = result(&call, Ok(json!({})));
    house.tasks().end_task_call(&call, ended(&done)).await.unwrap();
    assert_eq!(house.told(&root.id).await, ["created", "write_file", "write_file"]);
    let refused = super::call(&root, "write_file", CallType::Function);
    assert_new(house.tasks().begin_task_call(&refused, None).await);
    house.tasks().forget_task_call(&refused, "CANCELLED").await.unwrap();
    assert_new(house.tasks().begin_task_call(&refused, None).await);
    assert_eq!(house.assert_folds(&root.id).await.next_sequence, 3);
}

/// The commit of the first attempt may have been lost, or only its confirmation.
#[tokio::test]
async fn an_end_that_is_recorded_again_has_one_entry() {
    let house = House::new();
    let root = house.root().await;
    let call = call(&root, "write_file", CallType::Function);
    assert_new(house.tasks().begin_task_call(&call, None).await);
    let done = result(&call, Ok(json!({})));
    for _ in 0..2 {
        let end = CallEnd { is_again: true, ..ended(&done) };
        let recorded = house.tasks().end_task_call(&call, end).await.unwrap();
        assert_eq!(recorded.sequence, Some(1));
    }
    assert_eq!(house.told(&root.id).await, ["created", "write_file"]);
    assert_eq!(house.assert_folds(&root.id).await.state, State::Running);
}

#[tokio::test]
async fn what_is_long_is_kept_apart_and_a_page_ends_at_two_mebibytes() {
    let house = House::new();
    let root = house.root().await;
    let call = call(&root, "write_file", CallType::Function);
    assert_new(house.tasks().begin_task_call(&call, None).await);
    let text = "x".repeat(MAX_INLINE_TEXT);
    let done = result(&call, Ok(json!({"text": text})));
    house.tasks().end_task_call(&call, ended(&done)).await.unwrap();
    let page = PageRequest { from: Some(1), backwards: false, limit: 1 };
    let found = house.tasks().timeline_page(&riley(), &root.id, page).await.unwrap();
    let Body::ToolCall(entry) = &found.entries[0].body else { panic!() };
    let whole = json!({"text": text}).to_string();
    assert_eq!(entry.result, Some(Text::external(&whole)));
    let Body::ToolCall(entry) = house.timeline(&root.id).await.remove(1).body else { panic!() };
    assert_eq!(entry.result.unwrap().inline(), Some(whole.as_str()));

    let message = NewMessage {
        speaker: Speaker::User,
        text: "y".repeat(MAX_INLINE_TEXT),
        opaque: None,
        step_ref: StepRef::default(),
    };
    for _ in 0..140 {
        let mutation = mutation("AppendMessage", "1");
        house.tasks().append_message(&riley(), &root.id, &message, mutation).await.unwrap();
    }
    for backwards in [false, true] {
        let (mut from, mut seen, mut pages) = (None, Vec::new(), 0);
        loop {
            let page = PageRequest { from, backwards, limit: 1_000 };
            let page = house.tasks().timeline_page(&riley(), &root.id, page).await.unwrap();
            seen.extend(page.entries.iter().map(|entry| entry.sequence));
            pages += 1;
            from = page.next;
            if from.is_none() {
                break;
            }
        }
        if backwards {
            seen.reverse();
        }
        assert_eq!((seen, pages), ((0..142).collect::<Vec<_>>(), 2));
    }
}

#[tokio::test]
async fn an_outcome_that_comes_late_is_kept_unless_it_says_that_nothing_was_done_and_may_be_tried_again() {
    let house = House::new();
    let root = house.root().await;
    for (outcome, is_kept) in [
        (Ok(json!({"path": "a.md"})), true),
        (Err(ToolError::new(ErrorCode::NotFound, "no folder")), true),
        (Err(ToolError::new(ErrorCode::RateLimited, "later")), false),
    ] {
        let call = call(&root, "write_file", CallType::Function);
        assert_new(house.tasks().begin_task_call(&call, None).await);
        let unknown = result(&call, Err(ToolError::new(ErrorCode::OutcomeUnknown, "lost")));
        house.tasks().end_task_call(&call, ended(&unknown)).await.unwrap();
        let late = result(&call, outcome);
        let settled = house.tasks().settle_unknown_call(&call.key, (call.call_id(), false), &late).await;
        assert_eq!(settled.unwrap(), Settled { record: true, wait: true });
        let again = house.tasks().begin(call.begins()).await;
        assert_eq!(matches!(again, Begun::Ended(_)), is_kept, "{again:?}");
        assert_eq!(matches!(again, Begun::New), !is_kept, "{again:?}");
        assert_eq!(house.task(&root.id).await.state, State::Running);
    }
}

#[tokio::test]
async fn a_result_from_outside_taints_the_task_and_what_it_delegates() {
    let house = House::new();
    let root = house.root().await;
    let call = call(&root, "write_file", CallType::Function);
    assert_new(house.tasks().begin_task_call(&call, None).await);
    let done = result(&call, Ok(json!({})));
    house.tasks().end_task_call(&call, CallEnd { untrusted: true, ..ended(&done) }).await.unwrap();
    assert!(house.assert_folds(&root.id).await.tainted);
    let (_, child) = house.delegate(&root, 1).await;
    assert!(child.tainted && house.tasks().task_tree(&riley(), &child.id).await.unwrap().tainted);
}

/// Counted before it is kept: whoever shows it to a model counts nothing.
#[tokio::test]
async fn how_long_texts_are_is_counted_when_they_are_kept() {
    let house = House::new();
    let root = house.root().await;
    let long = "many words ".repeat(3_000);
    let call = TaskCall { input: "x".repeat(20_000), ..call(&root, "write_file", CallType::Function) };
    assert_new(house.tasks().begin_task_call(&call, None).await);
    let done = result(&call, Ok(json!({"text": long})));
    house.tasks().end_task_call(&call, ended(&done)).await.unwrap();
    let thought =
        TaskCall { step_ref: of_step(1), ..self::call(&root, "stop_and_think", CallType::NonFunction) };
    house.tasks().log_task_call(&thought).await.unwrap();
    let (_, child) = house.delegate(&root, 0).await;
    house.hand_off(&child).await.unwrap();
    let page = PageRequest { from: None, backwards: false, limit: 100 };
    let entries = house.tasks().timeline_page(&riley(), &root.id, page).await.unwrap().entries;
    let counted: Vec<_> = entries.iter().map(|entry| (entry.lengths.input, entry.lengths.result)).collect();
    let text = json!({"text": long}).to_string();
    let short = tokens::count(r#"{"request":"x"}"#);
    assert_eq!(counted[0], (None, None));
    assert_eq!(counted[1], (Some(tokens::count(&call.input)), Some(Length::of(&text))));
    assert_eq!(counted[2], (Some(short), Some(Length::of(r#"{"logged":true}"#))));
    assert_eq!(counted[3], (Some(short), None), "what waits has none yet");
    assert_eq!(counted[4], (None, Some(Length::of(r#"{"charts":1}"#))));
}

#[tokio::test]
async fn what_is_noted_is_found_by_tree_and_user_and_goes_with_its_tree() {
    let house = House::new();
    let (root, other) = (house.root().await, house.root().await);
    let noted = async |task: &Task, memory, input: &str| {
        let call = TaskCall {
            remembers: Some(memory),
            input: input.to_owned(),
            ..call(task, "save_note", CallType::NonFunction)
        };
        house.tasks().log_task_call(&call).await.unwrap();
    };
    noted(&root, Memory::Tree, "1").await;
    noted(&root, Memory::User, "2").await;
    noted(&other, Memory::User, "3").await;
    let read = call(&root, "get_news", CallType::Function);
    assert_new(house.tasks().begin_task_call(&read, None).await);
    let news = result(&read, Ok(json!({})));
    house.tasks().end_task_call(&read, CallEnd { untrusted: true, ..ended(&news) }).await.unwrap();
    noted(&root, Memory::Tree, "4").await;

    let found = async |task: &Task, limit| {
        let found = house.tasks().task_memories(&riley(), &task.id, limit).await.unwrap();
        let inputs = |notes: Vec<SavedNote>| -> Vec<_> {
            notes.into_iter().map(|note| (note.input, note.untrusted)).collect()
        };
        (inputs(found.tree), inputs(found.user))
    };
    let own = |input: &str| (input.to_owned(), false);
    let from_outside = ("4".to_owned(), true);
    assert_eq!(found(&root, 9).await, (vec![own("1"), from_outside.clone()], vec![own("2"), own("3")]));
    assert_eq!(found(&root, 1).await, (vec![from_outside], vec![own("3")]), "the newest");
    assert_eq!(found(&other, 9).await, (Vec::new(), vec![own("2"), own("3")]));
    let sam: UserId = "sam".parse().unwrap();
    assert!(house.tasks().task_memories(&sam, &root.id, 9).await.is_err());

    house.tasks().cancel_task(&riley(), &root.id, "").await.unwrap();
    house.tasks().delete_task_tree(&riley(), &root.id).await.unwrap();
    assert_eq!(found(&other, 9).await.1, [own("3")]);
    while house.tasks().sweep_tasks(Duration::from_hours(1)).await.unwrap() {}
    let left: i64 = state::row(&house.store, "SELECT count(*) FROM memories").await;
    assert_eq!(left, 1);
}
