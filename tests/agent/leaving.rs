//! A caller that leaves stops planner and tools; writes that have begun go on.

use toolwire::contract::proto::agent::v1::TurnState;

use super::*;
use crate::support::stops::Stops;

/// The only test of this process that looks at stop records, which are collected once a process.
#[tokio::test]
async fn leaving_stops_what_only_reads_and_lets_what_writes_go_on() {
    let stops = Stops::install();
    let house = House::new();
    let riley = house.person("demo").await;
    let calls = [
        call("debug_sleep", &json!({"duration": "100s", "progress_interval": "1s"})),
        call("debug_write", &json!({"value": "x", "duration": "2s"})),
    ];
    let mut stream = riley.stream(says(&json!({"plans": [{"calls": calls}]}))).await.unwrap();
    let mut begun = 0;
    let turn_id = loop {
        let event = stream.message().await.unwrap().unwrap().event.unwrap();
        match event.event {
            Some(Event::ToolCallStarted(_)) => begun += 1,
            // The sleep runs, and the write was begun with it.
            Some(Event::ToolCallProgress(_)) if begun == 2 => break event.turn_id,
            _ => {}
        }
    };
    drop(stream);
    // Others of this process write too, but nobody else sleeps.
    let cause = loop {
        let ended = stops.take(1).await;
        if let Some(slept) = ended.into_iter().find(|stop| stop.tool == "debug_sleep") {
            break slept.cause;
        }
    };
    assert_eq!(cause, "caller_gone");
    house.server.app.tools.in_flight().emptied().await;
    assert_eq!(crate::repeats::writes(&riley, "y").await, 2, "what had begun was written");
    while riley.turn(&turn_id).await.is_err()
        || riley.turn(&turn_id).await.unwrap().state() == TurnState::Running
    {
        tokio::task::yield_now().await;
    }
    assert_eq!(riley.turn(&turn_id).await.unwrap().state(), TurnState::Cancelled);
    assert!(house.server.app.turns.running().is_empty());
}

#[tokio::test]
async fn leaving_stops_the_planner() {
    let house = House::new();
    let riley = house.person("demo").await;
    let stream = riley.stream(says(&json!({"plans": [{"hang": true}]}))).await.unwrap();
    house.hung.waits(1).await;
    drop(stream);
    house.hung.dropped(1).await;
}
