//! Documents on the wire: requests read, answers rendered. The command line, over the service in its own process,
//! speaks the same.

mod expected;

use std::time::SystemTime;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};
use prost_types::Timestamp;
use serde_json::Value;
use tonic::Status;

use crate::service::{request, tasks::Tasks, workspace::Workspaces};
use toolwire_contract::{
    Refusal,
    convert::timestamp,
    json,
    proto::workspace::v1::{self, get_document_response::Part},
};
use toolwire_store::{
    documents::{Criteria, Document, Version},
    workspace::{Asked, Content, Edit, Header, Upload},
};
use toolwire_tool::context::User;

/// The longest piece of a document that comes.
const MAX_CHUNK: usize = 512 * 1024;

/// A document has no more versions, the one that deletes it among them.
const MOST_VERSIONS: u32 = 1_001;

/// So many versions are shown with their reasons.
const MOST_REASONS: usize = 100;

pub type Download = BoxStream<'static, Result<v1::GetDocumentResponse, Status>>;

/// Begins a document that comes.
pub async fn begin(
    (workspaces, tasks): (&Workspaces, &Tasks),
    user: &User,
    header: v1::PutHeader,
) -> Result<Upload, Refusal> {
    let room = workspaces.leased_room(tasks, user, &header.task_id, header.lease_token).await?;
    let request_id = request::request_id("request_id", &header.request_id)?;
    if request_id.is_none() {
        let what = "must be a UUID of yours, so that a repeat writes nothing twice";
        return Err(request::refuse("request_id", "required", what));
    }
    let v1::PutHeader {
        path, mime_type, description, tags, why, etag, digest, size_bytes, precondition, ..
    } = header;
    let precondition = precondition.map(expected::precondition).transpose()?;
    let tags = Some(tags).filter(|tags| !tags.is_empty());
    let digest = digest.to_lowercase();
    let header = Header {
        path,
        mime_type,
        description,
        tags,
        why,
        etag,
        precondition,
        digest,
        size: size_bytes,
        request_id,
        ..Header::default()
    };
    Ok(room.upload(header).await?)
}

/// Takes a piece in.
pub async fn take(upload: &mut Upload, chunk: Vec<u8>) -> Result<(), Refusal> {
    if chunk.len() > MAX_CHUNK {
        let what = format!("must have at most {MAX_CHUNK} bytes");
        return Err(request::refuse("chunk", "max_length", &what));
    }
    Ok(upload.write(Bytes::from(chunk)).await?)
}

/// Writes the document that came.
pub async fn end(upload: Upload) -> Result<v1::PutDocumentResponse, Refusal> {
    let document = upload.finish().await?;
    Ok(v1::PutDocumentResponse { document: Some(with_last_version(document)) })
}

/// A document, and then its bytes.
pub async fn get(
    workspaces: &Workspaces,
    user: &User,
    message: v1::GetDocumentRequest,
) -> Result<Download, Refusal> {
    let v1::GetDocumentRequest { task_id, path, version, offset, limit, blocks, metadata_only } = message;
    let room = workspaces.room(user, &task_id).await?;
    let (found, content) = if metadata_only {
        (room.at(&path, version).await?, None)
    } else {
        let asked = Asked { version, offset, limit };
        let (document, content) = room.read(&path, asked).await?;
        (document, Some(content))
    };
    let content_json = if blocks { structure(room.blocks(&found).await?) } else { None };
    let versions = room.versions(&found.path, u32::MAX, MOST_VERSIONS).await?;
    let versions = all_versions(versions);
    let document = v1::Document { content_json, versions, ..rendered(found) };
    let first = Ok(v1::GetDocumentResponse { part: Some(Part::Document(document)) });
    let bytes = match content {
        Some(content) => chunks(content).boxed(),
        None => stream::empty().boxed(),
    };
    Ok(stream::iter([first]).chain(bytes).boxed())
}

/// Oldest first. The reasons of many would not fit into a message: `ListVersions` has them.
fn all_versions(versions: Vec<Version>) -> Vec<v1::DocumentVersion> {
    let has_reasons = versions.len() <= MOST_REASONS;
    let mut versions: Vec<_> = versions.into_iter().rev().map(rendered_version).collect();
    if !has_reasons {
        for version in &mut versions {
            version.why.clear();
        }
    }
    versions
}

/// The bytes, a piece each time that somebody takes one.
fn chunks(content: Content) -> impl futures_util::Stream<Item = Result<v1::GetDocumentResponse, Status>> {
    stream::unfold(Some(content), |content| async {
        let mut content = content?;
        match content.next().await {
            Ok(None) => None,
            Ok(Some(chunk)) => {
                let part = Some(Part::Chunk(chunk.into()));
                Some((Ok(v1::GetDocumentResponse { part }), Some(content)))
            }
            Err(refusal) => Some((Err(Refusal::from(refusal).into()), None)),
        }
    })
}

/// A page of documents.
pub async fn list(
    workspaces: &Workspaces,
    user: &User,
    message: v1::ListDocumentsRequest,
) -> Result<v1::ListDocumentsResponse, Refusal> {
    let v1::ListDocumentsRequest { task_id, filter, page_size, page_token } = message;
    let room = workspaces.room(user, &task_id).await?;
    let page = workspaces.list(&room, &criteria(filter)?, page_size, &page_token).await?;
    let documents = page.items.into_iter().map(rendered).collect();
    Ok(v1::ListDocumentsResponse { documents, next_page_token: page.next })
}

