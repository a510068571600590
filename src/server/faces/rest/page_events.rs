//! `GET /v1/events`: the watches that a page needs, as one stream.
//!
//! Each event is that of one watch, under the name of its topic. Its id holds the positions of all topics, from which a
//! reader resumes each of them. Topics without positions begin anew, and the event `reset` names them.

mod cursor;
mod statistics;

use axum::{
    body::Body as AxumBody,
    extract::{Request, State},
    response::Response,
};
use bytes::Bytes;
use futures_util::{
    StreamExt,
    stream::{self, BoxStream, select_all},
};
use http::request::Parts;
use http_body_util::Full;
use prost::Message;
use prost_reflect::MessageDescriptor;
use serde_json::{Value, json};
use strum::VariantArray as _;
use tonic::{Code, Status, body::Body};

use self::cursor::Cursor;
use super::{event, message, rpc_routes::ROWS, transcode, wire};
use crate::{
    faces::http::{problem::Problem, query::Query, route::Http, rpc_route::RpcRoute, sse},
    service::request::refuse,
};
use toolwire_base::offload;
use toolwire_contract::{
    Refusal,
    proto::{
        tasks::v1::WatchTasksRequest,
        v1::{
            CallFilter, ToolView, WatchCallsRequest, WatchConfirmationsRequest, WatchProvidersRequest,
            WatchToolsRequest,
        },
    },
};

/// What a page watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
enum Topic {
    Calls,
    Confirmations,
    Tools,
    Providers,
    Stats,
    Tasks,
}

/// The responses of a watch as JSON; the last item may be the status that ended it.
type Watched = BoxStream<'static, (Topic, Result<Value, Status>)>;

/// The events of the topics that the query names, or of all.
pub(super) async fn answer(
    State(http): State<Http>,
    request: Request<AxumBody>,
) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    let query = Query::read(&parts.uri, &["topics", "user_id"])?;
    let (topics, user_id) = (read_topics(query.one("topics")?)?, query.one("user_id")?.to_owned());
    let last = sse::last_event_id(&parts.headers)?;
    let is_resumed = last.is_some();
    let mut cursor = last.and_then(Cursor::read).unwrap_or_default();
    let (mut streams, mut reset) = (Vec::new(), Vec::new());
    for topic in topics {
        let (stream, goes_on) = open(&http, &parts, topic, &user_id, &mut cursor).await?;
        streams.push(stream);
        if is_resumed && !goes_on {
            reset.push(topic);
        }
    }
    let first = (!reset.is_empty()).then(|| reset_event(&reset, &cursor));
    let events = stream::unfold(Some((select_all(streams), cursor)), next);
    Ok(sse::stream_serialised(stream::iter(first).chain(events)))
}

/// The topics of a list with commas; all without one.
fn read_topics(text: &str) -> Result<Vec<Topic>, Refusal> {
    if text.is_empty() {
        return Ok(Topic::VARIANTS.to_vec());
    }
    let mut topics = Vec::new();
    for name in text.split(',') {
        let unknown = |_| {
            let names: Vec<_> = Topic::VARIANTS.iter().map(Topic::into_str).collect();
            refuse("topics", "enum", &format!("must be of {}, with commas between them", names.join(", ")))
        };
        let topic = name.trim().parse().map_err(unknown)?;
        if !topics.contains(&topic) {
            topics.push(topic);
        }
    }
    Ok(topics)
}

/// Opens the watch of a topic after its position. Also returns whether it resumes there, rather than begins anew.
async fn open(
    http: &Http,
    parts: &Parts,
    topic: Topic,
    user_id: &str,
    cursor: &mut Cursor,
) -> Result<(Watched, bool), Status> {
    const TOOLS: &str = "toolwire.v1.ToolService";
    let filter = CallFilter { user_id: user_id.to_owned(), ..CallFilter::default() };
    match topic {
        Topic::Calls => {
            let after_position = cursor.calls.clone();
            let goes_on = !after_position.is_empty();
            let request = WatchCallsRequest { filter: Some(filter), after_position };
            Ok((watch(http, parts, topic, (TOOLS, "WatchCalls"), &request).await?, goes_on))
        }
        Topic::Confirmations => {
            let rpc = ("toolwire.v1.ConfirmationService", "WatchConfirmations");
            let request = |after_sequence| WatchConfirmationsRequest { after_sequence, ..Default::default() };
            positioned(http, parts, (topic, rpc), request, &mut cursor.confirmations).await
        }
        Topic::Tasks => {
            let rpc = ("toolwire.tasks.v1.TaskService", "WatchTasks");
            let request = |after_position| WatchTasksRequest { after_position, ..Default::default() };
            positioned(http, parts, (topic, rpc), request, &mut cursor.tasks).await
        }
        Topic::Tools => {
            let request = WatchToolsRequest { view: ToolView::Basic.into() };
            Ok((watch(http, parts, topic, (TOOLS, "WatchTools"), &request).await?, false))
        }
        Topic::Providers => {
            let rpc = ("toolwire.v1.ProviderService", "WatchProviders");
            Ok((watch(http, parts, topic, rpc, &WatchProvidersRequest {}).await?, false))
        }
        // Each event stands for itself.
        Topic::Stats => Ok((statistics::stream(http.clone(), parts, user_id).await?, true)),
    }
}

