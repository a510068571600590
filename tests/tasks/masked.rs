//! Values that a manifest calls sensitive: a tool gets them, and they stand nowhere else: not in a timeline, a
//! confirmation, a render, an audit record, the log, or the state file.

use std::{fs, path::Path};

use toolwire::contract::proto::{
    tasks::v1::{ListTimelineRequest, RenderForModelRequest},
    v1::{
        DecideConfirmationRequest, Deny, ListRecordsRequest, audit_service_client::AuditServiceClient,
        decide_confirmation_request::Decision,
    },
};

use super::*;
use crate::support::{data_directory, patch_json, program::Program};

const SECRET: &str = "correct-horse-battery-staple";

#[tokio::test]
async fn what_is_sensitive_stands_nowhere() {
    let (data, state) = (data_directory(), tempfile::tempdir().unwrap());
    for (tool, parameter) in [("add_to_watchlist", "note"), ("stop_and_think", "thoughts")] {
        let path = data.path().join(format!("tools/{tool}.json"));
        let manifest: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let mut parameters = manifest["parameters"].clone();
        parameters[parameter]["sensitive"] = json!(true);
        let changes = json!({"parameters": parameters, "requires_confirmation": tool == "add_to_watchlist"});
        patch_json(&path, &changes);
    }
    let data_place = data.path().to_str().unwrap();
    let arguments = ["--data", data_place, "--state", state.path().to_str().unwrap()];
    let program = Program::start(Path::new("."), &arguments, &[("TOOLWIRE_LOG_ARGUMENTS", "true")]).await;
    let channel = program.channel().await;
    let person = Person {
        tasks: TaskServiceClient::new(channel.clone()),
        tools: ToolServiceClient::new(channel.clone()),
        confirmations: ConfirmationServiceClient::new(channel.clone()),
        channel: channel.clone(),
        name: "riley".to_owned(),
    };
    let root = person.create("Pay").await;
    let mut shown = Vec::new();
    root.handle("stop_and_think", &json!({"thoughts": SECRET})).await.unwrap();
    let message = root.message("add_to_watchlist", &json!({"symbol": "TCS", "note": SECRET}));
    let asked = root.send(message.clone()).await.unwrap();
    shown.push(format!("{asked:?}"));
    let id = blocked(&asked).confirmation_required.clone().unwrap().confirmation_id;
    let message = DecideConfirmationRequest {
        confirmation_id: id,
        decision: Some(Decision::Deny(Deny { reason: "no".to_owned() })),
        on_behalf_of: String::new(),
    };
    let denied = person.confirmations.clone().decide_confirmation(person.request(message)).await.unwrap();
    shown.push(format!("{denied:?}"));
    let message = ListTimelineRequest { task_id: root.task.clone(), ..Default::default() };
    let timeline = person.tasks.clone().list_timeline(person.request(message)).await.unwrap().into_inner();
    shown.push(format!("{timeline:?}"));
    assert_eq!(shown[2].matches("[redacted]").count(), 2, "{}", shown[2]);
    let message = RenderForModelRequest { task_id: root.task.clone(), ..Default::default() };
    let rendered = person.tasks.clone().render_for_model(person.request(message)).await.unwrap();
    shown.push(format!("{rendered:?}"));
    let mut audit = AuditServiceClient::new(channel);
    let records = audit.list_records(person.request(ListRecordsRequest::default())).await.unwrap();
    shown.push(format!("{records:?}"));
    shown.push(program.stop().await);
    assert!(shown[5].contains("stop_and_think"), "the log has the calls: {}", shown[5]);
    for text in &shown {
        assert!(!text.contains(SECRET), "{text}");
    }
    for file in fs::read_dir(state.path()).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            let has = bytes.windows(SECRET.len()).any(|it| it == SECRET.as_bytes());
            assert!(!has, "{} has it", path.display());
        }
    }
}
