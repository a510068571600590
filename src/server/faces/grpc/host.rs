//! `toolwire.host.v1.ToolHostService`: slots of hosts. Not here: the protocol, which `toolwire_hosts` speaks.

use futures_util::{StreamExt, stream};
use tokio::sync::mpsc;
use tonic::{Code, Request, Response, Status, Streaming};

use super::{Answered, Streamed, face::Face, service::Service};
use toolwire_contract::{
    proto::host::v1::{
        WorkRequest, WorkResponse,
        tool_host_service_server::{ToolHostService, ToolHostServiceServer},
    },
    status,
};
use toolwire_hosts::{Hub, work};
use toolwire_providers::{bounds::MAX_MESSAGE, ids::ProviderName};
use toolwire_transport::{backlog, rules::Rule, slot_end};

pub(super) fn service() -> Service {
    let make = |face: &Face| {
        let hosts = Hosts { hub: face.providers.hub().clone() };
        // Not compressed: a slot is on the machine or in the network of the server, and its messages are small.
        ToolHostServiceServer::new(hosts)
            .max_decoding_message_size(MAX_MESSAGE)
            .max_encoding_message_size(MAX_MESSAGE)
    };
    Service::new(make).except("Work", Rule::SLOT)
}

#[derive(Debug)]
struct Hosts {
    hub: Hub,
}

#[tonic::async_trait]
impl ToolHostService for Hosts {
    type WorkStream = Streamed<WorkResponse>;

    async fn work(&self, request: Request<Streaming<WorkRequest>>) -> Answered<Self::WorkStream> {
        let (_, extensions, incoming) = request.into_parts();
        let provider = extensions.get::<ProviderName>().cloned().ok_or_else(not_a_host)?;
        // One answer: what its host does not take waits where it can be taken back.
        let (answers, mut outgoing) = mpsc::channel(1);
        // A slot is left once its call is over: no call fails for want of a token.
        let ending = slot_end(&extensions);
        tokio::spawn(work(self.hub.clone(), provider, incoming, ending, answers, backlog()));
        Ok(Response::new(stream::poll_fn(move |cx| outgoing.poll_recv(cx)).boxed()))
    }
}

/// A request that no credentials of a host came with, as one within the process.
fn not_a_host() -> Status {
    status::plain(Code::PermissionDenied, "NOT_A_HOST", "only hosts of a provider open a slot")
}
