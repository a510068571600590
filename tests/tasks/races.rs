//! Two at the same time, over gRPC: one wins, and the other is told in the documented words.
//!
//! `RACE_ROUNDS` says how often.

use std::env;

use toolwire::contract::proto::tasks::v1::{AnswerQuestionRequest, CancelTaskRequest, timeline_entry::Entry};

use super::*;

fn rounds() -> usize {
    env::var("RACE_ROUNDS").map_or(25, |text| text.parse().expect("a number"))
}

/// How often the entry of a timeline that waited was answered.
fn answers(timeline: &[TimelineEntry], sequence: u64) -> usize {
    let answers =
        |it: &&TimelineEntry| matches!(&it.entry, Some(Entry::Answer(it)) if it.answers == sequence);
    timeline.iter().filter(answers).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_hand_off_and_a_cancellation_one_ends_the_task_and_its_parent_goes_on_once() {
    let server = server();
    let (one, other) = (person(&server, "riley").await, person(&server, "riley").await);
    let (mut handed_off, mut cancelled) = (0, 0);
    for _ in 0..rounds() {
        let root = one.create("Anything").await;
        let child = one.drives(&root.blocks("route_to_analyst", &json!({"request": "x"})).await);
        let message = CancelTaskRequest { task_id: child.task.clone(), reason: "no more".to_owned() };
        let result = json!({"result": {"n": 1}});
        let mut tasks = other.tasks.clone();
        let stops = tasks.cancel_task(other.request(message));
        let (handed, stopped) = tokio::join!(child.handle("handoff", &result), stops);
        let ended = stopped.expect("cancelling what has ended is fine").into_inner().task.unwrap();
        match handed {
            Ok(answer) => {
                assert_eq!((answer.action.as_str(), ended.state()), ("return", TaskState::Completed));
                handed_off += 1;
            }
            Err(status) => {
                let said = assert_refused(Err::<(), _>(status), Code::FailedPrecondition, "TASK_ENDED");
                assert!(said.contains("cancelled"), "{said}");
                assert_eq!(ended.state(), TaskState::Cancelled);
                cancelled += 1;
            }
        }
        assert_eq!(child.state().await, ended.state());
        assert_eq!(root.state().await, TaskState::Running);
        assert_eq!(answers(&one.timeline(&root.task).await, 1), 1);
        root.ends("done").await;
    }
    println!("{handed_off} handed off, {cancelled} cancelled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_answers_one_counts() {
    let server = server();
    let (one, other) = (person(&server, "riley").await, person(&server, "riley").await);
    for _ in 0..rounds() {
        let root = one.create("Anything").await;
        let question = root.blocks("ask_master", &json!({"question": "Which year?"})).await;
        let answer = async |person: &Person, answer: &str| {
            let (task_id, answer) = (question.clone(), answer.to_owned());
            let message = AnswerQuestionRequest { task_id, answer, documents: Vec::new() };
            person.tasks.clone().answer_question(person.request(message)).await.map(|_| ())
        };
        let (first, second) = tokio::join!(answer(&one, "2024"), answer(&other, "2025"));
        assert_ne!(first.is_ok(), second.is_ok());
        let (won, lost) = if first.is_ok() { ("2024", second) } else { ("2025", first) };
        assert_refused(lost, Code::FailedPrecondition, "ALREADY_ANSWERED");
        let timeline = one.timeline(&root.task).await;
        assert_eq!(answers(&timeline, 1), 1);
        let Some(Entry::Answer(answer)) = &timeline[2].entry else { panic!("{timeline:?}") };
        assert!(answer.result_json.contains(won), "{answer:?}");
        root.ends("done").await;
    }
}
