//! Uploads of versions, in chunks: the first bytes are buffered for analysis, and large blobs go to the disk.

mod header;

use bytes::{Bytes, BytesMut};
use tracing::Instrument;

pub use self::header::Header;
pub(super) use self::header::validate;
use self::header::{expected, mime_type, request_digest, size_mismatch};
use super::{
    WorkspaceHandle,
    index::{self, Metadata},
    mime,
    path::Path,
    quota, summary, unavailable, unreadable,
    uploads::Reservation,
    utf8::{self, Utf8},
};
use crate::{
    audit,
    blobs::{MAX_INLINE_BYTES, Sink, Stored},
    documents::{Body, Content, Document, MAX_DOCUMENT_BYTES, Mutation, Put, Terms},
};
use toolwire_base::{digest::Digest, offload};
use toolwire_contract::DocumentRefusal;
use toolwire_db::StoreError;
use toolwire_tokens as tokens;

/// Maximum buffered bytes of an upload, from which type, summary and search terms are derived.
const HEAD_BYTES: usize = 256 * 1024;

/// Bytes whose tokens are counted in one step.
const TOKEN_CHUNK_BYTES: usize = 1024 * 1024;

/// An upload of a version. If it is dropped before `finish`, it leaves nothing.
#[derive(Debug)]
pub struct Upload {
    handle: WorkspaceHandle,
    header: Header,
    path: Path,
    sink: Sink,
    head: BytesMut,
    /// The validator, while all bytes so far are UTF-8.
    utf8: Option<Utf8>,
    /// The reservation of a large upload.
    reserved: Option<Reservation>,
}

/// The content and search terms derived from the bytes.
pub(super) struct Analysis {
    pub(super) content: Content,
    pub(super) terms: Terms,
}

impl WorkspaceHandle {
    /// Begins an upload. An invalid header is refused before any byte is accepted.
    pub async fn upload(&self, mut header: Header) -> Result<Upload, DocumentRefusal> {
        let path = validate(&mut header)?;
        let sink = self.store().begin_blob().await.map_err(|error| unavailable(&error))?;
        let (handle, head, utf8) = (self.clone(), BytesMut::new(), Some(Utf8::default()));
        let stated = header.size;
        let mut upload = Upload { handle, header, path, sink, head, utf8, reserved: None };
        upload.reserve(stated).await?;
        Ok(upload)
    }

    /// Writes a version from bytes in memory.
    pub async fn put(&self, header: Header, bytes: Bytes) -> Result<Document, DocumentRefusal> {
        let mut upload = self.upload(header).await?;
        upload.write(bytes).await?;
        upload.finish().await
    }
}

impl Upload {
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), DocumentRefusal> {
        let size = self.sink.size() + bytes.len() as u64;
        if self.header.size != 0 && size > self.header.size {
            return Err(size_mismatch(self.header.size, "more"));
        }
        self.reserve(size).await?;
        let room = HEAD_BYTES - self.head.len();
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if let Some(utf8) = &mut self.utf8
            && !utf8.push(&bytes)
        {
            self.utf8 = None;
        }
        self.sink.write(bytes).await.map_err(|error| unavailable(&error))
    }

    /// Reserves `bytes` in total, if they exceed the size of an inline blob, so that an upload over quota is refused
    /// early.
    async fn reserve(&mut self, bytes: u64) -> Result<(), DocumentRefusal> {
        if bytes <= MAX_INLINE_BYTES as u64 {
            return Ok(());
        }
        if bytes > MAX_DOCUMENT_BYTES {
            return Err(quota::too_large(self.path.as_str()));
        }
        let reserved = match &mut self.reserved {
            Some(reserved) => reserved,
            none => none.insert(self.handle.reserve(&self.header, &self.path).await?),
        };
        let grown = reserved.grow(bytes);
        grown.map_err(|full| quota::exceeded(full, &self.handle.tree, self.path.as_str()))
    }

    /// Writes the version after all bytes have been received. It continues in a task of its own even if the caller is
    /// dropped, so that no unreferenced blob remains.
    pub async fn finish(self) -> Result<Document, DocumentRefusal> {
        let handle = self.handle.clone();
        let work = async move { handle.on_behalf(Box::pin(self.finish_here())).await };
        let work = audit::on_behalf(audit::current_origin(), work);
        tokio::spawn(work.in_current_span()).await.unwrap_or_else(|_| Err(unavailable(&StoreError::Late)))
    }

    async fn finish_here(self) -> Result<Document, DocumentRefusal> {
        let Self { handle, header, path, sink, head, utf8, reserved: _reserved } = self;
        let (digest, size) = (sink.digest(), sink.size());
        if header.size != 0 && header.size != size {
            return Err(size_mismatch(header.size, &size.to_string()));
        }
        if !header.digest.is_empty() && header.digest != digest.to_string() {
            let (expected, found) = (header.digest, digest.to_string());
            return Err(DocumentRefusal::DigestMismatch { expected, found });
        }
        let is_text = utf8.is_some_and(|utf8| utf8.is_whole());
        let mime_type = mime_type(&header, &path, &head, is_text)?;
        let stored = sink.finish().await.map_err(|error| unavailable(&error))?;
        let kept = stored.clone();
        let bytes = Received { stored, head: head.freeze(), size, digest, mime_type, is_text };
        let written = handle.write_received(header, &path, bytes).await;
        if written.is_err()
            && let Err(error) = handle.store().discard_blob(kept).await
        {
            tracing::warn!(%error, "bytes of a refused document stay until they are swept");
        }
        written
    }
}

