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
    fixed::{ResponseForm, Row},
    listing::unless_known,
    message, tools, transcode,
    wire::{self, Responses},
};
use crate::faces::http::{problem::Problem, route::Http, sse};
use toolwire_base::{digest::Digest, offload};

/// Answers a request for the RPC of a row, with what its path names.
pub(super) async fn answer(
    row: &Row,
    http: Http,
    named: Vec<(String, String)>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    match row.form {
        ResponseForm::Document => document::download(row, http, &named, &parts).await,
        ResponseForm::Upload => document::upload(row, http, &named, parts, body).await,
        ResponseForm::Events => {
            let message = transcode::to_message(row, &named, &parts, body).await?;
            let responses = wire::call(http, row, &parts, wire::body(&message)).await?;
            Ok(sse::stream_serialised(events(responses, transcode::method_descriptor(row).output())))
        }
        ResponseForm::Tools => {
            let asked = transcode::to_message(row, &named, &parts, body).await?.transcode_to();
            let asked = asked.map_err(|error| Status::internal(error.to_string()))?;
            Ok(tools::watch(http, &parts, asked).await?)
        }
        ResponseForm::Message | ResponseForm::Free => {
            respond(row, http, &named, &parts, body, answer::of_write).await
        }
        ResponseForm::Tagged => {
            let tagged = |body: &Value| {
                let text = body.to_string();
                (Digest::of_bytes(text.as_bytes()).to_string(), text)
            };
            let (tag, text) = respond(row, http, &named, &parts, body, tagged).await?;
            Ok(unless_known(&parts.headers, &tag, || answer::text(text)))
        }
    }
}

/// The one response of an RPC, and what is made of its text. A large one is spelled when it is the user's turn.
async fn respond<T: Send + 'static>(
    row: &Row,
    http: Http,
    named: &[(String, String)],
    parts: &Parts,
    body: Body,
    then: impl FnOnce(&Value) -> T + Send + 'static,
) -> Result<T, Problem> {
    let message = transcode::to_message(row, named, parts, body).await?;
    let response = wire::call(http, row, parts, wire::body(&message)).await?.one().await?;
    Ok(answer::serialise(transcode::method_descriptor(row).output(), response, then).await?)
}

/// The responses as events, as they come. Those that are there already are spelled at once, in the user's turn if they
/// are many or large.
fn events(responses: Responses, output: MessageDescriptor) -> impl Stream<Item = Bytes> + Send {
    stream::unfold(Some(responses), move |responses| {
        let output = output.clone();
        async move {
            let mut responses = responses?;
            match responses.some().await {
                Ok(None) => None,
                Ok(Some(some)) => {
                    let bytes = some.iter().map(Bytes::len).sum();
                    let spell = move || some.into_iter().map(|it| serialise(&output, it)).collect::<String>();
                    Some((offload::if_large(bytes, spell).await.into(), Some(responses)))
                }
                Err(status) => Some((broken(status).serialise().into(), None)),
            }
        }
    })
}

fn serialise(output: &MessageDescriptor, response: Bytes) -> String {
    let response = wire::decode(output.clone(), response);
    response.map_or_else(broken, |it| event::of(&message::of_dynamic(&it))).serialise()
}

/// The last event of a stream that ends by a status.
fn broken(status: Status) -> sse::Event {
    sse::Event { id: None, event: "error", data: Problem::from(status).to_json() }
}
