//! Questions: to the master's agent, to a person; the first answer counts.

use toolwire::state::tasks::{Kind, NewQuestion, life::Reason};

use super::*;

pub(super) async fn ask(house: &House, asker: &Task) -> (Action, Task) {
    let call = call(asker, "ask_master", CallType::AskMaster);
    let question =
        NewQuestion { question: "Is this right?".to_owned(), documents: Vec::new(), timeout: 20 * MINUTE };
    let action = house.tasks().ask_question(&call, &question).await.unwrap();
    let made = house.task(action.task_id.as_ref().unwrap()).await;
    (action, made)
}

pub(super) async fn answer(house: &House, question: &Task, text: &str) -> Result<Ending<Task>, TaskError> {
    house.tasks().answer_question(&riley(), &question.id, text, &[]).await
}

#[tokio::test]
async fn a_root_asks_a_person_and_the_first_answer_counts() {
    let house = House::new();
    let root = house.root().await;
    let (action, question) = ask(&house, &root).await;
    assert_eq!(action.status, "→ asked a person");
    assert_eq!((question.kind, question.role.as_str()), (Kind::Question, ""));
    assert!(question.is_for_person(now()));
    assert_eq!(house.task(&root.id).await.state, State::Blocked(Reason::Question));
    assert_eq!(refused(answer(&house, &root, "yes").await), Refused::NotAQuestion);
    assert_eq!(answer(&house, &question, "yes").await.unwrap().of.state, State::Completed);
    answer(&house, &question, "yes").await.unwrap();
    assert_eq!(refused(answer(&house, &question, "no").await), Refused::AlreadyAnswered);
    let told = house.told(&root.id).await;
    assert_eq!(told, ["created", "ask_master → asked a person", "1 ← answer from a person"]);
    let Body::Answer(entry) = &house.timeline(&root.id).await[2].body else { panic!() };
    assert_eq!(entry.result.as_ref().unwrap().inline(), Some(r#"{"answer":"yes"}"#));
    assert_eq!(house.assert_folds(&root.id).await.state, State::Running);
    house.assert_folds(&question.id).await;
}

#[tokio::test]
async fn a_master_with_a_role_is_asked_and_its_timeline_has_question_and_answer() {
    let house = House::new();
    let root = house.root_of("chief").await;
    let (_, analyst) = house.delegate(&root, 1).await;
    let (action, question) = ask(&house, &analyst).await;
    assert_eq!(action.status, format!("→ asked {}", root.id));
    assert_eq!((question.role.as_str(), question.master.clone()), ("chief", Some((root.id.clone(), 2))));
    assert!(!question.is_for_person(now()) && question.is_for_person(now() + 10 * MINUTE));
    let handoff = call(&question, "handoff", CallType::Handoff);
    let result = object(&json!({"text": "It is"}));
    house.tasks().hand_off_task(&handoff, &result, &[]).await.unwrap();
    let told = house.told(&analyst.id).await;
    assert_eq!(told[2], format!("1 ← answer from {}", root.id));
    let Body::Message(note) = &house.timeline(&root.id).await[2].body else { panic!() };
    let said = format!("Question from {}: Is this right?\n\nAnswer from {}: It is", analyst.id, root.id);
    assert_eq!(note.text.inline(), Some(said.as_str()));
    let root = house.assert_folds(&root.id).await;
    assert_eq!(root.state, State::Blocked(Reason::Child), "a note is no answer");
    assert_eq!(house.assert_folds(&analyst.id).await.state, State::Running);
    assert_eq!(refused(answer(&house, &question, "no").await), Refused::AlreadyAnswered);
}

#[tokio::test]
async fn a_person_may_answer_what_an_agent_was_asked() {
    let house = House::new();
    let root = house.root_of("chief").await;
    let (_, analyst) = house.delegate(&root, 1).await;
    let (_, question) = ask(&house, &analyst).await;
    let stopped = answer(&house, &question, "no").await.unwrap().stopped;
    assert_eq!(stopped.tasks, [question.id]);
    assert_eq!(house.told(&analyst.id).await[2], "1 ← answer from a person");
}