/// Opens a watch that goes on after a number. One that is not known any more is forgotten.
async fn positioned<R: Message>(
    http: &Http,
    parts: &Parts,
    (topic, rpc): (Topic, (&'static str, &'static str)),
    request: impl Fn(u64) -> R,
    position: &mut u64,
) -> Result<(Watched, bool), Status> {
    let after = *position;
    match watch(http, parts, topic, rpc, &request(after)).await {
        Err(status) if after > 0 && status.code() == Code::OutOfRange => {
            *position = 0;
            Ok((watch(http, parts, topic, rpc, &request(0)).await?, false))
        }
        opened => Ok((opened?, after > 0)),
    }
}

/// Calls a watch within the process.
async fn watch(
    http: &Http,
    parts: &Parts,
    topic: Topic,
    rpc: (&'static str, &'static str),
    request: &impl Message,
) -> Result<Watched, Status> {
    let row = row(rpc);
    let output = transcode::method_descriptor(row).output();
    let responses = wire::call(http.clone(), row, parts, body(request)).await?;
    let next = move |responses: Option<wire::Responses>| {
        let output = output.clone();
        async move {
            let mut responses = responses?;
            let (items, rest) = match responses.next_batch().await {
                Ok(None) => return None,
                Ok(Some(batch)) => (decode(output, batch).await, Some(responses)),
                Err(status) => (vec![Err(status)], None),
            };
            Some((stream::iter(items), rest))
        }
    };
    Ok(stream::unfold(Some(responses), next).flatten().map(move |item| (topic, item)).boxed())
}

/// The route of an RPC.
fn row(rpc: (&'static str, &'static str)) -> &'static RpcRoute {
    ROWS.iter().find(|row| row.rpc == rpc).expect("each watch of a page is a route")
}

fn body(request: &impl Message) -> Body {
    Body::new(Full::new(wire::frame(request)))
}

async fn decode(output: MessageDescriptor, batch: Vec<Bytes>) -> Vec<Result<Value, Status>> {
    let bytes = batch.iter().map(Bytes::len).sum();
    let decode = move || {
        let value = |bytes| wire::decode(output.clone(), bytes).map(|it| message::of_dynamic(&it));
        batch.into_iter().map(value).collect()
    };
    offload::if_large(bytes, decode).await
}

/// The next event, as text.
async fn next<S>(open: Option<(S, Cursor)>) -> Option<(Bytes, Option<(S, Cursor)>)>
where
    S: futures_util::Stream<Item = (Topic, Result<Value, Status>)> + Unpin,
{
    let (mut streams, mut cursor) = open?;
    loop {
        let (topic, value) = match streams.next().await? {
            (topic, Ok(value)) => (topic, value),
            (_, Err(status)) => {
                let event = sse::Event { id: None, event: "error", data: Problem::from(status).to_json() };
                return Some((event.serialise().into(), None));
            }
        };
        cursor.note(topic, &value);
        let text = match event::of(&value).event {
            // Comments keep the stream alive.
            "heartbeat" => continue,
            "reset" => reset_event(&[topic], &cursor),
            name => serialise(topic, name, &cursor, &value),
        };
        return Some((text, Some((streams, cursor))));
    }
}

fn serialise(topic: Topic, name: &str, cursor: &Cursor, data: &Value) -> Bytes {
    let topic = topic.into_str();
    let name = if name.is_empty() { topic.to_owned() } else { format!("{topic}.{name}") };
    // JSON text has no line breaks.
    format!("id: {}\nevent: {name}\ndata: {data}\n\n", cursor.write()).into()
}

/// Says that what is known of topics is to be dropped: their state follows.
fn reset_event(topics: &[Topic], cursor: &Cursor) -> Bytes {
    let names: Vec<_> = topics.iter().map(Topic::into_str).collect();
    format!("id: {}\nevent: reset\ndata: {}\n\n", cursor.write(), json!({"topics": names})).into()
}
