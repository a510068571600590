//! Uploads documents piece by piece, and deletes them.

use bytes::BytesMut;
use futures_util::{StreamExt, stream};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    pin, select,
    sync::mpsc,
};
use tonic::Status;

use super::{Backend, without};
use toolwire_contract::proto::workspace::v1::{
    DeleteDocumentRequest, Document, PutDocumentRequest, PutHeader, put_document_request::Part,
};

/// The size of the pieces in which a document is sent, in bytes.
const PIECE: usize = 256 * 1024;

/// The number of chunks that are read ahead.
const AHEAD: usize = 2;

impl Backend {
    pub(crate) async fn delete_document(&self, request: DeleteDocumentRequest) -> Result<Document, Status> {
        let answer = self.documents().delete_document(request).await?.into_inner();
        answer.document.ok_or_else(|| without("a document"))
    }

    /// Writes a document of all that comes from a reader. If the reader fails, nothing is written: the stream ends only
    /// when all was read, since what is cut off must not look like the end.
    pub(crate) async fn put_document(
        &self,
        header: PutHeader,
        mut reader: impl AsyncRead + Unpin,
    ) -> Result<Document, Status> {
        let (sender, receiver) = mpsc::channel(AHEAD);
        let rest = stream::unfold(receiver, async |mut receiver: mpsc::Receiver<Part>| {
            Some((receiver.recv().await?, receiver))
        });
        let parts = stream::iter([Part::Header(header)]).chain(rest);
        let mut client = self.documents();
        let answer = client.put_document(parts.map(|part| PutDocumentRequest { part: Some(part) }));
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
        answer?.into_inner().document.ok_or_else(|| without("a document"))
    }
}

/// The next bytes; none at the end.
async fn piece(reader: &mut (impl AsyncRead + Unpin)) -> Result<Option<Vec<u8>>, Status> {
    let mut piece = BytesMut::with_capacity(PIECE);
    let failed = |error| Status::aborted(format!("the file cannot be read to its end: {error}"));
    while piece.len() < PIECE && reader.read_buf(&mut piece).await.map_err(failed)? > 0 {}
    Ok((!piece.is_empty()).then(|| piece.to_vec()))
}
