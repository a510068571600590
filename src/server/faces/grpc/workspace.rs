//! `toolwire.workspace.v1.WorkspaceService`: the documents that the tasks of a tree share.

mod render;
mod requests;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use tonic::{Request, Response, Status, Streaming};

use super::{Answered, Streamed, face::Face, service::Service, split};
use crate::{
    faces::incoming::record_doing,
    service::{changes::read_ahead, request::refuse},
};
use toolwire_contract::{
    Refusal,
    proto::workspace::v1::{
        self,
        get_document_response::Part as Sent,
        put_document_request::Part,
        workspace_service_server::{WorkspaceService, WorkspaceServiceServer},
    },
};
use toolwire_state::workspace::{Content, Edit, ReadOptions};
use toolwire_transport::rules::Rule;

/// Maximum size of a chunk of a document.
const MAX_CHUNK: usize = 512 * 1024;

/// A document has no more versions, the one that deletes it among them.
const MAX_VERSIONS: u32 = 1_001;

pub(super) fn service() -> Service {
    super::service!(WorkspaceServiceServer, |face| face.clone())
        .except("PutDocument", Rule::TRANSFER)
        .except("GetDocument", Rule::TRANSFER)
}

#[tonic::async_trait]
impl WorkspaceService for Face {
    type GetDocumentStream = Streamed<v1::GetDocumentResponse>;

    async fn put_document(
        &self,
        request: Request<Streaming<v1::PutDocumentRequest>>,
    ) -> Answered<v1::PutDocumentResponse> {
        let (user, from, mut parts) = split(request);
        let Some(Part::Header(header)) = next(&mut parts).await? else {
            return Err(refuse("header", "required", "must be the first message").into());
        };
        let (tasks, lease_token) = (self.tools.tasks(), header.lease_token);
        let workspace = self.workspaces.of_leased_task(tasks, &user, &header.task_id, lease_token).await?;
        let mut upload = workspace.upload(requests::header(header)?).await?;
        while let Some(part) = next(&mut parts).await? {
            match part {
                Part::Chunk(chunk) if chunk.len() > MAX_CHUNK => {
                    let what = format!("must have at most {MAX_CHUNK} bytes");
                    return Err(refuse("chunk", "max_length", &what).into());
                }
                Part::Chunk(chunk) => upload.write(Bytes::from(chunk)).await?,
                Part::Header(_) => return Err(refuse("header", "once", "must come once").into()),
            }
        }
        let document = record_doing(&from, upload.finish()).await?;
        Ok(Response::new(v1::PutDocumentResponse { document: Some(render::with_last_version(document)) }))
    }

    /// A document, and then its bytes.
    async fn get_document(
        &self,
        request: Request<v1::GetDocumentRequest>,
    ) -> Answered<Self::GetDocumentStream> {
        let (user, _, message) = split(request);
        let v1::GetDocumentRequest { task_id, path, version, offset, limit, blocks, metadata_only } = message;
        let workspace = self.workspaces.of_task(&user, &task_id).await?;
        let (found, content) = if metadata_only {
            (workspace.at(&path, version).await?, None)
        } else {
            let options = ReadOptions { version, offset, limit };
            let (document, content) = workspace.read(&path, options).await?;
            (document, Some(content))
        };
        let content_json = if blocks { render::structure(workspace.blocks(&found).await?) } else { None };
        let versions = workspace.versions(&found.path, u32::MAX, MAX_VERSIONS).await?;
        let versions = render::versions(versions);
        let document = v1::Document { content_json, versions, ..render::document(found) };
        let first = stream::iter([Ok(v1::GetDocumentResponse { part: Some(Sent::Document(document)) })]);
        let parts = match content {
            Some(content) => first.chain(read_ahead(&user.id, chunks(content))).boxed(),
            None => first.boxed(),
        };
        Ok(Response::new(parts))
    }

