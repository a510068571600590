//! Statistics as they come: the seconds that are over, while anything in them changes.

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt, stream};
use serde_json::Value;
use tokio::time::sleep;
use tonic::Status;

use super::{
    source::{Source, Watched},
    topic::Topic,
};

/// The time between two events.
const INTERVAL: Duration = Duration::from_secs(2);

/// The seconds in each: one more, so that none is left out where an event comes late.
const WINDOW: prost_types::Duration = prost_types::Duration { seconds: 3, nanos: 0 };

/// Statistics of a user's calls, or of others for who may see them.
pub(super) async fn stream(source: Arc<Source>) -> Result<Watched, Status> {
    // The first one at once, so that a request that is refused is so before the stream begins.
    let first = source.stats(WINDOW).await?;
    let last = gauges(&first);
    let rest = stream::unfold(Some((source, last)), |open| async move {
        let (source, mut last) = open?;
        loop {
            sleep(INTERVAL).await;
            match source.stats(WINDOW).await {
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

/// What is counted now, and not in a second that is over.
fn gauges(stats: &Value) -> [Value; 4] {
    ["running", "waiting", "slots", "idle_slots"].map(|name| stats[name].clone())
}

fn has_calls(stats: &Value) -> bool {
    let buckets = stats["buckets"].as_array().into_iter().flatten();
    buckets.into_iter().any(|bucket| bucket["calls"].as_u64().is_some_and(|calls| calls > 0))
}
