//! Trees of tasks, their timelines and notes.

use serde_json::{Value, json};

use super::{REPORT, WAITS, assert_sound, each, lines, run, unpack};

/// The roots of the user, the newest first.
const ROOTS: [(&str, &str); 10] = [
    ("Ends while it writes", "TASK_STATE_CANCELLED"),
    ("Its read is left", "TASK_STATE_PENDING"),
    ("Its write is left", "TASK_STATE_PENDING"),
    ("Nobody has begun", "TASK_STATE_PENDING"),
    ("Is cancelled", "TASK_STATE_CANCELLED"),
    ("Fails", "TASK_STATE_FAILED"),
    ("Reads what others wrote", "TASK_STATE_AWAITING_CONFIRMATION"),
    ("Has a copy", "TASK_STATE_PENDING"),
    ("Waits for all", "TASK_STATE_BLOCKED"),
    ("Report on Q3 sales: Umsätze in €", "TASK_STATE_COMPLETED"),
];

/// The entries of the tree that has ended.
const ENTRIES: &str = "created message message tool_call tool_call tool_call tool_call tool_call tool_call tool_call \
                       tool_call tool_call tool_call answer tool_call answer tool_call decision answer tool_call \
                       decision ended";

fn kind(entry: &Value) -> &str {
    ENTRIES.split(' ').find(|kind| entry.get(kind).is_some()).unwrap()
}

#[test]
fn tasks_and_timelines_are_read() {
    let state = unpack();
    let roots = lines(&state, &["tasks"]);
    let states: Vec<_> = each(&roots, "request").into_iter().zip(each(&roots, "state")).collect();
    assert_eq!(states, ROOTS);
    assert_eq!(roots[9]["labels"], json!({"größe": "klein", "team": "sales"}));
    let nodes = lines(&state, &["tasks", WAITS]);
    assert_eq!(each(&nodes, "request"), ["Waits for all", "Count the lighthouses", "Which coast?"]);
    let lease = json!({"holder": "worker 10", "token": 1, "expires_at": "2100-01-01T00:00:00Z"});
    assert_eq!((&nodes[0]["waiting"][0]["task_id"], &nodes[1]["lease"]), (&nodes[1]["task_id"], &lease));

    let timeline = lines(&state, &["timeline", REPORT, "--full"]);
    assert_eq!(timeline.iter().map(kind).collect::<Vec<_>>().join(" "), ENTRIES);
    let apart = [&timeline[10]["tool_call"]["input_json"], &timeline[11]["tool_call"]["result_json"]];
    assert!(apart.iter().all(|text| text.as_str().unwrap().len() > 16 * 1024), "{apart:?}");
    assert_eq!(timeline[13]["answer"]["result_json"], r#"{"answer":"2024, natürlich"}"#);
    let page = lines(&state, &["timeline", REPORT, "--from", "20"]);
    assert_eq!(page, timeline[20..]);

    let messages = run(&state, &["timeline", WAITS, "--as-model"]);
    assert!(messages.contains("Demo wants short reports"), "a note for all trees: {messages}");
    let messages = run(&state, &["timeline", REPORT, "--as-model"]);
    assert!(messages.contains("Q3 is July to September"), "a note for this tree: {messages}");
}

#[test]
fn tasks_go_on() {
    let state = unpack();
    let [question] = lines(&state, &["tasks", "--questions"]).try_into().unwrap();
    run(&state, &["tasks", "answer", question["task_id"].as_str().unwrap(), "The north"]);
    let timeline = lines(&state, &["timeline", WAITS]);
    assert_eq!(timeline.last().unwrap()["answer"]["result_json"], r#"{"answer":"The north"}"#);
    run(&state, &["tasks", "cancel", WAITS]);
    let ended = lines(&state, &["tasks", WAITS]);
    let [cancelled, completed] = ["TASK_STATE_CANCELLED", "TASK_STATE_COMPLETED"];
    assert_eq!(each(&ended, "state"), [cancelled, cancelled, completed]);
    let pending = lines(&state, &["confirmations"]);
    assert!(!each(&pending, "task_id").contains(&WAITS), "its confirmation is withdrawn");
    run(&state, &["tasks", "start", "Begun by a later program"]);
    assert_sound(&state);
}
