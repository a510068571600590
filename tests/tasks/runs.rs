//! `RunTask`: the loop of an agent by the server itself, with a scripted model.

use std::sync::Arc;

use crate::support::{data_directory, patch_json, state};
use tempfile::TempDir;
use toolwire::{
    agent::service::runs::Runs,
    config::Config,
    contract::proto::{
        agent::v1::{
            Paused, Reply, RunTaskRequest, TurnEvent, TurnOutcome, agent_service_client::AgentServiceClient,
            turn_event::Event,
        },
        tasks::v1::{AnswerQuestionRequest, InitialDocument, initial_document},
        v1::{
            Approve, CancelCallRequest, DecideConfirmationRequest, ResultFormat, cancel_call_request,
            decide_confirmation_request::Decision,
        },
    },
    server::app::App,
    sources::models::{
        Message, ModelError, Request as Asked, ToolCall,
        scripted::{Script, Scripted, calls, text},
    },
};

use super::*;

/// A server whose tasks this model works on.
pub(super) struct House {
    pub(super) server: Server,
    _state: TempDir,
}

impl House {
    pub(super) fn new(model: Option<&Scripted>) -> Self {
        Self::with(model, config())
    }

    fn with(model: Option<&Scripted>, mut config: Config) -> Self {
        let state = tempfile::tempdir().unwrap();
        config.confirmations.own_calls = true;
        state::keep_in(&mut config.state, state.path());
        let mut app = App::build(&config, &toolwire::domains::bundled()).unwrap();
        app.set_part(app.part::<Runs>().with_model(model.map(|model| Arc::new(model.clone()) as _)));
        Self { server: Server::of(app, config), _state: state }
    }
}

impl Person {
    /// Every event of a run, or the status it ends with.
    pub(super) async fn runs(&self, task: &str) -> Result<Vec<TurnEvent>, Status> {
        let message = RunTaskRequest {
            task_id: task.to_owned(),
            result_format: ResultFormat::Json.into(),
            ..Default::default()
        };
        let mut client = AgentServiceClient::new(self.channel.clone());
        let mut stream = client.run_task(self.request(message)).await?.into_inner();
        let mut events = Vec::new();
        while let Some(response) = stream.message().await? {
            events.push(response.event.unwrap());
        }
        Ok(events)
    }
}

/// How a run ended.
#[track_caller]
pub(super) fn reply(events: &[TurnEvent]) -> &Reply {
    match &events.last().unwrap().event {
        Some(Event::Final(reply)) => reply,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn paused(events: &[TurnEvent]) -> &Paused {
    match &events.last().unwrap().event {
        Some(Event::Paused(paused)) => paused,
        other => panic!("{other:?}"),
    }
}

/// One call.
pub(super) fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall { id: format!("{tool}-1"), tool: tool.to_owned(), arguments, signatures: Vec::new() }
}

/// How many results of calls the model was shown, and what it is told of its role.
pub(super) fn seen(request: &Asked) -> (usize, &str) {
    let results = request.messages.iter().map(|message| match message {
        Message::Results(results) => results.len(),
        _ => 0,
    });
    let role = ["analyst", "visualizer", "developer"]
        .into_iter()
        .find(|role| request.system.contains(&format!("You are the agent with the role {role}.")));
    (results.sum(), role.unwrap_or("root"))
}

/// A complete flow, as its agents would.
fn flow(request: &Asked, _: usize) -> Script {
    let one = |tool: &str, arguments: Value| calls([call(tool, arguments)]);
    match seen(request) {
        (0, "root") => {
            one("route_to_analyst", json!({"request": "Analyze Q3 sales", "documents": ["sales_raw.csv"]}))
        }
        (_, "root") => text("Q3 sales are up by 15 %."),
        (0, "analyst") => one("stop_and_think", json!({"thoughts": "Sales went up; a chart shows it best."})),
        (1, "analyst") => {
            let content = "# Q3\n\nSales went up by 15 %.\n";
            one(
                "write_file",
                json!({"path": "analysis.md", "content": content, "mime_type": "text/markdown"}),
            )
        }
        (2, "analyst") => {
            let documents = ["sales_raw.csv", "analysis.md"];
            one("route_to_visualizer", json!({"request": "Create charts", "documents": documents}))
        }
        (_, "analyst") => {
            let documents = ["analysis.md", "charts.png"];
            one("handoff", json!({"result": {"analysis": "complete"}, "documents": documents}))
        }
        (0, "visualizer") => {
            let png = "iVBORw0KGgo=";
            one(
                "write_file",
                json!({"path": "charts.png", "content": png, "mime_type": "image/png", "encoding": "base64"}),
            )
        }
        _ => one("handoff", json!({"result": {"charts_created": 1}, "documents": ["charts.png"]})),
    }
}

/// The text without what follows a mark, which is another each time.
fn masked(text: &str, mark: &str, length: usize) -> String {
    let mut parts = text.split(mark);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |done, part| format!("{done}{mark}…{}", &part[length..]))
}

