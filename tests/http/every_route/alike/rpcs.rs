//! Every RPC that is served, with each name that its request may have. The requests are made of the descriptors: a new
//! RPC is called, too, and a new field fails until the table here has what stands in it.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use http::HeaderName;
use prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, MethodDescriptor,
};
use serde_json::{Map, Value, json};
use tonic::Code;
use tonic_types::StatusExt;

use super::{
    super::{
        cases::Case,
        world::{Names, Planted},
    },
    callers::{Caller, Callers},
    compare::Findings,
};
use crate::support::{descriptors, raw::RawEnd};

/// A member of a request's JSON.
type Member = (String, Value);

/// Those that ask for no user: their answers are the same for everybody.
const PUBLIC: [&str; 4] = [
    "grpc.health.v1.Health/Check",
    "grpc.health.v1.Health/Watch",
    "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];
/// That of hosts of functions, which no user may ask.
const OF_HOSTS: &str = "toolwire.host.v1.ToolHostService/Work";

/// A user that does not exist.
const NO_USER: &str = "corp:nothing";

/// How a watch ended by its deadline.
const PASSED: &str = "its deadline has passed\n";

/// What stands in a field.
enum Filled {
    /// In every request.
    With(Value),
    /// In a request that differs in it alone: it narrows or goes on with a list, and the rest is asked without it, too.
    Alone(Value),
    /// In none: it names nothing.
    Left,
}

/// What a request asks for.
struct Target<'a> {
    user: &'a str,
    planted: &'a Planted,
}

