//! The calls of another user that an approver sees: those of tools to decide on, in lists alone.

use tonic::Streaming;
use toolwire::{
    contract::proto::v1::{
        CallFilter, CallRecord, CallWatchType, GetCallRequest, InvokeToolResponse, ListCallsRequest,
        ListCallsResponse, WatchCallsRequest, get_call_request,
    },
    domains,
    server::app::App,
};

use super::*;
use crate::{http::talk::Talk, support::server::config_with_http};

/// The tools of riley's calls below that alex may approve, and those that alex may not.
const DECIDED_ON: [&str; 4] = ["debug_confirm", "debug_sleep", "debug_sleep", "debug_write"];
const OTHERS: [&str; 2] = ["get_quotes", "remove_from_watchlist"];

async fn page(person: &Person, filter: CallFilter, size: i32, token: &str) -> ListCallsResponse {
    let message = ListCallsRequest { filter: Some(filter), page_size: size, page_token: token.to_owned() };
    person.tools.clone().list_calls(person.request(message)).await.unwrap().into_inner()
}

fn calls_of(user: &str) -> CallFilter {
    CallFilter { user_id: user.to_owned(), ..CallFilter::default() }
}

/// The calls that a user lists, and how many pages of this size they take.
async fn list(person: &Person, filter: CallFilter, size: i32) -> (Vec<CallRecord>, usize) {
    let (mut calls, mut pages, mut token) = (Vec::new(), 0, String::new());
    loop {
        let answer = page(person, filter.clone(), size, &token).await;
        calls.extend(answer.calls);
        pages += 1;
        token = answer.next_page_token;
        if token.is_empty() {
            return (calls, pages);
        }
    }
}

fn tools_of(calls: &[CallRecord]) -> Vec<&str> {
    let mut tools: Vec<_> = calls.iter().map(|call| &*call.tool).collect();
    tools.sort_unstable();
    tools
}

/// Calls of every kind: of both kinds of tools, with a record and without, that wait, run and have ended.
async fn make_calls(riley: &Person) -> Streaming<InvokeToolResponse> {
    riley.call(call("get_quotes", &json!({"symbol": "AAPL"}), None)).await.unwrap();
    let id = Some(RequestId::generate());
    riley.call(call("remove_from_watchlist", &json!({"symbol": "TCS"}), id)).await.unwrap();
    data(riley.call(call("debug_sleep", &json!({"duration": "0s"}), None)).await);
    data(riley.call(call("debug_write", &json!({"value": "x"}), Some(RequestId::generate()))).await);
    riley.asks(RequestId::generate(), "a secret").await;
    let running = InvokeToolRequest {
        target: Some(invoke_tool_request::Target::Tool("debug_sleep".to_owned())),
        input: Some(invoke_tool_request::Input::ArgumentsJson(json!({"duration": "60s"}).to_string())),
        ..InvokeToolRequest::default()
    };
    let mut events = riley.tools.clone().invoke_tool(riley.request(running)).await.unwrap().into_inner();
    events.message().await.unwrap().expect("it is accepted");
    events
}

