//! `GET /v1/events`: the watches that a page needs, as one stream.
//!
//! Each event is that of one watch, under the name of its topic. The streams of one user with the same topics share a
//! feed: its watches are read once, each event is encoded once, and a stream costs no more than the writes of its
//! connection. A stream whose reader falls too far behind, or that cannot be resumed, starts again with the current
//! state, after the event `reset`.

mod fan_out;
mod feed;
mod feeds;
mod log;
mod source;
mod statistics;
mod text;
mod topic;
mod watches;

use axum::{
    body::Body as AxumBody,
    extract::{Request, State},
    response::Response,
    routing::{MethodRouter, get},
};

use self::feeds::Feeds;
use crate::faces::{
    http::{problem::Problem, query::Query, route::Http, sse},
    incoming,
};

/// The handler of the route. Its feeds are those of one server.
pub(super) fn handler() -> MethodRouter<Http> {
    let feeds = Feeds::default();
    get(move |State(http): State<Http>, request: Request<AxumBody>| answer(feeds.clone(), http, request))
}

/// The events of the topics that the query names, or of all.
async fn answer(feeds: Feeds, http: Http, request: Request<AxumBody>) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    let query = Query::read(&parts.uri, &["topics", "user_id"])?;
    let (topics, whose) = (topic::read(query.one("topics")?)?, query.one("user_id")?.to_owned());
    let last = sse::last_event_id(&parts.headers)?;
    let policy = http.face.tools.policy();
    let key = feed::Key::new(incoming::user(&parts.extensions), topics, whose, policy);
    let reader = feeds.subscribe(http.grpc.clone(), key, last).await?;
    Ok(sse::stream_serialised(reader.into_stream()))
}