/// Received bytes and their properties.
struct Received {
    stored: Stored,
    head: Bytes,
    size: u64,
    digest: Digest,
    mime_type: String,
    is_text: bool,
}

impl WorkspaceHandle {
    /// Checks the write before its bytes are received, and begins a reservation.
    async fn reserve(&self, header: &Header, path: &Path) -> Result<Reservation, DocumentRefusal> {
        let change = self.change(path.as_str(), expected(header));
        let remaining = self.store().precheck_document(&change, header.request_id).await;
        match remaining.map_err(|error| unavailable(&error))? {
            Ok(remaining) => Ok(self.shared.uploads.begin(&self.tree.user, remaining)),
            Err(refused) => Err(self.explain(path.as_str(), refused).await),
        }
    }

    async fn write_received(
        &self,
        header: Header,
        path: &Path,
        received: Received,
    ) -> Result<Document, DocumentRefusal> {
        let Received { stored, head, size, digest, mime_type, is_text } = received;
        let tokens = self.tokens(&mime_type, is_text, &stored, path.as_str()).await?;
        let (description, tags) = self.resulting_metadata(path, &header).await?;
        let untrusted = header.untrusted || self.tree.tainted;
        let analysis = {
            let path = path.as_str().to_owned();
            offload::if_large(head.len(), move || {
                let summary = summary::of_prefix(&mime_type, &head, size);
                let text = utf8::prefix(&head).filter(|_| is_text && mime::is_text(&mime_type));
                let metadata =
                    Metadata { path: &path, description: &description, tags: &tags, summary: &summary };
                let terms = index::terms_of(&metadata, text.unwrap_or_default());
                let (tokens, tokens_estimated) = tokens;
                let digest = Some(digest);
                let content =
                    Content { digest, size, mime_type, tokens, tokens_estimated, summary, untrusted };
                Analysis { content, terms }
            })
        };
        self.write(header, path, stored, analysis.await).await
    }

    /// The description and the tags that the document will have after this write.
    pub(super) async fn resulting_metadata(
        &self,
        path: &Path,
        header: &Header,
    ) -> Result<(String, Vec<String>), DocumentRefusal> {
        let present = self.store().document(self.root(), path.as_str()).await;
        let present = present.map_err(|error| unavailable(&error))?;
        let (description, tags) = present.map(|it| (it.description, it.tags)).unwrap_or_default();
        let Header { description: new, tags: new_tags, .. } = header;
        Ok((new.clone().unwrap_or(description), new_tags.clone().unwrap_or(tags)))
    }

    pub(super) async fn write(
        &self,
        header: Header,
        path: &Path,
        stored: Stored,
        analysis: Analysis,
    ) -> Result<Document, DocumentRefusal> {
        let expected = expected(&header);
        let mutation = header.request_id.map(|request_id| Mutation {
            request_id,
            digest: request_digest(self, &header, path, &stored.digest),
        });
        let mut change = self.change(path.as_str(), expected);
        (change.why, change.call_id) = (header.why, header.call_id);
        let Analysis { content, terms } = analysis;
        let body = stored.inline.map_or(Body::Kept, Body::Inline);
        let (description, tags) = (header.description, header.tags);
        let put = Put { change, content, body, description, tags, terms, mutation };
        match self.store().put_document(&put).await.map_err(|error| unavailable(&error))? {
            Ok(document) => Ok(document),
            Err(refused) => match (self.explain(path.as_str(), refused).await, header.request_id) {
                (DocumentRefusal::RequestIdReused { .. }, Some(request_id)) => {
                    Err(DocumentRefusal::RequestIdReused { request_id: request_id.to_string() })
                }
                (refusal, _) => Err(refusal),
            },
        }
    }

    /// The number of tokens of a text, and whether it is an estimate.
    async fn tokens(
        &self,
        mime_type: &str,
        is_text: bool,
        stored: &Stored,
        path: &str,
    ) -> Result<(u64, bool), DocumentRefusal> {
        if !is_text || !mime::is_text(mime_type) {
            return Ok((0, false));
        }
        if tokens::is_estimated(stored.size) {
            return Ok((tokens::estimate(stored.size), true));
        }
        let damaged = |error| unreadable(&error, path, 0);
        let mut source = self.store().reopen_blob(stored).await.map_err(damaged)?;
        let (mut count, mut rest) = (0, BytesMut::new());
        loop {
            let piece = source.next().await.map_err(damaged)?;
            let is_over = piece.is_none();
            rest.extend_from_slice(&piece.unwrap_or_default());
            if is_over || rest.len() >= TOKEN_CHUNK_BYTES {
                let end = if is_over { rest.len() } else { line_end(&rest) };
                let piece = rest.split_to(end).freeze();
                count += offload::if_large(piece.len(), move || {
                    std::str::from_utf8(&piece).map_or(0, tokens::count)
                })
                .await;
            }
            if is_over {
                return Ok((count, false));
            }
        }
    }
}

/// The end of the last line that is followed by a printable character other than a space, so that no token spans the
/// cut. If there is none, the last boundary of a character.
fn line_end(bytes: &[u8]) -> usize {
    let ends = |at: &usize| bytes[at - 1] == b'\n' && bytes[*at].is_ascii_graphic();
    let character = |at: &usize| bytes[*at] & 0xc0 != 0x80;
    let last = (1..bytes.len()).rev().find(ends);
    last.or_else(|| (1..bytes.len()).rev().find(character)).unwrap_or(bytes.len())
}
