//! A source that does not take the user's credentials: the task waits for others instead of failing for ever.

use toolwire::{
    contract::proto::tasks::v1::BlockReason,
    domains::research::proto::v1::{
        SetScreenerCredentialsRequest, research_service_client::ResearchServiceClient,
    },
};

use super::*;

async fn give(person: &Person, password: &str) {
    let message =
        SetScreenerCredentialsRequest { username: "demo".to_owned(), password: password.to_owned() };
    let mut client = ResearchServiceClient::new(person.channel.clone());
    client.set_screener_credentials(person.request(message)).await.unwrap();
}

#[tokio::test]
async fn a_task_waits_for_the_users_credentials_and_goes_on_when_they_are_given() {
    let server = server();
    let (riley, sam) = (person(&server, "riley").await, person(&server, "sam").await);
    give(&riley, "wrong").await;
    let root = riley.create("Look at my screens").await;
    let message = root.message("browse_screener", &json!({}));
    let refused = root.send(message.clone()).await.unwrap();
    let block = blocked(&refused).clone();
    assert_eq!(
        (block.reason(), block.status.as_str()),
        (BlockReason::Authorization, "→ awaiting credentials for screener")
    );
    let other = riley.create("Look at them again").await;
    blocked(&other.handle("browse_screener", &json!({})).await.unwrap());
    let task = riley.task(&root.task).await.unwrap();
    assert_eq!((task.state(), task.block_reason()), (TaskState::Blocked, BlockReason::Authorization));
    let said = assert_refused(
        root.handle("stop_and_think", &json!({"thoughts": "x"})).await,
        Code::FailedPrecondition,
        "TASK_BLOCKED",
    );
    assert!(said.contains("it waits for credentials for screener"), "{said}");

    give(&sam, "demo").await;
    assert_eq!(root.state().await, TaskState::Blocked, "those of somebody else");
    give(&riley, "demo").await;
    assert_eq!((root.state().await, other.state().await), (TaskState::Running, TaskState::Running));
    let entries = riley.timeline(&root.task).await;
    assert_eq!(entries.len(), 3, "created, the call, the answer: {entries:#?}");
    assert!(format!("{:?}", entries[2]).contains("← authorized by riley: call again"), "{entries:#?}");
    assert!(!format!("{entries:?}").contains("wrong"), "nothing of the credentials is recorded");
    // The same call again: a read that did nothing is carried out then.
    let browsed = data(&root.send(message).await.unwrap());
    assert!(browsed["stocks_count"].as_u64().unwrap() > 0, "{browsed}");
}

/// Also where the agent calls as any client does.
#[tokio::test]
async fn a_call_by_any_way_in_blocks_its_task_alike() {
    let server = server();
    let riley = person(&server, "riley").await;
    give(&riley, "wrong").await;
    let root = riley.create("Look at my screens").await;
    let answer = riley.call("browse_screener", &json!({}), &root.task).await.unwrap();
    assert!(format!("{answer:?}").contains("Screener.in rejected the password"), "{answer:?}");
    assert_eq!(root.state().await, TaskState::Blocked);
    give(&riley, "demo").await;
    assert_eq!(root.state().await, TaskState::Running);
    // Without a task the failure is all there is.
    give(&riley, "wrong").await;
    riley.call("browse_screener", &json!({}), "").await.unwrap();
}
