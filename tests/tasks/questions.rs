//! Questions: answered by the agent of the parent, or by a person.

use toolwire::contract::proto::tasks::v1::{AnswerQuestionRequest, TaskKind};

use super::*;

async fn answer(person: &Person, task: &str, answer: &str) -> Result<Task, Status> {
    let message =
        AnswerQuestionRequest { task_id: task.to_owned(), answer: answer.to_owned(), documents: Vec::new() };
    let answer = person.tasks.clone().answer_question(person.request(message)).await?;
    Ok(answer.into_inner().task.unwrap())
}

#[tokio::test]
async fn a_question_is_answered_by_the_agent_of_the_parent() {
    let server = server();
    let person = person(&server, "riley").await;
    // The parent has a role, so its agent is the master.
    let root = person.create_for("lead", "Report on Q3 sales").await.task;
    let lead = person.leases("lead").await.unwrap();
    assert_eq!(lead.task, root);
    let task_1 = lead.blocks("route_to_analyst", &json!({"request": "Analyze Q3 sales"})).await;
    let analyst = person.leases("analyst").await.unwrap();
    let asked = analyst.handle("ask_master", &json!({"question": "Before or after refunds?"})).await.unwrap();
    let block = blocked(&asked).clone();
    assert_eq!(block.status, format!("→ asked {root}"));
    let question = person.task(&block.task_id).await.unwrap();
    assert_eq!((question.kind(), question.role.as_str()), (TaskKind::Question, "lead"));

    let master = person.leases("lead").await.expect("the question is of its role");
    assert_eq!(master.task, block.task_id);
    master.ends("After refunds.").await;
    assert_eq!(analyst.state().await, TaskState::Running);
    assert_eq!(lead.state().await, TaskState::Blocked, "a note is no answer");
    let late = answer(&person, &block.task_id, "Before.").await;
    assert_refused(late, Code::FailedPrecondition, "ALREADY_ANSWERED");
    insta::assert_snapshot!(golden(&person, &[&root, &task_1, &block.task_id]).await);
}

#[tokio::test]
async fn a_question_is_answered_by_a_person_and_the_first_answer_counts() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Report on Q3 sales").await;
    let asked = root.handle("ask_master", &json!({"question": "Which year?"})).await.unwrap();
    let block = blocked(&asked).clone();
    assert_eq!(block.status, "→ asked a person");
    assert_refused(answer(&person, &root.task, "2024").await, Code::FailedPrecondition, "NOT_A_QUESTION");
    answer(&person, &block.task_id, "2024").await.unwrap();
    answer(&person, &block.task_id, "2024").await.expect("an equal answer again is fine");
    assert_refused(
        answer(&person, &block.task_id, "2025").await,
        Code::FailedPrecondition,
        "ALREADY_ANSWERED",
    );
    assert_eq!(root.state().await, TaskState::Running);
    insta::assert_snapshot!(golden(&person, &[&root.task, &block.task_id]).await);
}

/// The agent that was asked delegates, and that may take for ever.
#[tokio::test]
async fn a_question_is_answered_by_a_person_although_the_agent_that_was_asked_waits() {
    let server = server();
    let person = person(&server, "riley").await;
    person.create_for("lead", "Report on Q3 sales").await;
    let lead = person.leases("lead").await.unwrap();
    lead.blocks("route_to_analyst", &json!({"request": "Analyze Q3 sales"})).await;
    let analyst = person.leases("analyst").await.unwrap();
    let question = analyst.blocks("ask_master", &json!({"question": "Which year?"})).await;
    let master = person.leases("lead").await.unwrap();
    let below = master.blocks("route_to_developer", &json!({"request": "Find the year"})).await;
    assert_eq!(master.state().await, TaskState::Blocked);
    let answered = answer(&person, &question, "2024").await.unwrap();
    assert_eq!(answered.state(), TaskState::Completed);
    assert_eq!(person.task(&below).await.unwrap().state(), TaskState::Cancelled);
    assert_eq!(analyst.state().await, TaskState::Running);
    let late = master.handle("handoff", &json!({"result": {"text": "2023"}})).await;
    assert_refused(late, Code::FailedPrecondition, "TASK_ENDED");
}