impl Target<'_> {
    /// What stands in a field that holds text, bytes, a number or a truth.
    fn fill(&self, field: &FieldDescriptor) -> Filled {
        use Filled::{Alone, Left, With};
        let Planted { names, call, confirmation, task, question, .. } = self.planted;
        let of = field.parent_message().name().to_owned();
        let is_filter = of.ends_with("Filter") || of == "ToolContext";
        let name = |text: &str| if is_filter { Alone(json!(text)) } else { With(json!(text)) };
        match (&*of, field.name()) {
            ("Approve", "tool") => return With(json!("debug_confirm")),
            ("AnswerQuestionRequest", "task_id") => return With(json!(question)),
            ("StartDiscoveryRequest", "request_id") => return With(json!(names.job)),
            ("TurnInput", "request_id") | ("Resume", "turn_id") => return With(json!(names.paused)),
            ("InitialDocument", "path") => return With(json!("copy.txt")),
            ("ListRefusalsRequest", "user_id") => return Alone(json!(self.user)),
            ("GetLimitsRequest", "source") | ("ExportToolsRequest", "format") => return Left,
            _ => {}
        }
        match field.name() {
            "task_id" | "root_id" => name(task),
            "call_id" | "parent_call_id" => name(call),
            "confirmation_id" => name(confirmation),
            "turn_id" => name(&names.turn),
            "session_id" => name(&names.session),
            "job_id" => name(&names.job),
            "request_id" | "tool_call_id" => name(&names.request),
            "user_id" | "created_by" | "updated_by" | "user_email" | "on_behalf_of" => {
                Alone(json!(self.user))
            }
            "copy_of" => With(json!(format!("{task}/notes.txt"))),
            "path" | "path_prefix" => name("notes.txt"),
            "query" => With(json!(self.planted.content[0])),
            "message" => With(json!("What is AMD trading at?")),
            "tool" => With(json!("debug_write")),
            "intent" => With(json!("quotes")),
            "name" => With(json!("get_quotes")),
            "arguments_json" => With(json!(r#"{"value":"mine"}"#)),
            "holder" | "reason" | "text" | "answer" | "failed" | "request" | "etag" | "why" | "username"
            | "password" => With(json!("mine")),
            "role" | "roles" => name("analyst"),
            "documents" => With(json!("notes.txt")),
            "token" | "lease_token" | "sequence" | "max_candidates" => With(json!(1)),
            "not_done" => With(json!(true)),
            "chunk" => With(json!("bWluZQ==")),
            // These narrow by what is no name, or say in which form or size something is.
            "account" | "tags" | "tools" | "page_token" | "reasons" | "expected_digest" | "digest"
            | "mime_type" | "description" | "media_types" | "provider" | "profile" | "sources"
            | "screen_id" | "user_role" | "etags" | "data" | "after_position" => Left,
            other if field.kind() == Kind::String || field.kind() == Kind::Bytes => {
                panic!("say what stands in {of}.{other}: whose names may it hold?")
            }
            _ => Left,
        }
    }

    /// The requests of an RPC, as JSON.
    fn requests(&self, message: &MessageDescriptor) -> Vec<Map<String, Value>> {
        let (mut all, mut alone) = (vec![Map::new()], Vec::new());
        for oneof in message.oneofs().filter(|oneof| !oneof.is_synthetic()) {
            let ways: Vec<_> = oneof.fields().flat_map(|field| self.values(&field).0).collect();
            all = all.iter().flat_map(|base| ways.iter().map(|way| with(base, way))).collect();
        }
        for field in message.fields().filter(|field| real_oneof(field).is_none()) {
            let (ways, only) = self.values(&field);
            alone.extend(only);
            if !ways.is_empty() {
                all = all.iter().flat_map(|base| ways.iter().map(|way| with(base, way))).collect();
            }
        }
        let narrowed: Vec<_> = alone.iter().map(|way| with(&all[0], way)).collect();
        all.into_iter().chain(narrowed).collect()
    }

    /// What stands in a field of each request, and in requests of its own.
    fn values(&self, field: &FieldDescriptor) -> (Vec<Member>, Vec<Member>) {
        let whole = |value: Value| {
            (field.json_name().to_owned(), if field.is_list() { json!([value]) } else { value })
        };
        match field.kind() {
            _ if field.is_map() => (vec![], vec![]),
            Kind::Message(message) => match message.full_name() {
                "google.protobuf.Struct" if field.name() == "arguments" => {
                    (vec![whole(json!({"value": "mine"}))], vec![])
                }
                "google.protobuf.Struct" => (vec![whole(json!({}))], vec![]),
                full if full.starts_with("google.protobuf.") => (vec![], vec![]),
                _ => {
                    let mut all = self.requests(&message).into_iter().map(|it| whole(Value::Object(it)));
                    let is_filter = message.name().ends_with("Filter") || message.name() == "ToolContext";
                    if is_filter { (vec![], all.skip(1).collect()) } else { (all.by_ref().collect(), vec![]) }
                }
            },
            Kind::Enum(_) => (vec![], vec![]),
            _ => match self.fill(field) {
                Filled::With(value) => (vec![whole(value)], vec![]),
                Filled::Alone(value) => (vec![], vec![whole(value)]),
                Filled::Left => (vec![], vec![]),
            },
        }
    }
}

fn real_oneof(field: &FieldDescriptor) -> Option<prost_reflect::OneofDescriptor> {
    field.containing_oneof().filter(|oneof| !oneof.is_synthetic())
}

fn with(base: &Map<String, Value>, (name, value): &Member) -> Map<String, Value> {
    let mut base = base.clone();
    base.insert(name.clone(), value.clone());
    base
}

/// What an RPC answers, whole, with the words of its status and its details.
fn told(method: &MethodDescriptor, end: Result<RawEnd, h2::Error>) -> String {
    let end = match end {
        Ok(end) => end,
        // What a watch has not sent by its deadline is discarded.
        Err(reset) if is_watch(method) && reset.reason() == Some(h2::Reason::CANCEL) => {
            return PASSED.to_owned();
        }
        Err(error) => panic!("{}: {error}", full_name(method)),
    };
    let status = end.grpc_status();
    let messages = end.messages.iter().map(|bytes| {
        let message = DynamicMessage::decode(method.output(), bytes.clone()).unwrap();
        serde_json::to_string(&message).unwrap() + &encoded_definitions(&message)
    });
    if is_watch(method) && status.code() == Code::DeadlineExceeded {
        // On a busy machine it has not said by then that it is up to date.
        return messages.filter(|it| !it.contains("_SYNCED\"")).fold(PASSED.to_owned(), |all, it| all + &it);
    }
    let messages: Vec<_> = messages.collect();
    let names: BTreeSet<_> = end.headers.keys().chain(end.trailers.keys()).map(HeaderName::as_str).collect();
    let details = status.get_error_details();
    format!("{:?} {} {details:?} {names:?}\n{}", status.code(), status.message(), messages.join("\n"))
}

/// Whether it has no end of its own.
fn is_watch(method: &MethodDescriptor) -> bool {
    method.name().starts_with("Watch")
}

/// The texts of fields that hold encoded messages.
fn encoded_definitions(message: &DynamicMessage) -> String {
    let bytes = message.fields().filter_map(|(_, value)| value.as_bytes().cloned());
    bytes.map(|it| String::from_utf8_lossy(&it).into_owned()).collect()
}

/// The methods that are served to users, in order.
fn methods(callers: &Callers) -> Vec<MethodDescriptor> {
    let pool: DescriptorPool = descriptors();
    let mut served = callers.house.server.app.methods();
    served.sort();
    served.retain(|name| !PUBLIC.contains(&&**name) && name != OF_HOSTS);
    let find = |name: &String| {
        let (service, method) = name.split_once('/').unwrap();
        let service = pool.get_service_by_name(service).unwrap();
        service.methods().find(|it| it.name() == method).unwrap()
    };
    served.iter().map(find).collect()
}

fn full_name(method: &MethodDescriptor) -> String {
    format!("{}/{}", method.parent_service().full_name(), method.name())
}

/// The tool that a method carries out, if it is one of a tool, and arguments.
fn typed_call(callers: &Callers, method: &str) -> Option<(String, Map<String, Value>)> {
    let snapshot = callers.house.server.app.registry.snapshot();
    let tool = snapshot.tools().find(|tool| tool.definition.typed_method() == Some(method))?;
    let arguments = tool.definition.examples.first().map(|it| it.arguments.clone());
    Some((tool.definition.name.to_string(), arguments.unwrap_or_default()))
}

/// A text without these ids, of which one may be a part of another.
fn without_ids(text: &str, mut ids: [&str; 3]) -> String {
    ids.sort_by_key(|id| std::cmp::Reverse(id.len()));
    ids.into_iter().fold(text.to_owned(), |text, id| text.replace(id, "<user>"))
}

/// What a caller asks by the names of what another one has, or without them.
async fn ask(callers: &Callers, caller: &Caller, planted: &[Planted], is_named: bool, findings: &Findings) {
    let others: Vec<_> = callers.all.iter().collect();
    // The same names for all methods, as those of the owner are: a repeat is answered as one.
    let nothings: Vec<_> = others.iter().map(|_| Planted::nothing()).collect();
    for method in methods(callers) {
        let name = full_name(&method);
        let timeout = if is_watch(&method) { "200m" } else { "20S" };
        let call = async |request: &Map<String, Value>, named: &str| {
            let json = Value::Object(request.clone());
            let message = DynamicMessage::deserialize(method.input(), json);
            let message = message.unwrap_or_else(|error| panic!("{name}: {error}: {request:?}"));
            let end = caller.call(&name, timeout, &message, named).await;
            // A user has one job at a time.
            if let Some(job) = request.get("requestId").filter(|_| method.name() == "StartDiscovery") {
                let status = format!("/api/jobs/{}/status", job.as_str().unwrap());
                caller.send(&Case::of("GET", &status), caller.id).await;
            }
            told(&method, end)
        };
        if let Some((tool, arguments)) = typed_call(callers, &name) {
            if !is_named {
                continue;
            }
            let answer = call(&arguments, caller.id).await;
            let known = format!("{name} {tool}");
            findings.tells_of_other(caller, planted, &others, &known, &answer);
            continue;
        }
        for ((other, owned), nothing) in others.iter().zip(planted).zip(&nothings) {
            if other.id == caller.id {
                continue;
            }
            let named = Target { user: other.id, planted: owned }.requests(&method.input());
            let unknown = Target { user: NO_USER, planted: nothing }.requests(&method.input());
            for (request, to_nothing) in named.iter().zip(&unknown) {
                let said = format!("{name} {}", json!(request));
                let others_names: Vec<_> =
                    owned.ids().into_iter().chain(owned.names.all()).chain([other.id]).collect();
                if others_names.iter().any(|name| said.contains(name)) != is_named {
                    continue;
                }
                let answer = call(request, other.id).await;
                // The caller has used these names before: answers hold what it has made by them.
                let known = if is_named { format!("{said} {others_names:?}") } else { said.clone() };
                findings.tells_of_other(caller, planted, &others, &known, &answer);
                if is_named {
                    let to_nothing = call(to_nothing, other.id).await;
                    let ids = [caller.id, other.id, NO_USER];
                    let (answer, to_nothing) = (without_ids(&answer, ids), without_ids(&to_nothing, ids));
                    findings.differ(&said, (&answer, owned), (&to_nothing, nothing));
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_rpc_tells_one_of_another() {
    let callers = Callers::start().await;
    let planted = callers.plant(Names::new).await;
    let findings = Findings::default();
    // What names nothing comes first: later the caller has used the names itself.
    for is_named in [false, true] {
        let asking = callers.all.iter().map(|caller| ask(&callers, caller, &planted, is_named, &findings));
        join_all(asking).await;
    }
    findings.assert_none();
}