    async fn list_documents(
        &self,
        request: Request<v1::ListDocumentsRequest>,
    ) -> Answered<v1::ListDocumentsResponse> {
        let (user, _, message) = split(request);
        let v1::ListDocumentsRequest { task_id, filter, page_size, page_token } = message;
        let workspace = self.workspaces.of_task(&user, &task_id).await?;
        let page =
            self.workspaces.list(&workspace, &requests::criteria(filter)?, page_size, &page_token).await?;
        let documents = page.items.into_iter().map(render::document).collect();
        Ok(Response::new(v1::ListDocumentsResponse { documents, next_page_token: page.next }))
    }

    async fn search_documents(
        &self,
        request: Request<v1::SearchDocumentsRequest>,
    ) -> Answered<v1::SearchDocumentsResponse> {
        let (user, _, v1::SearchDocumentsRequest { task_id, query, filter, page_size }) = split(request);
        let workspace = self.workspaces.of_task(&user, &task_id).await?;
        let found =
            self.workspaces.search(&workspace, &query, &requests::criteria(filter)?, page_size).await?;
        let hits = found.hits.into_iter().map(|hit| v1::SearchHit {
            document: Some(render::document(hit.document)),
            snippet: hit.snippet,
        });
        let (hits, any_word) = (hits.collect(), found.any_word);
        Ok(Response::new(v1::SearchDocumentsResponse { hits, any_word }))
    }

    async fn list_versions(
        &self,
        request: Request<v1::ListVersionsRequest>,
    ) -> Answered<v1::ListVersionsResponse> {
        let (user, _, v1::ListVersionsRequest { task_id, path, page_size, page_token }) = split(request);
        let workspace = self.workspaces.of_task(&user, &task_id).await?;
        let page = self.workspaces.versions(&workspace, &path, page_size, &page_token).await?;
        let versions = page.items.into_iter().map(render::version).collect();
        Ok(Response::new(v1::ListVersionsResponse { versions, next_page_token: page.next }))
    }

    /// Changes the metadata of a document.
    async fn update_metadata(
        &self,
        request: Request<v1::UpdateMetadataRequest>,
    ) -> Answered<v1::UpdateMetadataResponse> {
        let (user, from, message) = split(request);
        let expected = requests::expected_state(&message.etag, message.precondition)?;
        let workspace = self.workspaces.of_task(&user, &message.task_id).await?;
        let edit = Edit {
            description: message.description,
            tags: message.tags.map(|tags| tags.tags),
            mime_type: message.mime_type,
        };
        let updated = record_doing(&from, workspace.update(&message.path, expected, edit)).await?;
        let document = Some(render::document(updated));
        Ok(Response::new(v1::UpdateMetadataResponse { document }))
    }

    async fn delete_document(
        &self,
        request: Request<v1::DeleteDocumentRequest>,
    ) -> Answered<v1::DeleteDocumentResponse> {
        let (user, from, v1::DeleteDocumentRequest { task_id, path, etag, precondition }) = split(request);
        let expected = requests::expected_state(&etag, precondition)?;
        let workspace = self.workspaces.of_task(&user, &task_id).await?;
        let deleted = record_doing(&from, workspace.delete(&path, expected)).await?;
        let document = Some(render::with_last_version(deleted));
        Ok(Response::new(v1::DeleteDocumentResponse { document }))
    }
}

/// The next part; none at the end of a stream that ended well.
async fn next(parts: &mut Streaming<v1::PutDocumentRequest>) -> Result<Option<Part>, Status> {
    let Some(message) = parts.message().await? else { return Ok(None) };
    let empty = || Status::from(refuse("part", "required", "must be a header or a chunk"));
    message.part.map(Some).ok_or_else(empty)
}

/// The bytes of a document, in chunks.
fn chunks(content: Content) -> impl Stream<Item = Result<v1::GetDocumentResponse, Status>> {
    stream::unfold(Some(content), |content| async {
        let mut content = content?;
        match content.next().await {
            Ok(None) => None,
            Ok(Some(chunk)) => {
                let part = Some(Sent::Chunk(chunk.into()));
                Some((Ok(v1::GetDocumentResponse { part }), Some(content)))
            }
            Err(refusal) => Some((Err(Refusal::from(refusal).into()), None)),
        }
    })
}
