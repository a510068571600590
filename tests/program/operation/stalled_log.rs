//! Whoever reads the log stalls: calls and signals go on, and how many lines were lost is told afterwards.

use serde_json::{Value, json};

use super::{call, hasty, terminate};
use crate::support::program::Program;

/// Together the lines are longer than what may wait for a reader.
const CALLS: u64 = 300;

/// A process whose log nobody reads, after calls of which each makes a line of some KiB.
async fn unread() -> Program {
    let program = hasty(&[("TOOLWIRE_LOG_ARGUMENTS", "true")]).await;
    let channel = program.channel().await;
    let symbols = vec!["AAPL"; 2_000].join(",");
    for _ in 0..CALLS {
        let input = json!({"symbol": symbols});
        call(&channel, "get_quotes", input, None).await.expect("status OK");
    }
    program
}

fn count(lines: &[Value]) -> u64 {
    let of_call = |line: &&Value| line["tool_name"] == "get_quotes";
    lines.iter().filter(of_call).count().try_into().expect("few")
}

#[tokio::test]
async fn calls_go_on_while_nobody_reads_the_log_and_what_was_lost_is_counted() {
    let mut program = unread().await;
    let (told, before) = program.wait_for_log("lines of the log were dropped").await;
    assert_eq!(told["level"], "WARN");
    let dropped = told["dropped"].as_u64().expect("a count");
    assert!(dropped > 0);
    let channel = program.channel().await;
    call(&channel, "debug_sleep", json!({"duration": "0s"}), None).await.expect("it serves");
    let mut after = Vec::new();
    while after.last().is_none_or(|line: &Value| line["tool_name"] != "debug_sleep") {
        after.push(program.next_line().await);
    }
    assert_eq!(count(&before) + dropped + count(&after), CALLS);
}

#[tokio::test]
async fn a_process_whose_log_nobody_reads_ends_when_it_is_asked_to() {
    let program = unread().await;
    terminate(&program);
    let (status, _) = program.wait_end().await;
    assert_eq!(status.code(), Some(0));
}
