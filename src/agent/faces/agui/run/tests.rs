//! The events of a run, to the character; and for any sequence of events, every start has its end and one terminal
//! event is last.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use toolwire_contract::proto::{
    agent::v1::{
        Alert, AnswerDelta, Citations, LlmResponse, PlannedCall, Source, ToolCallProgress, TurnOutcome,
        TurnPlan, TurnStarted, TurnUsage, Validation, ValidationAction,
    },
    v1::{ConfirmationRequired, ConsequenceLevel, ToolErrorCode, ToolResult, tool_result::Outcome as Data},
};

const TURN: &str = "11111111-2222-4333-8444-555555555555";

fn names() -> Names {
    Names {
        thread_id: "thread".to_owned(),
        run_id: "run".to_owned(),
        messages: Some(Vec::new()),
        ..Names::default()
    }
}

fn event_of(event: AgentEvent) -> TurnEvent {
    TurnEvent { turn_id: TURN.to_owned(), event: Some(event), ..TurnEvent::default() }
}

fn run(names: Names, events: impl IntoIterator<Item = AgentEvent>) -> Run {
    let mut run = Run::new(names);
    for event in events {
        run.apply(event_of(event));
    }
    run
}

fn lines(run: &mut Run) -> String {
    let lines: Vec<_> = run.take().iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    lines.join("\n")
}

fn started() -> AgentEvent {
    AgentEvent::Started(TurnStarted::default())
}

fn plan(tool: &str) -> AgentEvent {
    let call = PlannedCall {
        tool: tool.to_owned(),
        arguments_json: r#"{"symbol":"AAPL"}"#.to_owned(),
        ..PlannedCall::default()
    };
    AgentEvent::Plan(TurnPlan { step: 1, calls: vec![call], confidence: 1.0, ..TurnPlan::default() })
}

fn call(call_id: &str, request_id: &str) -> AgentEvent {
    AgentEvent::ToolCallStarted(ToolCallStarted {
        call_id: call_id.to_owned(),
        tool: "get_quotes".to_owned(),
        arguments_json: r#"{"symbol":"AAPL"}"#.to_owned(),
        request_id: request_id.to_owned(),
        ..ToolCallStarted::default()
    })
}

