//! Documents as bytes, on their way in and out, whatever their length.
//!
//! What people outside wrote must not become a page of this server: a document always comes as an attachment, and runs
//! nothing if a browser shows it all the same.

use std::time::SystemTime;

use axum::{body::Body, response::Response};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::{HeaderName, HeaderValue, header, request::Parts};
use http_body::Frame;
use http_body_util::StreamBody;
use prost::Message as _;
use prost_reflect::ReflectMessage;
use tonic::Status;

use super::{answer, listing::with_etag, message, read::Message, transcode, wire};
use crate::faces::http::{problem::Problem, query::Query, route::Http, rpc_route::RpcRoute};
use toolwire_contract::proto::workspace::v1::{
    Document, GetDocumentResponse, PutDocumentRequest, PutHeader, get_document_response, put_document_request,
};

/// Maximum size of a chunk that the service accepts, in bytes.
const MAX_CHUNK: usize = 512 * 1024;
const UNTRUSTED: HeaderName = HeaderName::from_static("x-toolwire-untrusted");

/// Answers with the bytes of a document, or with its metadata only.
pub(super) async fn download(
    row: &RpcRoute,
    http: Http,
    path_fields: &[(String, String)],
    parts: &Parts,
) -> Result<Response, Problem> {
    let is_metadata_only = Query::any(&parts.uri).flag("metadata_only")?;
    let message = transcode::to_message(row, path_fields, parts, Body::empty()).await?;
    let mut responses = wire::call(http.grpc.clone(), row, parts, wire::body(&message)).await?;
    // The metadata comes before the bytes: for a 304 the stream is dropped, and none of them is read.
    let first = responses.next().await?.map(GetDocumentResponse::decode).transpose();
    let first = first.map_err(|error| Status::internal(error.to_string()))?.and_then(|it| it.part);
    let Some(get_document_response::Part::Document(document)) = first else {
        return Err(Status::internal("no document").into());
    };
    let modified = document.updated_at.and_then(|at| SystemTime::try_from(at).ok());
    let mut answer = with_etag(&parts.headers, &document.etag, || {
        if is_metadata_only { answer::json(&message::of(&document)) } else { send(&document, responses) }
    });
    if let Some(modified) = modified {
        let date = HeaderValue::try_from(httpdate::fmt_http_date(modified)).expect("a date is ASCII");
        answer.headers_mut().insert(header::LAST_MODIFIED, date);
    }
    Ok(answer)
}

fn send(document: &Document, responses: wire::Responses) -> Response {
    let mut response = Response::new(Body::from_stream(pieces(responses)));
    let headers = response.headers_mut();
    let default = HeaderValue::from_static("application/octet-stream");
    headers.insert(header::CONTENT_TYPE, HeaderValue::try_from(&document.mime_type).unwrap_or(default));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; sandbox; frame-ancestors 'none'"),
    );
    if document.untrusted {
        headers.insert(UNTRUSTED, HeaderValue::from_static("true"));
    }
    response
}

fn pieces(responses: wire::Responses) -> impl Stream<Item = Result<Bytes, Status>> + Send {
    stream::unfold(Some(responses), async |responses| {
        let mut responses = responses?;
        loop {
            let part = match responses.next().await {
                Ok(None) => return None,
                Ok(Some(bytes)) => GetDocumentResponse::decode(bytes).ok().and_then(|it| it.part),
                Err(status) => return Some((Err(status), None)),
            };
            if let Some(get_document_response::Part::Chunk(chunk)) = part {
                return Some((Ok(Bytes::from(chunk)), Some(responses)));
            }
        }
    })
}

/// Stores the body as a document. The path, the query and the headers give its metadata.
pub(super) async fn upload(
    row: &RpcRoute,
    http: Http,
    path_fields: &[(String, String)],
    parts: Parts,
    body: Body,
) -> Result<Response, Problem> {
    let mut header =
        Message::of(PutHeader::default().descriptor()).with_query(Query::any(&parts.uri).pairs())?;
    for (name, value) in path_fields {
        header = header.with_field(name, value)?;
    }
    let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    // Without its parameters: `media_type` has refused charsets other than UTF-8.
    let kind = kind.and_then(|kind| kind.split(';').next()).map(str::trim);
    if let Some(kind) = kind.filter(|_| !header.is_set("mime_type")) {
        header = header.with_field("mime_type", kind)?;
    }
    let header: PutHeader = transcode::with_headers(header, &parts)?.read()?;
    let first = frame(put_document_request::Part::Header(header));
    let pieces = body.into_data_stream().flat_map(|piece| match piece {
        Ok(piece) => stream::iter(chunk_frames(piece).into_iter().map(Ok).collect::<Vec<_>>()),
        Err(error) => stream::iter(vec![Err(error)]),
    });
    let frames = stream::iter([Ok(first)]).chain(pieces).map(|piece| piece.map(Frame::data));
    let responses =
        wire::call(http.grpc.clone(), row, &parts, tonic::body::Body::new(StreamBody::new(frames))).await?;
    let output = transcode::method_descriptor(row).output();
    Ok(answer::serialise(output, responses.single().await?, answer::of_message).await?)
}

fn chunk_frames(mut piece: Bytes) -> Vec<Bytes> {
    let mut frames = Vec::new();
    while !piece.is_empty() {
        let chunk = piece.split_to(piece.len().min(MAX_CHUNK)).to_vec();
        frames.push(frame(put_document_request::Part::Chunk(chunk)));
    }
    frames
}

fn frame(part: put_document_request::Part) -> Bytes {
    wire::frame(&PutDocumentRequest { part: Some(part) })
}
