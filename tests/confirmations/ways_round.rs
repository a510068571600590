//! No RPC and no way in executes a tool that requires confirmation without one.
//!
//! Every tool of every domain is made to require one. Then everything that a caller can send is sent.

use std::{collections::BTreeSet, fs, sync::Arc};

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage};
use toolwire::{
    contract::{arguments::Arguments, descriptors},
    domains,
    engine::registry::{RegisteredTool, Status as ToolStatus, ToolType},
    state::{
        confirmations::Admission,
        idempotency::{About, Beginning, Begun, Effect, Quota},
    },
};

use super::*;
use crate::support::raw::Raw;

/// The RPCs that carry a tool out, beside those that are a tool's own.
const CALLS: [&str; 3] = [
    "toolwire.tasks.v1.TaskService/HandleToolCall",
    "toolwire.v1.ToolService/CallTool",
    "toolwire.v1.ToolService/InvokeTool",
];

/// The RPCs that carry out what a planner or a workflow wants: `tests/agent` has them. A workflow asks nobody.
const BY_AGENT: [&str; 4] = [
    "toolwire.agent.v1.AgentService/Chat",
    "toolwire.agent.v1.AgentService/ChatStream",
    "toolwire.agent.v1.AgentService/RunTask",
    "toolwire.research.v1.DiscoveryService/StartDiscovery",
];

/// The RPCs that carry no tool out. A new one must be looked at and added here, or below the calls.
const NO_CALLS: [&str; 59] = [
    "grpc.health.v1.Health/Check",
    "grpc.health.v1.Health/Watch",
    "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    "toolwire.agent.v1.AgentService/CancelTurn",
    "toolwire.agent.v1.AgentService/GetTurn",
    "toolwire.agent.v1.AgentService/ListTurns",
    "toolwire.agent.v1.JobService/CancelJob",
    "toolwire.agent.v1.JobService/GetJob",
    "toolwire.agent.v1.JobService/ListJobs",
    "toolwire.agent.v1.JobService/WatchJob",
    "toolwire.research.v1.ResearchService/ForgetScreenerCredentials",
    "toolwire.research.v1.ResearchService/SetScreenerCredentials",
    "toolwire.host.v1.ToolHostService/Work",
    "toolwire.tasks.v1.TaskService/AnswerQuestion",
    "toolwire.tasks.v1.TaskService/AppendMessage",
    "toolwire.tasks.v1.TaskService/CancelTask",
    "toolwire.tasks.v1.TaskService/CreateTask",
    "toolwire.tasks.v1.TaskService/DeleteTask",
    "toolwire.tasks.v1.TaskService/EndTask",
    "toolwire.tasks.v1.TaskService/GetEntry",
    "toolwire.tasks.v1.TaskService/GetTask",
    "toolwire.tasks.v1.TaskService/LeaseTask",
    "toolwire.tasks.v1.TaskService/ListTasks",
    "toolwire.tasks.v1.TaskService/ListTimeline",
    "toolwire.tasks.v1.TaskService/ReleaseTask",
    "toolwire.tasks.v1.TaskService/RenderForModel",
    "toolwire.tasks.v1.TaskService/ResolveUnknown",
    "toolwire.tasks.v1.TaskService/WatchTasks",
    "toolwire.tasks.v1.TaskService/WatchTimeline",
    "toolwire.v1.AuditService/ListRecords",
    "toolwire.v1.AuditService/ListRefusals",
    "toolwire.v1.ConfirmationService/DecideConfirmation",
    "toolwire.v1.ConfirmationService/GetConfirmation",
    "toolwire.v1.ConfirmationService/ListConfirmations",
    "toolwire.v1.ConfirmationService/WatchConfirmations",
    "toolwire.v1.ProviderService/WatchProviders",
    "toolwire.v1.ToolService/CancelCall",
    "toolwire.v1.ToolService/DescribeForPlanner",
    "toolwire.v1.ToolService/ExplainCall",
    "toolwire.v1.ToolService/ExportTools",
    "toolwire.v1.ToolService/GetCall",
    "toolwire.v1.ToolService/GetLimits",
    "toolwire.v1.ToolService/GetStats",
    "toolwire.v1.ToolService/GetTool",
    "toolwire.v1.ToolService/GetViewer",
    "toolwire.v1.ToolService/ListCalls",
    "toolwire.v1.ToolService/ListProviders",
    "toolwire.v1.ToolService/ListQuotas",
    "toolwire.v1.ToolService/ListTools",
    "toolwire.v1.ToolService/WatchCalls",
    "toolwire.v1.ToolService/WatchTools",
    "toolwire.workspace.v1.WorkspaceService/DeleteDocument",
    "toolwire.workspace.v1.WorkspaceService/GetDocument",
    "toolwire.workspace.v1.WorkspaceService/ListDocuments",
    "toolwire.workspace.v1.WorkspaceService/ListVersions",
    "toolwire.workspace.v1.WorkspaceService/PutDocument",
    "toolwire.workspace.v1.WorkspaceService/SearchDocuments",
    "toolwire.workspace.v1.WorkspaceService/UpdateMetadata",
];

