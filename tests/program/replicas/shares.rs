//! What two programs of one state decide, lease and follow together.

use std::time::Duration;

use futures_util::future::join_all;
use toolwire::contract::proto::tasks::v1::{
    AppendMessageRequest, CreateTaskRequest, EndTaskRequest, LeaseTaskRequest, Message, MessageRole,
    WatchTimelineRequest, end_task_request::End, lease_task_request::Target,
    task_service_client::TaskServiceClient, watch_timeline_response::Event,
};

use super::{Two, new_id};

#[tokio::test]
async fn a_task_is_leased_to_one_of_the_workers_of_two_programs() {
    let two = Two::start().await;
    let one = TaskServiceClient::new(two.one.channel().await);
    let other = TaskServiceClient::new(two.other.channel().await);
    let request =
        CreateTaskRequest { request: "Work".to_owned(), request_id: new_id(), ..Default::default() };
    let task_id = one.clone().create_task(request).await.unwrap().into_inner().task.unwrap().task_id;
    let leases = (0..10).map(|worker| {
        let mut tasks = if worker % 2 == 0 { one.clone() } else { other.clone() };
        let request = LeaseTaskRequest {
            target: Some(Target::TaskId(task_id.clone())),
            holder: format!("worker {worker}"),
            ..Default::default()
        };
        async move { tasks.lease_task(request).await }
    });
    let leases = join_all(leases).await;
    assert_eq!(leases.iter().filter(|leased| leased.is_ok()).count(), 1, "{leases:?}");
}

#[tokio::test]
async fn what_one_program_writes_is_followed_at_the_other_in_order_to_its_end() {
    let two = Two::start().await;
    let mut one = TaskServiceClient::new(two.one.channel().await);
    let mut other = TaskServiceClient::new(two.other.channel().await);
    let request =
        CreateTaskRequest { request: "Talk".to_owned(), request_id: new_id(), ..Default::default() };
    let task_id = one.create_task(request).await.unwrap().into_inner().task.unwrap().task_id;
    let watch = WatchTimelineRequest { task_id: task_id.clone(), after_sequence: None };
    let mut events = other.watch_timeline(watch).await.unwrap().into_inner();
    for _ in 0..20 {
        let message = Some(Message {
            role: MessageRole::Assistant.into(),
            text: "Said.".to_owned(),
            ..Message::default()
        });
        let append = AppendMessageRequest {
            task_id: task_id.clone(),
            message,
            request_id: new_id(),
            ..Default::default()
        };
        one.append_message(append).await.unwrap();
    }
    let end = Some(End::Failed("Enough was said".to_owned()));
    one.end_task(EndTaskRequest { task_id, end, request_id: new_id(), ..Default::default() }).await.unwrap();
    let mut sequences = Vec::new();
    let followed = async {
        while let Some(event) = events.message().await.unwrap() {
            if let Some(Event::Entry(entry)) = event.event {
                sequences.push(entry.sequence);
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), followed).await.expect("it ends with the last entry");
    assert_eq!(sequences, (0..sequences.len() as u64).collect::<Vec<_>>());
    assert!(sequences.len() >= 21, "{sequences:?}");
}
