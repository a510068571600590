//! Workspaces: what is written is kept as it was, by version; and nobody sees the documents of somebody else.

mod broken;
mod cli;
mod crash;
mod documents;
mod earlier_index;
mod races;
mod refused_uploads;
mod search;
mod speed;
mod transfer;
mod users;

use std::path::Path;

use crate::support::state;
use futures_util::stream;
use tempfile::TempDir;
use tonic::{Code, Request, Status, transport::Channel};
use tonic_types::StatusExt;
use toolwire::{
    base::digest::Digest,
    contract::proto::workspace::v1::{
        DeleteDocumentRequest, Document, DocumentFilter, GetDocumentRequest, ListDocumentsRequest,
        PutDocumentRequest, PutHeader, SearchDocumentsRequest, SearchDocumentsResponse,
        get_document_response, put_document_request::Part, workspace_service_client::WorkspaceServiceClient,
    },
    db::sql,
    state::Store,
    tool::context::{RequestId, TaskId},
};

use crate::support::server::{Server, config};

/// A server, and where its state is.
struct House {
    server: Server,
    state: TempDir,
}

/// One user's documents.
#[derive(Clone)]
struct Person {
    client: WorkspaceServiceClient<Channel>,
    name: &'static str,
    task: String,
}

impl House {
    fn open() -> Self {
        let state = tempfile::tempdir().unwrap();
        let mut config = config();
        state::keep_in(&mut config.state, state.path());
        Self { server: Server::with(config), state }
    }

    /// One whose state is in SQLite in any case, with large documents in files.
    fn of_sqlite() -> Self {
        let state = tempfile::tempdir().unwrap();
        let mut config = config();
        config.state.dir = Some(state.path().to_owned());
        Self { server: Server::with(config), state }
    }

    fn state(&self) -> &Store {
        &self.server.app.state
    }

    /// A user with a tree of one task.
    async fn person(&self, name: &'static str) -> Person {
        let task = root(self.state(), name, false).await;
        Person { client: WorkspaceServiceClient::new(self.server.channel().await), name, task }
    }

    fn files(&self) -> Vec<String> {
        files(&self.state.path().join("blobs"))
    }

    async fn count(&self, statement: &'static str) -> i64 {
        state::row(self.state(), statement).await
    }
}

/// Adds a root of a user's.
async fn root(state: &Store, user: &str, tainted: bool) -> String {
    let id = TaskId::generate().to_string();
    task(state, &id, &id, user, tainted).await;
    id
}

/// Adds a task.
async fn task(state: &Store, id: &str, root: &str, user: &str, tainted: bool) {
    // As far as documents need one.
    let add = sql!(
        "INSERT INTO tasks (id, root, user_id, tainted, kind, role, request, documents, state, waiting_step,
         result_documents, message, depth, next, bytes, lease_holder, lease_token, lease_until, created_at, updated_at,
         deadline, labels, master_next, position) VALUES ({id}, {root}, {user}, {tainted}, 'root', '', '', '[]',
         'pending', 0, '[]', '', 0, 0, 0, '', 0, 0, 0, 0, 9000000000000, '', 0, 0)"
    );
    state::run(state, add).await;
    let count = sql!(
        "INSERT INTO timeline_usage (user_id, tasks, bytes, last) VALUES ({user}, 1, 0, 0)
         ON CONFLICT (user_id) DO UPDATE SET tasks = timeline_usage.tasks + 1"
    );
    state::run(state, count).await;
}

/// The files below a directory, by their names.
fn files(directory: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let below = entries.flat_map(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path)
        } else {
            vec![path.file_name().unwrap().to_str().unwrap().to_owned()]
        }
    });
    below.collect()
}

impl Person {
    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.metadata_mut().insert("x-toolwire-user", self.name.parse().unwrap());
        request
    }

    fn header(&self, path: &str) -> PutHeader {
        PutHeader {
            task_id: self.task.clone(),
            path: path.to_owned(),
            request_id: RequestId::generate().to_string(),
            ..PutHeader::default()
        }
    }

    async fn put(&self, path: &str, bytes: &[u8]) -> Result<Document, Status> {
        self.put_with(self.header(path), bytes).await
    }

    async fn put_with(&self, header: PutHeader, bytes: &[u8]) -> Result<Document, Status> {
        let chunks = bytes.chunks(100_000).map(|chunk| Part::Chunk(chunk.to_vec()));
        self.put_parts([Part::Header(header)].into_iter().chain(chunks).collect()).await
    }

    async fn put_parts(&self, parts: Vec<Part>) -> Result<Document, Status> {
        let parts = parts.into_iter().map(|part| PutDocumentRequest { part: Some(part) });
        let parts = stream::iter(parts.collect::<Vec<_>>());
        let answer = self.client.clone().put_document(self.request(parts)).await?;
        Ok(answer.into_inner().document.unwrap())
    }

    fn wanted(&self, path: &str) -> GetDocumentRequest {
        GetDocumentRequest { task_id: self.task.clone(), path: path.to_owned(), ..Default::default() }
    }

    async fn get(&self, path: &str) -> Result<(Document, Vec<u8>), Status> {
        self.get_with(self.wanted(path)).await
    }

    async fn get_with(&self, wanted: GetDocumentRequest) -> Result<(Document, Vec<u8>), Status> {
        use get_document_response::Part;
        let mut parts = self.client.clone().get_document(self.request(wanted)).await?.into_inner();
        let (mut document, mut bytes) = (None, Vec::new());
        while let Some(message) = parts.message().await? {
            match message.part.unwrap() {
                Part::Document(it) => assert!(document.replace(it).is_none(), "once"),
                Part::Chunk(chunk) => {
                    assert!(chunk.len() <= 64 * 1024 && document.is_some());
                    bytes.extend(chunk);
                }
            }
        }
        Ok((document.unwrap(), bytes))
    }

    async fn delete(&self, path: &str, etag: &str) -> Result<Document, Status> {
        let (task_id, path, etag) = (self.task.clone(), path.to_owned(), etag.to_owned());
        let request = self.request(DeleteDocumentRequest { task_id, path, etag, precondition: None });
        Ok(self.client.clone().delete_document(request).await?.into_inner().document.unwrap())
    }

    async fn list(&self, filter: DocumentFilter) -> Result<Vec<String>, Status> {
        let request = ListDocumentsRequest {
            task_id: self.task.clone(),
            filter: Some(filter),
            ..ListDocumentsRequest::default()
        };
        let page = self.client.clone().list_documents(self.request(request)).await?.into_inner();
        Ok(page.documents.into_iter().map(|it| it.path).collect())
    }

    async fn find(&self, query: &str) -> Result<SearchDocumentsResponse, Status> {
        let request = SearchDocumentsRequest {
            task_id: self.task.clone(),
            query: query.to_owned(),
            ..SearchDocumentsRequest::default()
        };
        Ok(self.client.clone().search_documents(self.request(request)).await?.into_inner())
    }

    /// The paths that a query finds, best first.
    async fn found(&self, query: &str) -> Vec<String> {
        let found = self.find(query).await.unwrap();
        found.hits.into_iter().map(|hit| hit.document.unwrap().path).collect()
    }
}

fn hex(bytes: &[u8]) -> String {
    Digest::of_bytes(bytes).to_string()
}

#[track_caller]
fn refused<T: std::fmt::Debug>(answer: Result<T, Status>) -> (Code, String) {
    let status = answer.unwrap_err();
    let reason = status.get_details_error_info().map(|info| info.reason).unwrap_or_default();
    (status.code(), reason)
}

fn said(code: Code, reason: &str) -> (Code, String) {
    (code, reason.to_owned())
}