#[tokio::test]
async fn the_complete_flow_of_the_specification_runs_by_itself() {
    let model = Scripted::by(flow);
    let house = House::new(Some(&model));
    let person = person(&house.server, "riley").await;
    let sales = InitialDocument {
        path: "sales_raw.csv".to_owned(),
        content: Some(initial_document::Content::Text(
            "month,revenue\n2024-07,100\n2024-08,115\n".to_owned(),
        )),
        ..Default::default()
    };
    let message = CreateTaskRequest {
        request: "Report on Q3 sales".to_owned(),
        documents: vec![sales],
        request_id: new_id(),
        ..Default::default()
    };
    let created = person.tasks.clone().create_task(person.request(message)).await.unwrap();
    let root = created.into_inner().task.unwrap().task_id;
    let events = person.runs(&root).await.unwrap();
    let end = reply(&events);
    assert_eq!(end.outcome(), TurnOutcome::Answered, "{end:?}");
    assert_eq!(end.response.as_ref().unwrap().answer_markdown, "Q3 sales are up by 15 %.");
    assert!(events.iter().enumerate().all(|(at, event)| event.sequence == at as u64));
    let tasks: Vec<_> =
        events.iter().map(|event| event.task_id.clone()).filter(|id| !id.is_empty()).collect();
    let mut named = tasks.clone();
    named.dedup();
    // Root, analyst, visualizer, analyst, root.
    assert_eq!(named.len(), 5, "{named:?}");
    assert_eq!((&named[0], &named[1]), (&named[4], &named[3]));
    // The workers see what was handed to them.
    let asked = model.requests();
    let visualizer = asked.iter().find(|request| seen(request).1 == "visualizer").unwrap();
    let Message::User(first) = &visualizer.messages[0] else { panic!("{visualizer:?}") };
    assert!(first.contains("2024-08,115") && first.contains("Sales went up by 15 %."), "{first}");
    let tools = visualizer.tools.as_ref().unwrap().to_string();
    assert!(tools.contains("\"handoff\"") && !tools.contains("\"start_task\""), "{tools}");
    // Again: it has ended, and nothing is asked.
    let before = model.requests().len();
    assert_eq!(reply(&person.runs(&root).await.unwrap()).outcome(), TurnOutcome::Answered);
    assert_eq!(model.requests().len(), before);
    let golden = golden(&person, &[&named[0], &named[1], &named[2]]).await;
    insta::assert_snapshot!(masked(&masked(&golden, r#"\"etag\":\""#, 16), r#""as_of":""#, 10));
}

#[tokio::test]
async fn a_run_waits_for_people_and_goes_on_when_they_have_answered() {
    let model = Scripted::by(|request, _| match seen(request) {
        (0, _) => calls([call("ask_master", json!({"question": "Which quarter?"}))]),
        _ => text("Q3 it is."),
    });
    let house = House::new(Some(&model));
    let person = person(&house.server, "riley").await;
    let root = person.create("Report on sales").await;
    let events = person.runs(&root.task).await.unwrap();
    let waiting = paused(&events).tasks.clone();
    let question = waiting.iter().find(|it| it.task_id != root.task).unwrap().task_id.clone();
    assert_eq!(
        waiting.iter().find(|it| it.task_id == root.task).unwrap().waits_for,
        [format!("an answer to {question}")]
    );
    // Nobody has answered yet: the same again, and the model is not asked.
    let asked = model.requests().len();
    paused(&person.runs(&root.task).await.unwrap());
    assert_eq!(model.requests().len(), asked);
    let message = AnswerQuestionRequest { task_id: question, answer: "Q3".to_owned(), ..Default::default() };
    person.tasks.clone().answer_question(person.request(message)).await.unwrap();
    let events = person.runs(&root.task).await.unwrap();
    assert_eq!(reply(&events).response.as_ref().unwrap().answer_markdown, "Q3 it is.");
}

#[tokio::test]
async fn what_a_person_must_approve_pauses_a_run_and_is_done_once() {
    let model = Scripted::by(|request, _| match seen(request) {
        (0, _) => calls([call("debug_confirm", json!({"value": "x"}))]),
        _ => text("Done."),
    });
    let house = House::new(Some(&model));
    let person = person(&house.server, "riley").await;
    let root = person.create("Do it").await;
    let events = person.runs(&root.task).await.unwrap();
    let pending = paused(&events).pending.clone();
    let required = pending[0].confirmation_required.clone().unwrap();
    assert_eq!(pending[0].tool, "debug_confirm");
    assert!(
        paused(&person.runs(&root.task).await.unwrap()).pending.is_empty(),
        "asked for by an earlier run"
    );
    let message = DecideConfirmationRequest {
        confirmation_id: required.confirmation_id,
        decision: Some(Decision::Approve(Approve { tool: "debug_confirm".to_owned(), ..Default::default() })),
        ..Default::default()
    };
    person.confirmations.clone().decide_confirmation(person.request(message)).await.unwrap();
    let events = person.runs(&root.task).await.unwrap();
    assert_eq!(reply(&events).outcome(), TurnOutcome::Answered, "{events:?}");
    let written = events.iter().filter(|it| matches!(it.event, Some(Event::ToolCallStarted(_)))).count();
    assert_eq!(written, 1, "the call that was approved, and no other");
    assert_eq!(model.requests().len(), 2);
}

/// Sensitive arguments are in no timeline: the next run has none to make the call with.
#[tokio::test]
async fn an_approved_call_with_a_sensitive_argument_is_not_made_with_another() {
    let model = Scripted::by(|request, _| match seen(request) {
        (0, _) => calls([call("add_to_watchlist", json!({"symbol": "TCS", "note": "s3cret"}))]),
        _ => text("Done."),
    });
    let data = data_directory();
    let path = data.path().join("tools/add_to_watchlist.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    manifest["parameters"]["note"]["sensitive"] = json!(true);
    let parameters = manifest["parameters"].take();
    patch_json(&path, &json!({"parameters": parameters, "requires_confirmation": true}));
    let mut config = config();
    config.data.dir = Some(data.path().to_owned());
    let house = House::with(Some(&model), config);
    let person = person(&house.server, "riley").await;
    let root = person.create("Do it").await;
    let events = person.runs(&root.task).await.unwrap();
    let required = paused(&events).pending[0].confirmation_required.clone().unwrap();
    let message = DecideConfirmationRequest {
        confirmation_id: required.confirmation_id,
        decision: Some(Decision::Approve(Approve {
            tool: "add_to_watchlist".to_owned(),
            ..Default::default()
        })),
        ..Default::default()
    };
    person.confirmations.clone().decide_confirmation(person.request(message)).await.unwrap();
    let events = person.runs(&root.task).await.unwrap();
    assert_eq!(reply(&events).outcome(), TurnOutcome::ModelFailed, "{events:?}");
    let why = &reply(&events).warnings[0];
    assert!(why.contains(&required.request_id) && why.contains("CancelCall"), "{why}");
    let call = Some(cancel_call_request::Call::RequestId(required.request_id));
    let cancel = person.request(CancelCallRequest { call });
    assert!(person.tools.clone().cancel_call(cancel).await.unwrap().into_inner().cancelled);
    let events = person.runs(&root.task).await.unwrap();
    assert_eq!(reply(&events).response.as_ref().unwrap().answer_markdown, "Done.");
    assert_eq!(root.state().await, TaskState::Completed);
}

#[tokio::test]
async fn a_model_that_fails_or_calls_nonsense_leaves_the_task_to_the_next_run() {
    let model = Scripted::by(|_, turn| match turn {
        0 => vec![Err(ModelError::Unavailable)],
        1 | 2 => calls([call("no_such_tool", json!("not an object"))]),
        _ => text("Done."),
    });
    let house = House::new(Some(&model));
    let person = person(&house.server, "riley").await;
    let root = person.create("Do it").await;
    let events = person.runs(&root.task).await.unwrap();
    assert_eq!(reply(&events).outcome(), TurnOutcome::ModelFailed);
    assert_eq!(reply(&events).warnings, ["the model cannot be reached now"]);
    let events = person.runs(&root.task).await.unwrap();
    assert_eq!(reply(&events).outcome(), TurnOutcome::ModelFailed, "{events:?}");
    assert_eq!(root.state().await, TaskState::Running);
    let events = person.runs(&root.task).await.unwrap();
    assert_eq!(reply(&events).response.as_ref().unwrap().answer_markdown, "Done.");
    assert_eq!(root.state().await, TaskState::Completed);
}

#[tokio::test]
async fn without_a_model_it_is_refused_and_so_is_the_task_of_another() {
    let house = House::new(None);
    let riley = person(&house.server, "riley").await;
    let root = riley.create("Do it").await;
    let words = assert_refused(riley.runs(&root.task).await, Code::FailedPrecondition, "NO_MODEL");
    assert!(words.contains("agent.model"), "{words}");
    let model = Scripted::saying([]);
    let house = House::new(Some(&model));
    let (riley, sam) = (person(&house.server, "riley").await, person(&house.server, "sam").await);
    let root = riley.create("Do it").await;
    assert_refused(sam.runs(&root.task).await, Code::NotFound, "UNKNOWN_TASK");
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn another_workers_task_is_left_to_it() {
    let model = Scripted::by(|_, _| text("Done."));
    let house = House::new(Some(&model));
    let person = person(&house.server, "riley").await;
    let message = CreateTaskRequest {
        request: "Do it".to_owned(),
        role: "analyst".to_owned(),
        request_id: new_id(),
        ..Default::default()
    };
    person.tasks.clone().create_task(person.request(message)).await.unwrap();
    let worker = person.leases("analyst").await.unwrap();
    let events = person.runs(&worker.task).await.unwrap();
    assert_eq!(paused(&events).tasks[0].waits_for, ["another worker"]);
    assert!(model.requests().is_empty());
}