/// Asserts that a user sees no call of riley's but in lists of them.
async fn check_sees_nothing_else(person: &Person, calls: &[CallRecord]) {
    for everybody in ["*", ""] {
        assert_eq!(list(person, calls_of(everybody), 0).await.0, [], "{everybody:?}");
    }
    for call in calls {
        let id = get_call_request::Call::CallId(call.call_id.clone());
        let message = GetCallRequest { call: Some(id), ..GetCallRequest::default() };
        let got = person.tools.clone().get_call(person.request(message)).await;
        assert_refused(got, Code::NotFound, "UNKNOWN_CALL");
    }
    for user in ["riley", "*"] {
        let message = WatchCallsRequest { filter: Some(calls_of(user)), ..WatchCallsRequest::default() };
        let watch = person.tools.clone().watch_calls(person.request(message)).await;
        // The running call would be the first.
        let first = watch.unwrap().into_inner().message().await.unwrap().unwrap();
        assert_eq!(first.r#type(), CallWatchType::Synced, "{user}: {first:?}");
    }
}

#[tokio::test]
async fn an_approver_lists_the_calls_of_tools_to_decide_on_and_sees_nothing_else_of_them() {
    let house = House::with_users();
    let (riley, alex) = (house.person("riley").await, house.person("alex").await);
    let _running = make_calls(&riley).await;
    let (own, _) = list(&riley, calls_of(""), 0).await;
    assert_eq!(tools_of(&own), [&DECIDED_ON[..], &OTHERS].concat());
    assert!(own.iter().any(|call| call.result_kept));
    let expected: Vec<_> = own.iter().filter(|call| DECIDED_ON.contains(&&*call.tool)).collect();
    for size in [0, 1, 2, 4, 5] {
        let (seen, pages) = list(&alex, calls_of("riley"), size).await;
        let ids = |call: &CallRecord| (call.call_id.clone(), call.state());
        assert!(seen.iter().map(ids).eq(expected.iter().map(|call| ids(call))), "{size}: {seen:?}");
        assert!(seen.iter().all(|call| !call.result_kept), "an outcome that alex may not read: {seen:?}");
        // One page more would tell that there are other calls.
        let full = if size == 0 { 1 } else { expected.len().div_ceil(usize::try_from(size).unwrap()) };
        assert_eq!(pages, full, "pages of {size}");
    }
    for tool in OTHERS {
        let filter = CallFilter { tools: vec![tool.to_owned()], ..calls_of("riley") };
        assert_eq!(page(&alex, filter, 1, "").await, ListCallsResponse::default(), "{tool}");
    }
    let filter =
        CallFilter { tools: ["debug_write", "get_quotes"].map(str::to_owned).into(), ..calls_of("riley") };
    assert_eq!(tools_of(&list(&alex, filter, 0).await.0), ["debug_write"]);
    check_sees_nothing_else(&alex, &own).await;
    // With the right goes the list, also where it was begun.
    let token = page(&alex, calls_of("riley"), 1, "").await.next_page_token;
    assert!(!token.is_empty());
    let mut auth = users();
    auth.users.iter_mut().for_each(|user| user.approve = Vec::new());
    house.server.app.replace_auth(auth).unwrap();
    assert_eq!(page(&alex, calls_of("riley"), 1, &token).await, ListCallsResponse::default());
}

#[tokio::test]
async fn without_a_right_to_decide_a_user_sees_no_call_of_another_on_any_face() {
    let house = House::with(|config| {
        config.http = config_with_http().http;
        config.auth = users();
    });
    let (riley, sam, olga) =
        (house.person("riley").await, house.person("sam").await, house.person("olga").await);
    let _running = make_calls(&riley).await;
    let (all, _) = list(&olga, calls_of("riley"), 0).await;
    assert_eq!(all.len(), DECIDED_ON.len() + OTHERS.len());
    assert!(all.iter().any(|call| call.result_kept), "an observer sees that an outcome is kept");
    assert_eq!(page(&sam, calls_of("riley"), 1, "").await, ListCallsResponse::default());
    check_sees_nothing_else(&sam, &all).await;

    let talk = Talk::to(house.server.http.unwrap(), "sam");
    let asked = async |name: &str, path: &str| {
        let bearer = format!("Bearer {}", token(name));
        talk.send("GET", path, &[("authorization", &*bearer)], "").await
    };
    let none = json!({"calls": [], "next_page_token": ""});
    for query in ["", "?user_id=riley", "?user_id=*", "?user_id=riley&tools=debug_write&page_size=1"] {
        assert_eq!(asked("sam", &format!("/v1/calls{query}")).await.ok(), none, "{query}");
    }
    assert_eq!(asked("alex", "/v1/calls?user_id=*").await.ok(), none);
    let seen = asked("alex", "/v1/calls?user_id=riley").await.ok();
    assert_eq!(seen["calls"].as_array().unwrap().len(), DECIDED_ON.len(), "{seen}");
    assert!(!seen.to_string().contains("a secret"), "{seen}");
    for call in &all {
        for name in ["sam", "alex"] {
            let path = format!("/v1/calls/{}", call.call_id);
            assert_eq!(asked(name, &path).await.problem(), (404, "UNKNOWN_CALL".to_owned()));
        }
    }
    for name in ["sam", "alex"] {
        let bearer = format!("Bearer {}", token(name));
        let path = "/v1/calls:watch?user_id=riley";
        let mut watch = talk.open("GET", path, &[("authorization", &*bearer)], "").await;
        assert_eq!(watch.next().await.unwrap().name, "synced", "{name}");
    }
}

#[tokio::test]
async fn an_approver_lists_calls_of_another_replica_and_a_user_without_that_right_none() {
    let state = tempfile::tempdir().unwrap();
    let server = || {
        let mut config = config();
        config.auth = users();
        config.state.dir = Some(state.path().to_owned());
        let app = App::build(&config, &domains::bundled()).unwrap();
        let (server, data) = (Server::of(app, config), data_directory());
        House { server, data, needs_credentials: true }
    };
    let (here, there) = (server(), server());
    let riley = here.person("riley").await;
    let _running = make_calls(&riley).await;
    let (alex, sam) = (there.person("alex").await, there.person("sam").await);
    // A call without a `request_id` is known to its own replica alone.
    let (seen, pages) = list(&alex, calls_of("riley"), 1).await;
    assert_eq!((tools_of(&seen), pages), (vec!["debug_confirm", "debug_write"], 2), "{seen:?}");
    assert_eq!(page(&sam, calls_of("riley"), 1, "").await, ListCallsResponse::default());
    let (own, _) = list(&riley, calls_of(""), 0).await;
    check_sees_nothing_else(&alex, &own).await;
    check_sees_nothing_else(&sam, &own).await;
}

#[tokio::test]
async fn a_client_is_named_by_its_user_agent_in_the_confirmation_and_in_records_of_the_call() {
    let house = House::open();
    let riley = house.person("riley").await;
    for (agent, client) in [
        ("acme-desk/2.1 grpc-go/1.60", "acme-desk/2.1"),
        ("grpc-go/1.60", ""),
        (&*format!("{}/1", "a".repeat(100)), &*"a".repeat(64)),
    ] {
        let (id, value) = (RequestId::generate(), agent);
        let mut request = riley.request(debug_confirm(id, value));
        request.metadata_mut().insert("user-agent", agent.parse().unwrap());
        let asked = riley.tools.clone().call_tool(request).await.unwrap().into_inner();
        let Some(call_tool_response::Outcome::ConfirmationRequired(asked)) = asked.outcome else {
            panic!("{asked:?}")
        };
        let found = riley.get(&asked.confirmation_id).await.unwrap();
        assert_eq!((&*found.face, &*found.client), ("grpc", client), "{agent}");
        // The record, and what this process knows of a call without one.
        let mut read = riley.request(call("debug_sleep", &json!({"duration": "0s"}), None));
        read.metadata_mut().insert("user-agent", agent.parse().unwrap());
        riley.tools.clone().call_tool(read).await.unwrap();
        let calls = page(&riley, calls_of(""), 2, "").await.calls;
        assert!(calls.iter().all(|call| call.client == client), "{agent}: {calls:?}");
        riley.deny(&asked.confirmation_id).await.unwrap();
    }
}
