//! Requests of a feed to the services of this process.

use bytes::Bytes;
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use http::{Request, request::Parts};
use http_body_util::Full;
use prost::Message;
use prost_reflect::MessageDescriptor;
use serde_json::Value;
use tonic::{Status, body::Body};

use super::{
    super::{message, rpc_routes::ROWS, transcode, wire},
    topic::Topic,
};
use crate::faces::grpc::Routes;
use toolwire_base::offload;
use toolwire_contract::proto::v1::GetStatsRequest;
use toolwire_tool::context::User;

pub(super) const TOOLS: &str = "toolwire.v1.ToolService";

/// The responses of a watch as JSON; the last item may be the status that ended it.
pub(super) type Watched = BoxStream<'static, (Topic, Result<Value, Status>)>;

/// Makes requests to the services of this process on behalf of a user.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) routes: Routes,
    pub(super) user: User,
    /// The `user_id` in requests for calls and statistics.
    pub(super) whose: String,
}

impl Source {
    pub(super) async fn stats(&self, window: prost_types::Duration) -> Result<Value, Status> {
        let request = GetStatsRequest { user_id: self.whose.clone(), step: None, window: Some(window) };
        let (output, responses) = self.call((TOOLS, "GetStats"), &request).await?;
        Ok(message::of_dynamic(&wire::decode(output, responses.single().await?)?))
    }

    /// Opens the watch of a topic.
    pub(super) async fn watch(
        &self,
        topic: Topic,
        rpc: (&'static str, &'static str),
        request: &impl Message,
    ) -> Result<Watched, Status> {
        let (output, responses) = self.call(rpc, request).await?;
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

    /// Calls an RPC. Returns the type of its responses, and these.
    async fn call(
        &self,
        rpc: (&'static str, &'static str),
        request: &impl Message,
    ) -> Result<(MessageDescriptor, wire::Responses), Status> {
        let row = ROWS.iter().find(|row| row.rpc == rpc).expect("each watch of a page is a route");
        let body = Body::new(Full::new(wire::frame(request)));
        let responses = wire::call(self.routes.clone(), row, &self.parts(), body).await?;
        Ok((transcode::method_descriptor(row).output(), responses))
    }

    /// The parts of a request by this user. They hold nothing of the request that opened a stream, which may end before
    /// the feed.
    fn parts(&self) -> Parts {
        let (mut parts, ()) = Request::new(()).into_parts();
        parts.extensions.insert(self.user.clone());
        parts
    }
}

async fn decode(output: MessageDescriptor, batch: Vec<Bytes>) -> Vec<Result<Value, Status>> {
    let bytes = batch.iter().map(Bytes::len).sum();
    let decode = move || {
        let value = |bytes| wire::decode(output.clone(), bytes).map(|it| message::of_dynamic(&it));
        batch.into_iter().map(value).collect()
    };
    offload::if_large(bytes, decode).await
}
