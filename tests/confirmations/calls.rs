//! Looking at calls: those that run, those that ended, and what they came to.

use tonic::Streaming;
use toolwire::contract::proto::v1::{
    CallFilter, CallRecord, CallState, GetCallRequest, GetCallResponse, InvokeToolResponse, ListCallsRequest,
    ListCallsResponse, ResultFormat, get_call_request::Call,
};

use super::*;

async fn get(person: &Person, message: GetCallRequest) -> Result<GetCallResponse, Status> {
    Ok(person.tools.clone().get_call(person.request(message)).await?.into_inner())
}

fn by_id(call_id: &str) -> GetCallRequest {
    GetCallRequest { call: Some(Call::CallId(call_id.to_owned())), ..GetCallRequest::default() }
}

fn by_request(id: RequestId) -> GetCallRequest {
    GetCallRequest { call: Some(Call::RequestId(id.to_string())), ..GetCallRequest::default() }
}

async fn page(
    person: &Person,
    filter: CallFilter,
    page_size: i32,
    token: &str,
) -> Result<ListCallsResponse, Status> {
    let message = ListCallsRequest { filter: Some(filter), page_size, page_token: token.to_owned() };
    Ok(person.tools.clone().list_calls(person.request(message)).await?.into_inner())
}

async fn all(person: &Person, filter: CallFilter, page_size: i32) -> Vec<CallRecord> {
    let (mut found, mut token) = (Vec::new(), String::new());
    loop {
        let answer = page(person, filter.clone(), page_size, &token).await.unwrap();
        found.extend(answer.calls);
        token = answer.next_page_token;
        if token.is_empty() {
            return found;
        }
    }
}

fn debug_write(id: RequestId) -> CallToolRequest {
    call("debug_write", &json!({"value": "x"}), Some(id))
}

/// Begins a call that takes a while, and says which.
async fn begin(
    person: &Person,
    tool: &str,
    id: Option<RequestId>,
) -> (String, Streaming<InvokeToolResponse>) {
    let arguments = match tool {
        "debug_write" => json!({"value": "x", "duration": "60s"}),
        _ => json!({"duration": "60s"}),
    };
    let message = InvokeToolRequest {
        target: Some(invoke_tool_request::Target::Tool(tool.to_owned())),
        input: Some(invoke_tool_request::Input::ArgumentsJson(arguments.to_string())),
        request_id: id.map(|id| id.to_string()).unwrap_or_default(),
        ..InvokeToolRequest::default()
    };
    let mut events = person.tools.clone().invoke_tool(person.request(message)).await.unwrap().into_inner();
    let accepted = events.message().await.unwrap().unwrap().event.unwrap();
    (accepted.call_id, events)
}

/// A lost stream loses nothing.
#[tokio::test]
async fn the_outcome_of_a_call_is_found_by_its_identifier_and_by_its_id() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    let wrote = data(riley.call(debug_write(id)).await);
    let by_identifier = get(&riley, by_request(id)).await.unwrap();
    let record = by_identifier.call.clone().unwrap();
    assert_eq!(
        (record.state(), record.tool.as_str(), record.user_id.as_str()),
        (CallState::Succeeded, "debug_write", "riley")
    );
    assert!(record.result_kept && record.ended_at.is_some() && record.face == "grpc", "{record:?}");
    assert_eq!(came(by_identifier.result.clone().unwrap().outcome), Came::Data(wrote.clone()));
    let json = GetCallRequest { result_format: ResultFormat::Json.into(), ..by_id(&record.call_id) };
    let found = get(&riley, json).await.unwrap();
    assert_eq!(found.call.unwrap().request_id, id.to_string());
    assert_eq!(came(found.result.unwrap().outcome), Came::Data(wrote));
}

#[tokio::test]
async fn a_read_without_an_identifier_is_known_by_its_state_only() {
    let house = House::open();
    let riley = house.person("riley").await;
    let read = riley.request(call("debug_sleep", &json!({"duration": "0s"}), None));
    let call_id = riley.tools.clone().call_tool(read).await.unwrap().into_inner().call_id;
    let found = get(&riley, by_id(&call_id)).await.unwrap();
    let record = found.call.unwrap();
    assert_eq!((record.state(), record.result_kept, found.result), (CallState::Succeeded, false, None));
    let refused = riley.call(call("debug_sleep", &json!({"duration": "no time"}), None)).await;
    assert!(matches!(refused, Ok(Came::Error(ToolErrorCode::InvalidArgument, _))), "{refused:?}");
    let failed = CallFilter { states: vec![CallState::Failed.into()], ..CallFilter::default() };
    assert_eq!(all(&riley, failed, 0).await[0].code(), ToolErrorCode::InvalidArgument);
}