/// A server all of whose tools require confirmation, but for those about the server, of which `debug_confirm` does.
pub(super) fn strict() -> House {
    let data = data_directory();
    let manifests = fs::read_dir(data.path().join("tools")).unwrap();
    for manifest in manifests {
        let changes = json!({"requires_confirmation": true, "idempotent": true, "cache": Value::Null});
        let path = manifest.unwrap().path();
        patch_json(&path, &changes);
        let mut manifest: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        manifest.as_object_mut().unwrap().shift_remove("cache");
        save(&path, &manifest.to_string());
    }
    let house = House::with(|config| config.data.dir = Some(data.path().to_owned()));
    House { data, ..house }
}

fn pool() -> DescriptorPool {
    let sets = domains::bundled().into_iter().map(|domain| (domain.name, domain.descriptors));
    descriptors::pool(sets).unwrap()
}

/// The RPCs of tools, with their tools.
fn typed_rpcs(house: &House) -> Vec<(String, String, Arguments)> {
    let snapshot = house.server.app.registry.snapshot();
    snapshot
        .tools()
        .filter_map(|tool| {
            let method = tool.definition.typed_method()?.to_owned();
            Some((method, tool.definition.name.to_string(), example(&tool.definition)))
        })
        .collect()
}

pub(super) fn example(definition: &toolwire::engine::registry::Definition) -> Arguments {
    definition.examples.first().map(|example| example.arguments.clone()).unwrap_or_default()
}

#[tokio::test]
async fn every_rpc_is_known_to_carry_a_tool_out_or_not() {
    let house = strict();
    let typed: BTreeSet<_> = typed_rpcs(&house).into_iter().map(|(method, ..)| method).collect();
    let expected: BTreeSet<_> =
        CALLS.into_iter().chain(BY_AGENT).chain(NO_CALLS).map(ToOwned::to_owned).chain(typed).collect();
    let served: BTreeSet<_> = house.server.app.methods().into_iter().collect();
    assert_eq!(served, expected, "look at what is new: does it carry a tool out?");
}

#[tokio::test]
async fn no_call_of_any_tool_by_any_rpc_is_carried_out_without_a_confirmation() {
    let house = strict();
    let riley = house.person("riley").await;
    let snapshot = house.server.app.registry.snapshot();
    // Those that only a task has use for are refused here; `tests/tasks` has them.
    let needs = |tool: &&Arc<RegisteredTool>| {
        let definition = &tool.definition;
        let is_callable = matches!(definition.kind, ToolType::Function | ToolType::NonFunction);
        definition.requires_confirmation && definition.status == ToolStatus::Ready && is_callable
    };
    let all = snapshot.tools().filter(needs);
    let all: Vec<_> = all.collect();
    assert!(all.len() > 25, "{}", all.len());
    for tool in &all {
        let (name, arguments) = (tool.definition.name.as_str(), Value::Object(example(&tool.definition)));
        let id = Some(RequestId::generate());
        let mut ways = vec![call(name, &arguments, id)];
        // Nothing in a request asks for less.
        ways.push(CallToolRequest { require_confirmation: false, ..call(name, &arguments, id) });
        ways.push(CallToolRequest {
            expected_digest: tool.definition.digest.to_string(),
            ..call(name, &arguments, id)
        });
        if tool.definition.category == toolwire::engine::registry::Category::Read {
            ways.push(call(name, &arguments, None));
        }
        for intent in &tool.definition.intents {
            let target = Some(call_tool_request::Target::Intent(intent.clone()));
            ways.push(CallToolRequest { target, ..call(name, &arguments, Some(RequestId::generate())) });
        }
        for way in ways {
            let required = confirmation(riley.call(way.clone()).await);
            assert_eq!(required.tool, name);
            let CallToolRequest { request_id, context, .. } = way;
            let streamed = InvokeToolRequest {
                target: Some(invoke_tool_request::Target::Tool(name.to_owned())),
                input: Some(invoke_tool_request::Input::ArgumentsJson(arguments.to_string())),
                request_id,
                context,
                ..InvokeToolRequest::default()
            };
            let events = riley.events(streamed).await;
            assert!(matches!(events[..], [Event::ConfirmationRequired(_)]), "{name}: {events:?}");
        }
        // What waits is denied, so that the user's share is not used up.
        for open in open(&riley).await {
            riley.deny(&open).await.unwrap();
        }
    }
}

