//! `toolwire.workspace.v1.WorkspaceService`: the documents that the tasks of a tree share. How is in `workspace`.

use tonic::{Request, Response, Status, Streaming};

use super::{face::Face, service::Service, workspace};
use crate::{
    faces::{
        incoming::{self, noted},
        transport::rules::Rule,
    },
    service::request::refuse,
};
use toolwire_contract::proto::workspace::v1::{
    DeleteDocumentRequest, DeleteDocumentResponse, GetDocumentRequest, ListDocumentsRequest,
    ListDocumentsResponse, ListVersionsRequest, ListVersionsResponse, PutDocumentRequest,
    PutDocumentResponse, SearchDocumentsRequest, SearchDocumentsResponse, UpdateMetadataRequest,
    UpdateMetadataResponse,
    put_document_request::Part,
    workspace_service_server::{WorkspaceService, WorkspaceServiceServer},
};
use toolwire_tool::context::User;

pub(super) fn service() -> Service {
    super::service!(WorkspaceServiceServer, |face| face.clone())
        .except("PutDocument", Rule::TRANSFER)
        .except("GetDocument", Rule::TRANSFER)
}

#[tonic::async_trait]
impl WorkspaceService for Face {
    type GetDocumentStream = workspace::Download;

    async fn put_document(
        &self,
        request: Request<Streaming<PutDocumentRequest>>,
    ) -> Result<Response<PutDocumentResponse>, Status> {
        let (user, (_, from, mut parts)) = (user_of(&request), request.into_parts());
        let Some(Part::Header(header)) = next(&mut parts).await? else {
            return Err(refuse("header", "required", "must be the first message").into());
        };
        let mut upload = workspace::begin((&self.workspaces, self.tools.tasks()), &user, header).await?;
        while let Some(part) = next(&mut parts).await? {
            match part {
                Part::Chunk(chunk) => workspace::take(&mut upload, chunk).await?,
                Part::Header(_) => return Err(refuse("header", "once", "must come once").into()),
            }
        }
        Ok(Response::new(noted(&from, workspace::end(upload)).await?))
    }

    async fn get_document(
        &self,
        request: Request<GetDocumentRequest>,
    ) -> Result<Response<Self::GetDocumentStream>, Status> {
        let user = user_of(&request);
        Ok(Response::new(workspace::get(&self.workspaces, &user, request.into_inner()).await?))
    }

    async fn list_documents(
        &self,
        request: Request<ListDocumentsRequest>,
    ) -> Result<Response<ListDocumentsResponse>, Status> {
        let user = user_of(&request);
        Ok(Response::new(workspace::list(&self.workspaces, &user, request.into_inner()).await?))
    }

    async fn search_documents(
        &self,
        request: Request<SearchDocumentsRequest>,
    ) -> Result<Response<SearchDocumentsResponse>, Status> {
        let user = user_of(&request);
        Ok(Response::new(workspace::search(&self.workspaces, &user, request.into_inner()).await?))
    }

    async fn list_versions(
        &self,
        request: Request<ListVersionsRequest>,
    ) -> Result<Response<ListVersionsResponse>, Status> {
        let user = user_of(&request);
        Ok(Response::new(workspace::versions(&self.workspaces, &user, request.into_inner()).await?))
    }

    async fn update_metadata(
        &self,
        request: Request<UpdateMetadataRequest>,
    ) -> Result<Response<UpdateMetadataResponse>, Status> {
        let (user, (_, from, message)) = (user_of(&request), request.into_parts());
        Ok(Response::new(noted(&from, workspace::update(&self.workspaces, &user, message)).await?))
    }

    async fn delete_document(
        &self,
        request: Request<DeleteDocumentRequest>,
    ) -> Result<Response<DeleteDocumentResponse>, Status> {
        let (user, (_, from, message)) = (user_of(&request), request.into_parts());
        Ok(Response::new(noted(&from, workspace::delete(&self.workspaces, &user, message)).await?))
    }
}

/// The next part; none at the end of a stream that ended well.
async fn next(parts: &mut Streaming<PutDocumentRequest>) -> Result<Option<Part>, Status> {
    let Some(message) = parts.message().await? else { return Ok(None) };
    let empty = || Status::from(refuse("part", "required", "must be a header or a chunk"));
    message.part.map(Some).ok_or_else(empty)
}

fn user_of<T>(request: &Request<T>) -> User {
    incoming::user(request.extensions())
}