#[tokio::test]
async fn who_waits_is_answered_when_the_call_ends() {
    let house = House::open();
    let riley = house.person("riley").await;
    for (tool, id) in [("debug_sleep", None), ("debug_write", Some(RequestId::generate()))] {
        let (call_id, events) = begin(&riley, tool, id).await;
        assert_eq!(get(&riley, by_id(&call_id)).await.unwrap().call.unwrap().state(), CallState::Running);
        let waits = {
            let (riley, call_id) = (riley.clone(), call_id.clone());
            let wait = Some(prost_types::Duration { seconds: 60, nanos: 0 });
            tokio::spawn(
                async move { get(&riley, GetCallRequest { wait, ..by_id(&call_id) }).await.unwrap() },
            )
        };
        if id.is_none() {
            drop(events);
            assert_eq!(waits.await.unwrap().call.unwrap().state(), CallState::Cancelled, "{tool}");
        } else {
            waits.abort();
        }
    }
    for bad in [61, -1] {
        let wait = Some(prost_types::Duration { seconds: bad, nanos: 0 });
        let answer = get(&riley, GetCallRequest { wait, ..by_request(RequestId::generate()) }).await;
        assert_refused(answer, Code::InvalidArgument, "INVALID_REQUEST");
    }
}

#[tokio::test]
async fn a_call_that_waits_for_a_person_says_for_what() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    let asked = riley.asks(id, "x").await;
    let found = get(&riley, by_request(id)).await.unwrap();
    let record = found.call.unwrap();
    assert_eq!(
        (record.state(), &record.confirmation_id),
        (CallState::AwaitingConfirmation, &asked.confirmation_id)
    );
    assert_eq!(found.confirmation_required.unwrap(), asked);
    riley.deny(&asked.confirmation_id).await.unwrap();
    let found = get(&riley, by_request(id)).await.unwrap();
    let record = found.call.unwrap();
    assert_eq!((record.state(), record.code()), (CallState::Failed, ToolErrorCode::ConfirmationDenied));
    assert!(matches!(came(found.result.unwrap().outcome), Came::Error(ToolErrorCode::ConfirmationDenied, _)));
}

#[tokio::test]
async fn what_was_approved_and_done_waits_for_nobody() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    let asked = riley.asks(id, "x").await;
    let states = vec![CallState::AwaitingConfirmation.into()];
    let waiting = CallFilter { states, ..CallFilter::default() };
    assert_eq!(all(&riley, waiting.clone(), 0).await.len(), 1);
    riley.approve(&asked.confirmation_id).await.unwrap();
    data(riley.call_confirm(id, "x").await);
    assert_eq!(all(&riley, waiting, 0).await, []);
}

/// Nothing tells whether there is such a call.
#[tokio::test]
async fn a_foreign_call_and_one_that_never_was_are_unknown_in_the_same_words() {
    let house = House::with_users();
    let (riley, sam, olga) =
        (house.person("riley").await, house.person("sam").await, house.person("olga").await);
    let id = RequestId::generate();
    data(riley.call(debug_write(id)).await);
    let call_id = get(&riley, by_request(id)).await.unwrap().call.unwrap().call_id;
    let (running, _events) = begin(&riley, "debug_sleep", None).await;
    let never = toolwire::tool::context::CallId::generate().to_string();
    let mut words = Vec::new();
    for id in [&call_id, &running, &never] {
        let said = assert_refused(get(&sam, by_id(id)).await, Code::NotFound, "UNKNOWN_CALL");
        words.push(said.replace(id.as_str(), "ID"));
    }
    words.push(
        assert_refused(get(&sam, by_request(id)).await, Code::NotFound, "UNKNOWN_CALL")
            .replace(&id.to_string(), "ID"),
    );
    words.dedup();
    assert_eq!(words.len(), 1, "{words:?}");
    assert_eq!(get(&olga, by_id(&call_id)).await.unwrap().call.unwrap().user_id, "riley");
    assert_eq!(get(&olga, by_id(&running)).await.unwrap().call.unwrap().state(), CallState::Running);
    assert_refused(get(&olga, by_request(id)).await, Code::NotFound, "UNKNOWN_CALL");
}