pub(super) async fn open(person: &Person) -> Vec<String> {
    use toolwire::contract::proto::v1::{ConfirmationFilter, ListConfirmationsRequest};
    let states = vec![ConfirmationState::Pending.into(), ConfirmationState::Approved.into()];
    let filter = Some(ConfirmationFilter { states, ..Default::default() });
    let message = ListConfirmationsRequest { filter, page_size: 200, ..Default::default() };
    let page = person.confirmations.clone().list_confirmations(person.request(message)).await.unwrap();
    page.into_inner().confirmations.into_iter().map(|it| it.confirmation_id).collect()
}

#[tokio::test]
async fn no_typed_rpc_carries_its_tool_out_without_a_confirmation() {
    let house = strict();
    let riley = house.person("riley").await;
    let (raw, pool) = (Raw::connect(house.server.address).await, pool());
    let all = typed_rpcs(&house);
    assert!(all.len() > 20, "{}", all.len());
    for (method, tool, arguments) in all {
        let (service, name) = method.split_once('/').unwrap();
        let input = pool
            .get_service_by_name(service)
            .unwrap()
            .methods()
            .find(|it| it.name() == name)
            .unwrap()
            .input();
        let message = DynamicMessage::deserialize(input, Value::Object(arguments)).unwrap();
        let id = RequestId::generate().to_string();
        let headers = [("x-toolwire-user", "riley"), ("x-toolwire-request-id", id.as_str())];
        let end = raw.call(&format!("/{method}"), &headers, &message).await;
        let status = end.grpc_status();
        assert_eq!(status.code(), Code::FailedPrecondition, "{tool}: {status:?}");
        assert_eq!(status.get_details_error_info().unwrap().reason, "CONFIRMATION_REQUIRED", "{tool}");
        let required = detail(&status);
        assert_eq!((required.tool.as_str(), required.request_id.as_str()), (tool.as_str(), id.as_str()));
        riley.deny(&required.confirmation_id).await.unwrap();
    }
}

/// What a typed RPC says of the confirmation, beside the reason.
fn detail(status: &Status) -> ConfirmationRequired {
    let details = tonic_types::pb::Status::decode(status.details()).unwrap().details;
    let name = "type.googleapis.com/toolwire.v1.ConfirmationRequired";
    let any = details.iter().find(|any| any.type_url == name).expect("the confirmation");
    ConfirmationRequired::decode(&*any.value).unwrap()
}