pub async fn search(
    workspaces: &Workspaces,
    user: &User,
    message: v1::SearchDocumentsRequest,
) -> Result<v1::SearchDocumentsResponse, Refusal> {
    let v1::SearchDocumentsRequest { task_id, query, filter, page_size } = message;
    let room = workspaces.room(user, &task_id).await?;
    let found = workspaces.search(&room, &query, &criteria(filter)?, page_size).await?;
    let hits = found.hits.into_iter();
    let hits = hits.map(|hit| v1::SearchHit { document: Some(rendered(hit.document)), snippet: hit.snippet });
    Ok(v1::SearchDocumentsResponse { hits: hits.collect(), any_word: found.any_word })
}

pub async fn versions(
    workspaces: &Workspaces,
    user: &User,
    message: v1::ListVersionsRequest,
) -> Result<v1::ListVersionsResponse, Refusal> {
    let v1::ListVersionsRequest { task_id, path, page_size, page_token } = message;
    let room = workspaces.room(user, &task_id).await?;
    let page = workspaces.versions(&room, &path, page_size, &page_token).await?;
    let versions = page.items.into_iter().map(rendered_version).collect();
    Ok(v1::ListVersionsResponse { versions, next_page_token: page.next })
}

/// Changes what is said of a document.
pub async fn update(
    workspaces: &Workspaces,
    user: &User,
    message: v1::UpdateMetadataRequest,
) -> Result<v1::UpdateMetadataResponse, Refusal> {
    let v1::UpdateMetadataRequest { task_id, path, etag, description, tags, mime_type, precondition } =
        message;
    let expected = expected::expected(&etag, precondition)?;
    let room = workspaces.room(user, &task_id).await?;
    let edit = Edit { description, tags: tags.map(|tags| tags.tags), mime_type };
    let document = room.update(&path, expected, edit).await?;
    Ok(v1::UpdateMetadataResponse { document: Some(rendered(document)) })
}

pub async fn delete(
    workspaces: &Workspaces,
    user: &User,
    message: v1::DeleteDocumentRequest,
) -> Result<v1::DeleteDocumentResponse, Refusal> {
    let v1::DeleteDocumentRequest { task_id, path, etag, precondition } = message;
    let expected = expected::expected(&etag, precondition)?;
    let room = workspaces.room(user, &task_id).await?;
    let document = room.delete(&path, expected).await?;
    Ok(v1::DeleteDocumentResponse { document: Some(with_last_version(document)) })
}

/// A document without versions and content.
pub fn rendered(document: Document) -> v1::Document {
    let deleted = document.is_deleted();
    let content = document.content;
    v1::Document {
        root_id: document.root.to_string(),
        path: document.path,
        content_json: None,
        created_by: document.created_by,
        created_at: Some(timestamp(document.created_at)),
        updated_by: document.updated_by,
        updated_at: Some(timestamp(document.updated_at)),
        mime_type: content.mime_type,
        size_bytes: content.size,
        token_count: content.tokens,
        token_count_estimated: content.tokens_estimated,
        auto_summary: content.summary,
        description: document.description,
        tags: document.tags,
        versions: Vec::new(),
        version: document.version,
        etag: document.etag,
        digest: content.digest.map(|digest| digest.to_string()).unwrap_or_default(),
        untrusted: content.untrusted,
        deleted,
    }
}

fn with_last_version(document: Document) -> v1::Document {
    let content = document.content.clone();
    let document = rendered(document);
    let last = v1::DocumentVersion {
        version: document.version,
        digest: document.digest.clone(),
        size_bytes: content.size,
        mime_type: content.mime_type,
        written_by: document.updated_by.clone(),
        written_at: document.updated_at,
        why: String::new(),
        call_id: String::new(),
        deleted: document.deleted,
    };
    v1::Document { versions: vec![last], ..document }
}

fn rendered_version(version: Version) -> v1::DocumentVersion {
    let content = version.content;
    v1::DocumentVersion {
        version: version.version,
        deleted: content.digest.is_none(),
        digest: content.digest.map(|digest| digest.to_string()).unwrap_or_default(),
        size_bytes: content.size,
        mime_type: content.mime_type,
        written_by: version.written_by,
        written_at: Some(timestamp(version.written_at)),
        why: version.why,
        call_id: version.call_id,
    }
}

fn criteria(filter: Option<v1::DocumentFilter>) -> Result<Criteria, Refusal> {
    let filter = filter.unwrap_or_default();
    Ok(Criteria {
        path_prefix: filter.path_prefix,
        tags: filter.tags.iter().map(|tag| tag.trim().to_lowercase()).collect(),
        mime_type: filter.mime_type.to_lowercase(),
        created_by: filter.created_by,
        updated_by: filter.updated_by,
        since: instant("filter.since", filter.since)?,
        until: instant("filter.until", filter.until)?,
        deleted: filter.deleted,
    })
}

fn instant(field: &str, given: Option<Timestamp>) -> Result<Option<SystemTime>, Refusal> {
    let malformed = |_| request::refuse(field, "format", "must be an instant from 1970 on");
    given.map(SystemTime::try_from).transpose().map_err(malformed)
}

fn structure(blocks: Value) -> Option<prost_types::Struct> {
    match blocks {
        Value::Object(object) => Some(json::to_struct(&object)),
        _ => None,
    }
}
