//! A call over a slot that says nothing of it.

use std::time::Duration;

use serde_json::Map;
use tokio::sync::mpsc;

use super::*;
use crate::{pool::Command, start::testing::spec};
use toolwire_contract::ErrorCode;
use toolwire_tool::context::{RequestId, ToolContext, User};

#[tokio::test(start_paused = true)]
async fn a_write_is_never_started_again_whatever_is_left_of_its_slot() {
    let pool = Pool::new(1);
    let (provider, (commands, mut slot)) = ("shop".into(), mpsc::unbounded_channel());
    let handle = pool.join(&provider, (&"a".into(), "sdk"), &"c1".into(), commands);
    let spec = spec("refund", Effect::Write);
    let user = User::new("riley".parse().expect("a user id"));
    let mut context = ToolContext::new(user, clock::now() + Duration::from_mins(1));
    context.lineage = context.lineage.with_request_id(RequestId::generate());
    let tool =
        HostTool { pool: pool.clone(), catalogue: "c1".into(), digest: "d1".to_owned(), is_shared: false };
    let call = Call::new(&spec, &context, Map::new()).expect("short");
    let losing = async {
        let Some(Command::Start(mut start)) = slot.recv().await else { panic!("no call") };
        assert_eq!(start.message.digest, "d1");
        // What takes a late outcome is gone before the end of the slot is read.
        start.write = None;
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        pool.release(&handle);
        drop(start);
    };
    let calling = timeout_at(context.deadline.at(), call.carry_out(&tool));
    let (result, ()) = tokio::join!(calling, losing);
    assert_eq!(
        result.expect("not waiting for another host").expect_err("lost").code,
        ErrorCode::OutcomeUnknown
    );
    assert!(!matches!(slot.try_recv(), Ok(Command::Start(_))), "not a second time");
}
