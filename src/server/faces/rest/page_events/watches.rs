//! The watch of each topic.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use tonic::Status;

use super::{
    source::{Source, TOOLS, Watched},
    statistics,
    topic::Topic,
};
use toolwire_contract::proto::{
    tasks::v1::WatchTasksRequest,
    v1::{
        CallFilter, ToolView, WatchCallsRequest, WatchConfirmationsRequest, WatchProvidersRequest,
        WatchToolsRequest,
    },
};

/// The events of the watch of a topic, from its beginning. The watch is opened once they are polled.
pub(super) fn events(source: &Arc<Source>, topic: Topic) -> Watched {
    let source = Arc::clone(source);
    let opened = async move {
        match open(&source, topic).await {
            Ok(events) => events,
            Err(status) => stream::iter([(topic, Err(status))]).boxed(),
        }
    };
    stream::once(opened).flatten().boxed()
}

async fn open(source: &Arc<Source>, topic: Topic) -> Result<Watched, Status> {
    match topic {
        Topic::Calls => {
            let filter = CallFilter { user_id: source.whose.clone(), ..CallFilter::default() };
            let request = WatchCallsRequest { filter: Some(filter), ..Default::default() };
            source.watch(topic, (TOOLS, "WatchCalls"), &request).await
        }
        Topic::Confirmations => {
            let rpc = ("toolwire.v1.ConfirmationService", "WatchConfirmations");
            source.watch(topic, rpc, &WatchConfirmationsRequest::default()).await
        }
        Topic::Tasks => {
            let rpc = ("toolwire.tasks.v1.TaskService", "WatchTasks");
            source.watch(topic, rpc, &WatchTasksRequest::default()).await
        }
        Topic::Tools => {
            let request = WatchToolsRequest { view: ToolView::Basic.into() };
            source.watch(topic, (TOOLS, "WatchTools"), &request).await
        }
        Topic::Providers => {
            let rpc = ("toolwire.v1.ProviderService", "WatchProviders");
            source.watch(topic, rpc, &WatchProvidersRequest {}).await
        }
        Topic::Stats => statistics::stream(Arc::clone(source)).await,
    }
}