#[tokio::test]
async fn one_identifier_of_several_tools_needs_the_tool() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    data(riley.call(debug_write(id)).await);
    data(riley.call(call("debug_sleep", &json!({"duration": "0s"}), Some(id))).await);
    assert_refused(get(&riley, by_request(id)).await, Code::InvalidArgument, "INVALID_REQUEST");
    for tool in ["debug_write", "debug_sleep"] {
        let found = get(&riley, GetCallRequest { tool: tool.to_owned(), ..by_request(id) }).await.unwrap();
        assert_eq!((found.call.unwrap().tool.as_str(), found.result.unwrap().tool.as_str()), (tool, tool));
    }
    let none = GetCallRequest { tool: "debug_fail".to_owned(), ..by_request(id) };
    assert_refused(get(&riley, none).await, Code::NotFound, "UNKNOWN_CALL");
}

#[tokio::test]
async fn every_page_size_gives_the_same_list_the_newest_first() {
    let house = House::with_users();
    let (riley, sam, olga) =
        (house.person("riley").await, house.person("sam").await, house.person("olga").await);
    data(sam.call(debug_write(RequestId::generate())).await);
    for number in 0..7 {
        let id = (number % 2 == 0).then(RequestId::generate);
        data(riley.call(call("debug_sleep", &json!({"duration": "0s"}), id)).await);
        data(riley.call(debug_write(RequestId::generate())).await);
    }
    let (running, _events) = begin(&riley, "debug_sleep", None).await;
    let ids = |calls: Vec<CallRecord>| calls.into_iter().map(|call| call.call_id).collect::<Vec<_>>();
    let whole = ids(all(&riley, CallFilter::default(), 0).await);
    assert_eq!(whole.len(), 15);
    assert_eq!(whole[0], running);
    assert!(whole.windows(2).all(|pair| pair[0] > pair[1]), "{whole:?}");
    for page_size in [1, 2, 3, 15, 1_000] {
        assert_eq!(ids(all(&riley, CallFilter::default(), page_size).await), whole, "{page_size}");
    }
    let of = |user: &str| CallFilter { user_id: user.to_owned(), ..CallFilter::default() };
    for (person, user, expected) in [
        (&sam, "", 1),
        (&sam, "*", 1),
        (&sam, "riley", 0),
        (&olga, "", 0),
        (&olga, "*", 16),
        (&olga, "riley", 15),
    ] {
        assert_eq!(all(person, of(user), 4).await.len(), expected, "{} {user}", person.name);
    }
    let writes = CallFilter { tools: vec!["debug_write".to_owned()], ..CallFilter::default() };
    assert_eq!(all(&riley, writes, 2).await.len(), 7);
    let runs = CallFilter { states: vec![CallState::Running.into()], ..CallFilter::default() };
    assert_eq!(ids(all(&riley, runs, 1).await), [running]);

    let token = page(&riley, CallFilter::default(), 1, "").await.unwrap().next_page_token;
    for answer in [
        page(&sam, CallFilter::default(), 1, &token).await,
        page(&riley, of("riley"), 1, &token).await,
        page(&riley, CallFilter::default(), -1, "").await,
        page(&riley, CallFilter { states: vec![42], ..CallFilter::default() }, 1, "").await,
    ] {
        assert_refused(answer, Code::InvalidArgument, "INVALID_REQUEST");
    }
}

/// The part of a composite that a person must approve is found by the call that it is a part of.
#[tokio::test]
async fn what_a_call_called_is_listed_with_its_parent() {
    let house = House::open();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    let composite = call("debug_confirm_nested", &json!({"value": "x"}), Some(id));
    let asked = confirmation(riley.call(composite).await);
    let outer = get(&riley, GetCallRequest { tool: "debug_confirm_nested".to_owned(), ..by_request(id) })
        .await
        .unwrap();
    let record = outer.call.unwrap();
    assert_eq!(
        (record.state(), &record.confirmation_id),
        (CallState::AwaitingConfirmation, &asked.confirmation_id)
    );
    let parts = CallFilter { parent_call_id: record.call_id, ..CallFilter::default() };
    let parts = all(&riley, parts, 0).await;
    assert_eq!(
        parts.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>(),
        ["debug_confirm", "debug_write"]
    );
}