#[tokio::test]
async fn a_typed_call_goes_on_when_it_is_approved_and_can_wait() {
    use toolwire::domains::research::proto::v1::{
        AddToWatchlistRequest, research_service_client::ResearchServiceClient,
    };
    let house = strict();
    let riley = house.person("riley").await;
    let id = RequestId::generate().to_string();
    let mut client = ResearchServiceClient::new(house.server.channel().await);
    let mut add = async |waits: bool| {
        let message = AddToWatchlistRequest { symbol: Some("TCS".to_owned()), note: None };
        let mut request = riley.request(message);
        request.metadata_mut().insert("x-toolwire-request-id", id.parse().unwrap());
        if waits {
            request.metadata_mut().insert("x-toolwire-wait-for-confirmation", "50ms".parse().unwrap());
        }
        client.add_to_watchlist(request).await
    };
    let required = detail(&add(true).await.unwrap_err());
    assert_eq!(required.arguments_json, r#"{"symbol":"TCS"}"#);
    riley.approve(&required.confirmation_id).await.unwrap();
    assert_eq!(add(false).await.unwrap().into_inner().data.unwrap().items_count, 1);
}

/// What a tool calls is asked for, however deep; a tool that executes nothing is asked for too.
#[tokio::test]
async fn what_is_called_by_a_tool_is_asked_for_as_well() {
    let house = House::open();
    let riley = house.person("riley").await;
    for name in ["get_positions", "get_quotes", "get_activity"] {
        house.patch(name, &json!({"requires_confirmation": true}));
    }
    // Made without an identifier: the server gives it one, by which what was approved and done is found again.
    let composite = |id| CallToolRequest {
        request_id: id,
        ..call("get_symbol_performance", &json!({"symbol": "AMD"}), None)
    };
    let (mut approved, mut id) = (Vec::new(), String::new());
    loop {
        match riley.call(composite(id.clone())).await.unwrap() {
            Came::Required(it) => {
                assert_eq!(it.path, ["get_symbol_performance", it.tool.as_str()]);
                assert!(id.is_empty() || it.request_id == id, "one identifier for the whole call");
                riley.approve(&it.confirmation_id).await.unwrap();
                id = it.request_id;
                approved.push(it.tool);
            }
            Came::Data(data) => break assert!(data.is_object()),
            Came::Error(code, message) => panic!("{code:?}: {message}"),
        }
    }
    approved.sort();
    assert_eq!(approved, ["get_activity", "get_positions", "get_quotes"], "each once");
}

/// Arguments, attributes and metadata that speak of approval are not a decision.
#[tokio::test]
async fn nothing_that_a_caller_says_is_a_decision() {
    use toolwire::contract::proto::v1::ToolContext;
    let house = House::open();
    let riley = house.person("riley").await;
    let claims = [("confirmed", "true"), ("approved", "riley"), ("confirmation_id", "conf_0"), ("yes", "y")];
    let attributes = claims.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let context = Some(ToolContext { attributes, ..ToolContext::default() });
    let message = CallToolRequest { context, ..debug_confirm(RequestId::generate(), "confirmed") };
    let mut request = riley.request(message);
    for key in ["x-toolwire-confirmed", "x-toolwire-confirmation-id", "x-toolwire-approve"] {
        request.metadata_mut().insert(key, "true".parse().unwrap());
    }
    let answer = riley.tools.clone().call_tool(request).await.unwrap().into_inner().outcome;
    assert!(matches!(answer, Some(call_tool_response::Outcome::ConfirmationRequired(_))), "{answer:?}");
    for (key, value) in claims {
        let arguments = json!({"value": "x", (key): value});
        let (code, _) =
            error(riley.call(call("debug_confirm", &arguments, Some(RequestId::generate()))).await);
        assert_eq!(code, ToolErrorCode::InvalidArgument);
    }
}

/// A read is carried out without a record where there is no room for one; not one that a person must approve.
#[tokio::test]
async fn a_read_that_cannot_be_recorded_is_not_carried_out_without_a_confirmation() {
    let house = House::with(|config| config.state.request_ids = Quota { of_user: 1, of_all: u64::MAX });
    let riley = house.person("riley").await;
    let write = call("debug_write", &json!({"value": "x"}), Some(RequestId::generate()));
    assert!(data(riley.call(write).await).is_object());
    let read = call("get_quotes", &json!({"symbol": "AMD"}), None);
    assert!(data(riley.call(read.clone()).await).is_object());
    let asks = CallToolRequest { require_confirmation: true, ..read };
    assert_refused(riley.call(asks).await, Code::ResourceExhausted, "TOO_MANY_REQUEST_IDS");
}

/// Another process used the approval and died: nobody knows what it did, and nothing is carried out again.
#[tokio::test]
async fn an_approval_that_another_process_used_is_used_up() {
    use std::time::Duration;
    let house = House::open();
    let riley = house.person("riley").await;
    let read = CallToolRequest {
        require_confirmation: true,
        ..call("get_quotes", &json!({"symbol": "AMD"}), Some(RequestId::generate()))
    };
    let write = debug_confirm(RequestId::generate(), "x");
    for (message, effect) in [(read, Effect::Read), (write, Effect::Write)] {
        let asked = confirmation(riley.call(message.clone()).await);
        riley.approve(&asked.confirmation_id).await.unwrap();
        let state = &house.server.app.state;
        let it = state.confirmation(&asked.confirmation_id.parse().unwrap()).await.unwrap().unwrap();
        let about = About::of(it.asked.outermost.call_id, it.asked.definition_digest);
        let begins = Beginning { key: &it.key, effect, digest: it.arguments_digest, about: &about };
        let opened = state.begin_confirmed(begins, &it.asked, Duration::from_mins(1)).await;
        assert!(matches!(opened, Admission::Begun(Begun::New)), "{opened:?}");
        assert_eq!(error(riley.call(message).await).0, ToolErrorCode::OutcomeUnknown);
    }
}
