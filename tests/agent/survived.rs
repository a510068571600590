//! Whatever a model says, a turn ends once, in order, with what it has told, and calls nothing that was not offered.

use std::sync::{Arc, Mutex};

use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config as Settings, RngAlgorithm, TestRng, TestRunner},
};
use toolwire::sources::models::{
    ModelError, Part, Stop, ToolCall,
    scripted::{Script, Scripted, end},
};

use super::{by_model::*, *};

/// So many turns of each kind.
const TURNS: u32 = 96;

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z_/.\\\\{}\"]{0,12}".prop_map(Value::from),
        Just(json!("AAPL")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("tool|arguments|reason|symbol|timeframe|[a-z]{1,5}", inner, 0..5)
                .prop_map(|map| map.into_iter().collect::<Value>()),
        ]
    })
}

fn any_tool() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("get_quotes".to_owned()),
        Just("get_performance".to_owned()),
        Just("ask_master".to_owned()),
        Just("write_file".to_owned()),
        Just("route_to_analyst".to_owned()),
        Just("none".to_owned()),
        ".{0,20}",
    ]
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,80}",
        any_json().prop_map(|value| value.to_string()),
        (any_tool(), any_json()).prop_map(|(tool, arguments)| {
            json!({"tool": tool, "reason": "x", "arguments": arguments}).to_string()
        }),
        (any_tool(), any_json(), 0_usize..60).prop_map(|(tool, arguments, cut)| {
            let whole = json!({"tool": tool, "arguments": arguments}).to_string();
            whole.chars().take(cut).collect()
        }),
        Just(
            "It is 193.12 [tool:quotes:v1]. See https://evil.example. It is 7,777.\n\n| a |\n|---|\n| 1 |"
                .to_owned()
        ),
    ]
}

fn any_part() -> impl Strategy<Value = Result<Part, ModelError>> {
    let call = (".{0,8}", any_tool(), any_json()).prop_map(|(id, tool, arguments)| ToolCall {
        id,
        tool,
        arguments,
        signatures: Vec::new(),
    });
    prop_oneof![
        5 => any_text().prop_map(|text| Ok(Part::Text(text))),
        3 => prop::collection::vec(call, 0..5).prop_map(|calls| Ok(Part::Calls(calls))),
        2 => Just(Ok(end(Stop::Done))),
        1 => Just(Ok(end(Stop::Length))),
        1 => Just(Err(ModelError::Malformed)),
    ]
}

/// What a model says of one request: any parts in any order.
fn any_script() -> impl Strategy<Value = Script> {
    prop::collection::vec(any_part(), 0..5)
}

#[tokio::test(flavor = "multi_thread")]
async fn any_words_of_a_model_are_survived() {
    for asked in [NATIVE, PROMPTED] {
        let now: Arc<Mutex<Vec<Script>>> = Arc::default();
        let model = {
            let now = Arc::clone(&now);
            Scripted::by(move |_, turn| {
                let scripts = now.lock().unwrap();
                scripts.get(turn % scripts.len().max(1)).cloned().unwrap_or_default()
            })
        };
        let house = House::asking(model, asked, |config| config.agent.max_tokens = 1_000_000);
        let riley = house.person("demo").await;
        let mut runner = TestRunner::new_with_rng(
            Settings::with_cases(TURNS),
            TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]),
        );
        for _ in 0..TURNS {
            let scripts = prop::collection::vec(any_script(), 1..5).new_tree(&mut runner).unwrap().current();
            *now.lock().unwrap() = scripts.clone();
            let (events, status) = riley.events(message("What is Apple at?")).await;
            survived(&house, &events, status.as_ref(), &scripts);
        }
    }
}

#[track_caller]
fn survived(house: &House, events: &[TurnEvent], status: Option<&Status>, scripts: &[Script]) {
    assert!(status.is_none(), "{scripts:?}: {status:?}");
    let sequences: Vec<_> = events.iter().map(|event| event.sequence).collect();
    assert_eq!(sequences, (0..events.len() as u64).collect::<Vec<_>>(), "{scripts:?}");
    let is_last = |event: &&TurnEvent| matches!(event.event, Some(Event::Final(_) | Event::Paused(_)));
    assert_eq!(events.iter().filter(is_last).count(), 1, "{scripts:?}");
    let Some(Event::Started(started)) = &events[0].event else { panic!("{scripts:?}") };
    assert!(started.tools_offered > 0);
    let snapshot = house.server.app.registry.snapshot();
    for tool in started_tools(events) {
        let kind = snapshot.get(&tool).map(|tool| tool.definition.kind);
        assert_eq!(kind, Some(toolwire::engine::registry::ToolType::Function), "{tool}: {scripts:?}");
        assert!(tool != "write_file", "{scripts:?}");
    }
    if let Some(Event::Final(reply)) = &events.last().unwrap().event {
        assert_eq!(deltas(events), answer(reply), "{scripts:?}");
        let cited = &reply.response.as_ref().unwrap().citations;
        assert!(cited.iter().all(|id| reply.sources.iter().any(|it| it.source_id == *id)), "{scripts:?}");
        let words = answer(reply);
        assert!(!words.contains("evil.example") && !words.contains("7,777"), "{words}: {scripts:?}");
    }
}
