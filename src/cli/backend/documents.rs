//! The documents that a command works with: those of a server, or those of this program's own state.

use bytes::BytesMut;
use futures_util::{StreamExt, stream};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    pin, select,
    sync::mpsc,
};
use tonic::{Request, Status, transport::Channel};

use super::{Backend, Local};
use toolwire_contract::proto::workspace::v1::{
    DeleteDocumentRequest, Document, GetDocumentRequest, ListDocumentsRequest, ListDocumentsResponse,
    ListVersionsRequest, ListVersionsResponse, PutDocumentRequest, PutHeader, SearchDocumentsRequest,
    SearchDocumentsResponse, put_document_request::Part, workspace_service_client::WorkspaceServiceClient,
};
use toolwire_server::{
    client::Server,
    faces::grpc::workspace::{self, Download},
};

/// A document goes on its way in pieces of so many bytes.
const PIECE: usize = 256 * 1024;

/// So many pieces are read ahead.
const AHEAD: usize = 2;

/// The documents that a command works with.
#[derive(Debug)]
pub(crate) enum Documents<'a> {
    /// Those of a server.
    Remote(&'a Server),
    /// Those of this program's own state.
    Local(&'a Local),
}

impl Backend {
    /// The documents that tasks share.
    pub(crate) fn documents(&self) -> Documents<'_> {
        match self {
            Self::Remote(remote) => Documents::Remote(remote.server()),
            Self::Local(local) => Documents::Local(local),
        }
    }
}

impl Documents<'_> {
    /// A page of documents.
    pub(crate) async fn list(&self, request: ListDocumentsRequest) -> Result<ListDocumentsResponse, Status> {
        match self {
            Self::Remote(server) => {
                let (mut client, request) = asking(server, request);
                Ok(client.list_documents(request).await?.into_inner())
            }
            Self::Local(local) => Ok(workspace::list(&local.app.workspaces(), &local.user, request).await?),
        }
    }

    /// Documents by words.
    pub(crate) async fn search(
        &self,
        request: SearchDocumentsRequest,
    ) -> Result<SearchDocumentsResponse, Status> {
        match self {
            Self::Remote(server) => {
                let (mut client, request) = asking(server, request);
                Ok(client.search_documents(request).await?.into_inner())
            }
            Self::Local(local) => Ok(workspace::search(&local.app.workspaces(), &local.user, request).await?),
        }
    }

    /// A page of versions.
    pub(crate) async fn versions(
        &self,
        request: ListVersionsRequest,
    ) -> Result<ListVersionsResponse, Status> {
        match self {
            Self::Remote(server) => {
                let (mut client, request) = asking(server, request);
                Ok(client.list_versions(request).await?.into_inner())
            }
            Self::Local(local) => {
                Ok(workspace::versions(&local.app.workspaces(), &local.user, request).await?)
            }
        }
    }

    /// A document, and then its bytes.
    pub(crate) async fn get(&self, request: GetDocumentRequest) -> Result<Download, Status> {
        match self {
            Self::Remote(server) => {
                let (mut client, request) = asking(server, request);
                Ok(client.get_document(request).await?.into_inner().boxed())
            }
            Self::Local(local) => Ok(workspace::get(&local.app.workspaces(), &local.user, request).await?),
        }
    }

    /// Deletes a document.
    pub(crate) async fn delete(&self, request: DeleteDocumentRequest) -> Result<Document, Status> {
        let answer = match self {
            Self::Remote(server) => {
                let (mut client, request) = asking(server, request);
                client.delete_document(request).await?.into_inner()
            }
            Self::Local(local) => workspace::delete(&local.app.workspaces(), &local.user, request).await?,
        };
        answer.document.ok_or_else(without_document)
    }

    /// Writes a document of all that comes from a reader. If the reader fails, nothing is written.
    pub(crate) async fn put(
        &self,
        header: PutHeader,
        mut reader: impl AsyncRead + Unpin,
    ) -> Result<Document, Status> {
        let answer = match self {
            Self::Remote(server) => return send(server, header, reader).await,
            Self::Local(local) => {
                let mut upload =
                    workspace::begin((&local.app.workspaces(), local.app.tools.tasks()), &local.user, header)
                        .await?;
                while let Some(piece) = piece(&mut reader).await? {
                    workspace::take(&mut upload, piece).await?;
                }
                workspace::end(upload).await?
            }
        };
        answer.document.ok_or_else(without_document)
    }
}

/// The stream ends only when all was read: what is cut off must not look like the end.
async fn send(
    server: &Server,
    header: PutHeader,
    mut reader: impl AsyncRead + Unpin,
) -> Result<Document, Status> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    let rest = stream::unfold(receiver, async |mut receiver: mpsc::Receiver<Part>| {
        Some((receiver.recv().await?, receiver))
    });
    let parts = stream::iter([Part::Header(header)]).chain(rest);
    let (mut client, request) = asking(server, parts.map(|part| PutDocumentRequest { part: Some(part) }));
    let answer = client.put_document(request);
    pin!(answer);
    let reading = async {
        while let Some(piece) = piece(&mut reader).await? {
            if sender.send(Part::Chunk(piece)).await.is_err() {
                break;
            }
        }
        Ok::<_, Status>(())
    };
    let early = select! {
        answer = &mut answer => Some(answer),
        read = reading => read.map(|()| None)?,
    };
    drop(sender);
    let answer = match early {
        Some(answer) => answer,
        None => answer.await,
    };
    answer?.into_inner().document.ok_or_else(without_document)
}

/// The next bytes; none at the end.
async fn piece(reader: &mut (impl AsyncRead + Unpin)) -> Result<Option<Vec<u8>>, Status> {
    let mut piece = BytesMut::with_capacity(PIECE);
    let failed = |error| Status::aborted(format!("the file cannot be read to its end: {error}"));
    while piece.len() < PIECE && reader.read_buf(&mut piece).await.map_err(failed)? > 0 {}
    Ok((!piece.is_empty()).then(|| piece.to_vec()))
}

fn asking<T>(server: &Server, message: T) -> (WorkspaceServiceClient<Channel>, Request<T>) {
    (WorkspaceServiceClient::new(server.channel()), server.request(message))
}

fn without_document() -> Status {
    Status::internal("the server answered without a document")
}
