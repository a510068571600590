//! What requests change that are no calls: each change is in the audit once, with who made it.

use toolwire::contract::proto::{
    tasks::v1::{AnswerQuestionRequest, CancelTaskRequest, DeleteTaskRequest},
    v1::{AuditKind, AuditRecord, ListRecordsRequest, audit_service_client::AuditServiceClient},
    workspace::v1::{
        DeleteDocumentRequest, ListDocumentsRequest, PutDocumentRequest, PutHeader, UpdateMetadataRequest,
        put_document_request::Part, workspace_service_client::WorkspaceServiceClient,
    },
};

use super::*;

/// The records of requests that are no calls, the earliest first.
async fn records(person: &Person) -> Vec<AuditRecord> {
    let mut audit = AuditServiceClient::new(person.channel.clone());
    let listed = audit.list_records(person.request(ListRecordsRequest::default())).await.unwrap();
    let mut records = listed.into_inner().records;
    records.retain(|it| it.tool.contains('.'));
    records.reverse();
    records
}

#[tokio::test]
async fn each_change_by_a_request_is_recorded_once_with_who_made_it() {
    let server = server();
    let person = person(&server, "riley").await;
    let mut tasks = person.tasks.clone();
    let root = person.create("Report on Q3 sales").await;
    root.writes("a.txt", b"x").await;
    let mut documents = WorkspaceServiceClient::new(person.channel.clone());
    let listed = ListDocumentsRequest { task_id: root.task.clone(), ..Default::default() };
    let listed = documents.list_documents(person.request(listed)).await.unwrap().into_inner();
    let update = UpdateMetadataRequest {
        task_id: root.task.clone(),
        path: "a.txt".to_owned(),
        etag: listed.documents[0].etag.clone(),
        description: Some("new".to_owned()),
        ..Default::default()
    };
    documents.update_metadata(person.request(update)).await.unwrap();
    let delete =
        DeleteDocumentRequest { task_id: root.task.clone(), path: "a.txt".to_owned(), ..Default::default() };
    for _ in 0..2 {
        // Again changes nothing.
        documents.delete_document(person.request(delete.clone())).await.unwrap();
    }
    let question = root.blocks("ask_master", &json!({"question": "Which year?"})).await;
    let answer =
        AnswerQuestionRequest { task_id: question.clone(), answer: "2024".to_owned(), documents: Vec::new() };
    for _ in 0..2 {
        tasks.answer_question(person.request(answer.clone())).await.unwrap();
    }
    root.ends("done").await;
    tasks.delete_task(person.request(DeleteTaskRequest { task_id: root.task.clone() })).await.unwrap();
    let other = person.create("Another").await;
    let cancel = CancelTaskRequest { task_id: other.task.clone(), reason: "no more".to_owned() };
    tasks.cancel_task(person.request(cancel)).await.unwrap();

    let records = records(&person).await;
    let told: Vec<_> = records.iter().map(|it| (it.tool.as_str(), it.task_id.as_str())).collect();
    assert_eq!(
        told,
        [
            ("TaskService.CreateTask", root.task.as_str()),
            ("WorkspaceService.PutDocument", &root.task),
            ("WorkspaceService.UpdateMetadata", &root.task),
            ("WorkspaceService.DeleteDocument", &root.task),
            ("TaskService.AnswerQuestion", &question),
            ("TaskService.EndTask", &root.task),
            ("TaskService.DeleteTask", &root.task),
            ("TaskService.CreateTask", &other.task),
            ("TaskService.CancelTask", &other.task),
        ]
    );
    for it in &records {
        let how = (it.user_id.as_str(), it.known_by.as_str(), it.face.as_str(), it.peer.as_str());
        assert_eq!(how, ("riley", "loopback", "grpc", "127.0.0.1"), "{it:?}");
        assert_eq!((it.kind(), it.code.as_str()), (AuditKind::Write, "OK"), "{it:?}");
        assert!(it.definition_digest.is_empty() && it.arguments_digest.len() == 64, "{it:?}");
        assert!(it.ended_at.is_some(), "{it:?}");
    }
}

/// The document of a put with the task's lease is the task's.
#[tokio::test]
async fn a_put_with_a_lease_is_the_tasks_and_one_with_another_token_is_refused() {
    let server = server();
    let person = person(&server, "riley").await;
    person.create_for("lead", "Report").await;
    let lead = person.leases("lead").await.unwrap();
    let put = async |path: &str, lease_token: u64| {
        let header = PutHeader {
            task_id: lead.task.clone(),
            path: path.to_owned(),
            request_id: new_id(),
            lease_token,
            ..Default::default()
        };
        let parts = [Part::Header(header), Part::Chunk(b"x".to_vec())];
        let parts = parts.map(|part| PutDocumentRequest { part: Some(part) });
        let mut client = WorkspaceServiceClient::new(person.channel.clone());
        let answer = client.put_document(person.request(futures_util::stream::iter(parts))).await?;
        Ok::<_, Status>(answer.into_inner().document.unwrap().created_by)
    };
    assert_eq!(put("of_agent.txt", lead.lease_token).await.unwrap(), lead.task);
    assert_eq!(put("of_person.txt", 0).await.unwrap(), "riley");
    assert_refused(put("of_nobody.txt", lead.lease_token + 1).await, Code::Aborted, "LEASE_LOST");
    lead.handle("handoff", &json!({"result": {}})).await.unwrap();
    for lease_token in [lead.lease_token, lead.lease_token + 1] {
        assert_refused(put("late.txt", lease_token).await, Code::FailedPrecondition, "TASK_ENDED");
    }
}
