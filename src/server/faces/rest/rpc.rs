//! A route that is an RPC: the request becomes its message, the message goes to the service within the process, and its
//! response becomes the answer.
//!
//! The service sees the extensions of the request that is answered: no second authentication, no second span. Not here:
//! how the message is made (`transcode`), frames (`wire`) and documents (`document`).

use axum::{body::Body, extract::Request, response::Response};
use bytes::Bytes;
use futures_util::{Stream, stream};
use http::request::Parts;
use prost_reflect::MessageDescriptor;
use serde_json::Value;
use tonic::Status;

use super::{
    answer, document, event,
    listing::with_etag,
    message, tools, transcode,
    wire::{self, Responses},
};
use crate::faces::http::{
    problem::Problem,
    route::Http,
    rpc_route::{ResponseForm, RpcRoute},
    sse,
};
use toolwire_base::{digest::Digest, offload};

/// Answers a request for the RPC of a row. `path_fields` are the fields that the path gives.
pub(super) async fn answer(
    row: &RpcRoute,
    http: Http,
    path_fields: Vec<(String, String)>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    match row.form {
        ResponseForm::Document => document::download(row, http, &path_fields, &parts).await,
        ResponseForm::Upload => document::upload(row, http, &path_fields, parts, body).await,
        ResponseForm::Events => {
            let message = transcode::to_message(row, &path_fields, &parts, body).await?;
            let responses = wire::call(http.grpc.clone(), row, &parts, wire::body(&message)).await?;
            Ok(sse::stream_serialised(events(responses, transcode::method_descriptor(row).output())))
        }
        ResponseForm::Tools => {
            let message = transcode::to_message(row, &path_fields, &parts, body).await?.transcode_to();
            let request = message.map_err(|error| Status::internal(error.to_string()))?;
            Ok(tools::watch(http, &parts, request).await?)
        }
        ResponseForm::Message | ResponseForm::Free => {
            respond(row, http, &path_fields, &parts, body, answer::of_message).await
        }
        ResponseForm::Tagged => {
            // The messages have no validator of their own: the tag is the digest of the text.
            let tagged = |body: &Value| {
                let text = body.to_string();
                (Digest::of_bytes(text.as_bytes()).to_string(), text)
            };
            let (tag, text) = respond(row, http, &path_fields, &parts, body, tagged).await?;
            Ok(with_etag(&parts.headers, &tag, || answer::text(text)))
        }
    }
}

/// Calls a unary RPC, and returns what `then` makes of its response. A large response is serialised under a permit of
/// the user's.
async fn respond<T: Send + 'static>(
    row: &RpcRoute,
    http: Http,
    path_fields: &[(String, String)],
    parts: &Parts,
    body: Body,
    then: impl FnOnce(&Value) -> T + Send + 'static,
) -> Result<T, Problem> {
    let message = transcode::to_message(row, path_fields, parts, body).await?;
    let response = wire::call(http.grpc.clone(), row, parts, wire::body(&message)).await?.single().await?;
    Ok(answer::serialise(transcode::method_descriptor(row).output(), response, then).await?)
}

/// The responses as events, as they come. Those that are ready are serialised together, under a permit of the user's if
/// they are large.
fn events(responses: Responses, output: MessageDescriptor) -> impl Stream<Item = Bytes> + Send {
    stream::unfold(Some(responses), move |responses| {
        let output = output.clone();
        async move {
            let mut responses = responses?;
            match responses.next_batch().await {
                Ok(None) => None,
                Ok(Some(batch)) => {
                    let bytes = batch.iter().map(Bytes::len).sum();
                    let work = move || batch.into_iter().map(|it| serialise(&output, it)).collect::<String>();
                    Some((offload::if_large(bytes, work).await.into(), Some(responses)))
                }
                Err(status) => Some((error_event(status).serialise().into(), None)),
            }
        }
    })
}

fn serialise(output: &MessageDescriptor, response: Bytes) -> String {
    let response = wire::decode(output.clone(), response);
    response.map_or_else(error_event, |it| event::of(&message::of_dynamic(&it))).serialise()
}

/// The last event of a stream that ends with a status.
fn error_event(status: Status) -> sse::Event {
    sse::Event { id: None, event: "error", data: Problem::from(status).to_json() }
}
