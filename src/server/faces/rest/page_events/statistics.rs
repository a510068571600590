//! Statistics as they come: the seconds that are over, while anything in them changes.

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt, stream};
use http::{Request, request::Parts};
use serde_json::Value;
use tokio::time::sleep;
use tonic::Status;

use super::{Topic, Watched, body, row, wire};
use crate::faces::{
    http::route::Http,
    rest::{message, transcode},
};
use toolwire_contract::proto::v1::GetStatsRequest;

/// The time between two events.
const INTERVAL: Duration = Duration::from_secs(2);

/// The seconds in each: one more, so that none is left out where an event comes late.
const WINDOW: i64 = 3;

/// Statistics of a user's calls, or of others for who may see them.
pub(super) async fn stream(http: Http, parts: &Parts, user_id: &str) -> Result<Watched, Status> {
    let window = prost_types::Duration { seconds: WINDOW, nanos: 0 };
    let request = GetStatsRequest { user_id: user_id.to_owned(), step: None, window: Some(window) };
    let source = Arc::new(Source { http, parts: copy(parts), request });
    // The first one at once, so that a request that is refused is so before the stream begins.
    let first = source.read().await?;
    let last = gauges(&first);
    let rest = stream::unfold(Some((source, last)), |open| async move {
        let (source, mut last) = open?;
        loop {
            sleep(INTERVAL).await;
            match source.read().await {
                Ok(value) => {
                    let now = gauges(&value);
                    if now != last || has_calls(&value) {
                        last = now;
                        return Some((Ok(value), Some((source, last))));
                    }
                }
                Err(status) => return Some((Err(status), None)),
            }
        }
    });
    Ok(stream::iter([Ok(first)]).chain(rest).map(|item| (Topic::Stats, item)).boxed())
}

/// Asks for statistics on behalf of a request.
struct Source {
    http: Http,
    parts: Parts,
    request: GetStatsRequest,
}

impl Source {
    async fn read(&self) -> Result<Value, Status> {
        let row = row(("toolwire.v1.ToolService", "GetStats"));
        let responses = wire::call(self.http.clone(), row, &self.parts, body(&self.request)).await?;
        let output = transcode::method_descriptor(row).output();
        Ok(message::of_dynamic(&wire::decode(output, responses.single().await?)?))
    }
}

/// The parts of a request that its services read: who makes it, and its headers.
fn copy(parts: &Parts) -> Parts {
    let (mut copy, ()) = Request::new(()).into_parts();
    copy.headers = parts.headers.clone();
    copy.extensions = parts.extensions.clone();
    copy
}

/// What is counted now, and not in a second that is over.
fn gauges(stats: &Value) -> [Value; 4] {
    ["running", "waiting", "slots", "idle_slots"].map(|name| stats[name].clone())
}

fn has_calls(stats: &Value) -> bool {
    let buckets = stats["buckets"].as_array().into_iter().flatten();
    buckets.into_iter().any(|bucket| bucket["calls"].as_u64().is_some_and(|calls| calls > 0))
}