fn result(call_id: &str, action: CallAction) -> AgentEvent {
    let outcome = Data::DataJson(r#"{"price":193.12}"#.to_owned());
    let result = ToolResult { outcome: Some(outcome), ..ToolResult::default() };
    AgentEvent::ToolCallFinished(ToolCallFinished {
        call_id: call_id.to_owned(),
        outcome: Some(Outcome::Result(result)),
        action: action.into(),
        ..ToolCallFinished::default()
    })
}

fn delta(text: &str) -> AgentEvent {
    AgentEvent::AnswerDelta(AnswerDelta { text: text.to_owned() })
}

fn reply(answer: &str) -> AgentEvent {
    let response = LlmResponse {
        answer_markdown: answer.to_owned(),
        citations: vec!["tool:quotes:v1".to_owned()],
        confidence: 1.0,
        ..LlmResponse::default()
    };
    AgentEvent::Final(Reply {
        response: Some(response),
        turn_id: TURN.to_owned(),
        session_id: "thread".to_owned(),
        current_step: "validate".to_owned(),
        outcome: TurnOutcome::Answered.into(),
        usage: Some(TurnUsage {
            model: "gemini/flash".to_owned(),
            input_tokens: 5,
            output_tokens: 7,
            ..TurnUsage::default()
        }),
        ..Reply::default()
    })
}

fn paused() -> AgentEvent {
    let required = ConfirmationRequired {
        confirmation_id: "conf_1".to_owned(),
        summary: "Write with approval".to_owned(),
        tool: "debug_confirm".to_owned(),
        request_id: "r1".to_owned(),
        consequence_level: ConsequenceLevel::High.into(),
        arguments_json: r#"{"value":"x"}"#.to_owned(),
        ..ConfirmationRequired::default()
    };
    let pending = PendingCall {
        call_id: "c9".to_owned(),
        tool: "debug_confirm".to_owned(),
        arguments_json: r#"{"value":"x"}"#.to_owned(),
        confirmation_required: Some(required),
        ..PendingCall::default()
    };
    AgentEvent::Paused(Paused { pending: vec![pending], ..Paused::default() })
}

#[test]
fn an_answered_question_is_told_step_by_step() {
    let progress = Some(Progress { fraction: Some(0.5), message: "Reading".to_owned() });
    let passed = Validation { attempt: 1, action: ValidationAction::Passed.into(), ..Validation::default() };
    let mut run = run(
        names(),
        [
            started(),
            plan("get_quotes"),
            call("c1", ""),
            AgentEvent::ToolCallProgress(ToolCallProgress { call_id: "c1".to_owned(), progress }),
            result("c1", CallAction::Used),
            delta("It is "),
            delta("193.12."),
            AgentEvent::Validation(passed),
            AgentEvent::Citations(Citations { sources: vec![Source::default()] }),
            reply("It is 193.12."),
            delta("late"),
        ],
    );
    insta::assert_snapshot!(lines(&mut run));
    assert_eq!(
        run.messages(),
        [
            json!({"id": "c1", "role": "assistant", "toolCalls": [{
                "id": "c1", "type": "function",
                "function": {"name": "get_quotes", "arguments": r#"{"symbol":"AAPL"}"#},
            }]}),
            json!({
                "id": "c1:result", "role": "tool", "toolCallId": "c1",
                "content": r#"{"success":true,"data":{"price":193.12},"source_ids":[],"as_of":""}"#,
            }),
            json!({"id": format!("{TURN}:answer"), "role": "assistant", "content": "It is 193.12."}),
        ]
    );
}

#[test]
fn a_pause_is_an_interrupt_and_the_run_after_it_tells_results_only() {
    let user = json!({"id": "u", "role": "user", "content": "Write x"});
    let mut first =
        run(Names { messages: Some(vec![user]), ..names() }, [started(), call("c1", "r1"), paused()]);
    insta::assert_snapshot!("paused", lines(&mut first));
    let known = HashSet::from(["r1".to_owned()]);
    let mut second = run(
        Names { known, ..names() },
        [started(), call("c2", "r1"), result("c2", CallAction::Used), delta("Done."), reply("Done.")],
    );
    insta::assert_snapshot!("resumed", lines(&mut second));
}

#[test]
fn a_write_that_is_made_again_is_told_once() {
    let mut run = run(
        names(),
        [
            started(),
            call("c1", "r1"),
            result("c1", CallAction::Retried),
            call("c2", "r1"),
            result("c2", CallAction::Used),
        ],
    );
    let events = run.take();
    let starts = events.iter().filter(|event| matches!(event, Event::ToolCallStart { .. })).count();
    let results = events.iter().filter(|event| matches!(event, Event::ToolCallResult { .. })).count();
    assert_eq!((starts, results), (1, 1));
}

#[test]
fn a_turn_that_ended_before_is_told_by_its_answer() {
    let mut run = run(names(), [reply("It is 193.12.")]);
    let events = run.take();
    let text = events.iter().find_map(|event| match event {
        Event::TextMessageContent { delta, .. } => Some(delta.as_str()),
        _ => None,
    });
    assert_eq!(text, Some("It is 193.12."));
}

#[test]
fn a_turn_that_is_stopped_or_fails_is_an_error_with_its_code() {
    for (refusal, expected) in
        [(Refusal::from(TurnRefusal::Cancelled), "STOPPED"), (Refusal::DeadlineExceeded, "DEADLINE_EXCEEDED")]
    {
        let mut run = run(names(), [started(), delta("It ")]);
        run.fail(&refusal);
        let events = run.take();
        let Some(Event::RunError { code, .. }) = events.last() else { panic!("{events:?}") };
        assert_eq!(code, expected);
        check(&events);
    }
}

/// Checks that every start has its end, in order, and that the run begins and ends once.
#[track_caller]
fn check(events: &[Event]) {
    assert!(matches!(events.first(), Some(Event::RunStarted { .. })), "{events:?}");
    assert_eq!(events.iter().filter(|event| event.is_terminal()).count(), 1, "{events:?}");
    assert!(events.last().is_some_and(Event::is_terminal), "{events:?}");
    let (mut steps, mut texts, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    let mut ever = HashSet::new();
    for event in events {
        match event {
            Event::RunStarted { .. } => assert!(ever.insert("run"), "{events:?}"),
            Event::StepStarted { step_name } => steps.push(*step_name),
            Event::StepFinished { step_name } => assert_eq!(steps.pop(), Some(*step_name), "{events:?}"),
            Event::TextMessageStart { message_id, .. } => texts.push(message_id.clone()),
            Event::TextMessageContent { message_id, delta } => {
                assert!(texts.contains(message_id) && !delta.is_empty(), "{events:?}");
            }
            Event::TextMessageEnd { message_id } => {
                assert_eq!(texts.pop().as_ref(), Some(message_id), "{events:?}");
            }
            Event::ToolCallStart { tool_call_id, .. } => calls.push(tool_call_id.clone()),
            Event::ToolCallArgs { tool_call_id, .. } => assert!(calls.contains(tool_call_id), "{events:?}"),
            Event::ToolCallEnd { tool_call_id } => {
                assert_eq!(calls.pop().as_ref(), Some(tool_call_id), "{events:?}");
            }
            _ => {}
        }
    }
    assert!(steps.is_empty() && texts.is_empty() && calls.is_empty(), "{events:?}");
}

fn any_event() -> impl Strategy<Value = AgentEvent> {
    let id = prop::sample::select(vec!["c1", "c2", "c3"]);
    let request = prop::sample::select(vec!["", "r1", "r2"]);
    let action = prop::sample::select(vec![CallAction::Used, CallAction::Retried, CallAction::Paused]);
    prop_oneof![
        Just(started()),
        Just(plan("get_quotes")),
        (id.clone(), request).prop_map(|(id, request)| call(id, request)),
        (id.clone(), action).prop_map(|(id, action)| result(id, action)),
        id.prop_map(|id| {
            let progress = Some(Progress { fraction: None, message: "on".to_owned() });
            AgentEvent::ToolCallProgress(ToolCallProgress { call_id: id.to_owned(), progress })
        }),
        "[a-z ]{0,8}".prop_map(|text| delta(&text)),
        Just(AgentEvent::Validation(Validation::default())),
        Just(AgentEvent::Alert(Alert { code: ToolErrorCode::Blocked.into(), ..Alert::default() })),
        Just(AgentEvent::Progress(Progress::default())),
        Just(paused()),
        "[a-z ]{0,8}".prop_map(|text| reply(&text)),
    ]
}

proptest! {
    #[test]
    fn whatever_a_turn_says_every_start_has_its_end(
        events in prop::collection::vec(any_event(), 0..24),
        is_known in any::<bool>(),
    ) {
        let known = if is_known { HashSet::from(["r1".to_owned()]) } else { HashSet::new() };
        let mut run = run(Names { known, ..names() }, events);
        // At the latest the end of the stream ends it.
        run.fail(&Refusal::DeadlineExceeded);
        check(&run.take());
        prop_assert!(run.is_over());
        run.apply(event_of(delta("late")));
        prop_assert!(run.take().is_empty());
    }
}
