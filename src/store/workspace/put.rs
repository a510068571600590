//! A version on its way in: bytes in pieces, of which the first are kept in memory to look at, and the rest go to the
//! disk.

mod header;

use bytes::{Bytes, BytesMut};
use tracing::Instrument;

pub use self::header::Header;
pub(super) use self::header::checked;
use self::header::{asked, expected, mime_type, of_other_size};
use super::{
    WorkspaceHandle,
    arriving::Reserved,
    index::{self, Metadata},
    mime,
    path::Path,
    quota, summary, unavailable, unreadable,
    utf8::{self, Utf8},
};
use crate::{
    StoreError, audit,
    blobs::{SMALL, Sink, Stored},
    documents::{Body, Content, Document, MAX_DOCUMENT_BYTES, Mutation, Put, Terms},
};
use toolwire_base::{digest::Digest, offload};
use toolwire_contract::DocumentRefusal;
use toolwire_tokens as tokens;

/// Bytes of an upload that are kept in memory: type, summary and terms are made from them.
const HEAD: usize = 256 * 1024;

/// Bytes whose tokens are counted at once.
const COUNTED: usize = 1024 * 1024;

/// A version on its way in. Dropped before its end, it leaves nothing.
#[derive(Debug)]
pub struct Upload {
    handle: WorkspaceHandle,
    header: Header,
    path: Path,
    sink: Sink,
    head: BytesMut,
    /// Whether all of it is text so far.
    utf8: Option<Utf8>,
    /// What it counts while it comes, once it is large.
    reserved: Option<Reserved>,
}

/// What was read out of the bytes.
pub(super) struct Analysis {
    pub(super) content: Content,
    pub(super) terms: Terms,
}

impl WorkspaceHandle {
    /// Begins a version. What is wrong with the header is said before any byte comes.
    pub async fn upload(&self, mut header: Header) -> Result<Upload, DocumentRefusal> {
        let path = checked(&mut header)?;
        let sink = self.store().begin_blob().await.map_err(|error| unavailable(&error))?;
        let (handle, head, utf8) = (self.clone(), BytesMut::new(), Some(Utf8::default()));
        let stated = header.size;
        let mut upload = Upload { handle, header, path, sink, head, utf8, reserved: None };
        upload.reserve(stated).await?;
        Ok(upload)
    }

    /// Writes a version of bytes that are in memory.
    pub async fn put(&self, header: Header, bytes: Bytes) -> Result<Document, DocumentRefusal> {
        let mut upload = self.upload(header).await?;
        upload.write(bytes).await?;
        upload.finish().await
    }
}

impl Upload {
    /// Takes some more bytes.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), DocumentRefusal> {
        let size = self.sink.size() + bytes.len() as u64;
        if self.header.size != 0 && size > self.header.size {
            return Err(of_other_size(self.header.size, "more"));
        }
        self.reserve(size).await?;
        let room = HEAD - self.head.len();
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if let Some(utf8) = &mut self.utf8
            && !utf8.push(&bytes)
        {
            self.utf8 = None;
        }
        self.sink.write(bytes).await.map_err(|error| unavailable(&error))
    }

    /// Counts so many bytes, if they are more than a row takes. What would be refused in the end is refused at once.
    async fn reserve(&mut self, bytes: u64) -> Result<(), DocumentRefusal> {
        if bytes <= SMALL as u64 {
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

    /// Writes the version, now that all bytes are there. Once begun it goes on without whoever waits for it, so that no
    /// bytes stay that nothing names.
    pub async fn finish(self) -> Result<Document, DocumentRefusal> {
        let handle = self.handle.clone();
        let work = async move { handle.on_behalf(self.finish_here()).await };
        let work = audit::on_behalf(audit::by(), work);
        tokio::spawn(work.in_current_span()).await.unwrap_or_else(|_| Err(unavailable(&StoreError::Late)))
    }

    async fn finish_here(self) -> Result<Document, DocumentRefusal> {
        let Self { handle, header, path, sink, head, utf8, reserved: _reserved } = self;
        let (digest, size) = (sink.digest(), sink.size());
        if header.size != 0 && header.size != size {
            return Err(of_other_size(header.size, &size.to_string()));
        }
        if !header.digest.is_empty() && header.digest != digest.to_string() {
            let (expected, found) = (header.digest, digest.to_string());
            return Err(DocumentRefusal::DigestMismatch { expected, found });
        }
        let is_text = utf8.is_some_and(|utf8| utf8.is_whole());
        let mime_type = mime_type(&header, &path, &head, is_text)?;
        let stored = sink.finish().await.map_err(|error| unavailable(&error))?;
        let kept = stored.clone();
        let bytes = Arrived { stored, head: head.freeze(), size, digest, mime_type, is_text };
        let written = handle.write_arrived(header, &path, bytes).await;
        if written.is_err()
            && let Err(error) = handle.store().discard_blob(kept).await
        {
            tracing::warn!(%error, "bytes of a refused document stay until they are swept");
        }
        written
    }
}

/// Bytes that came, and what is known of them.
struct Arrived {
    stored: Stored,
    head: Bytes,
    size: u64,
    digest: Digest,
    mime_type: String,
    is_text: bool,
}

impl WorkspaceHandle {
    /// Reserves bytes for a version that comes.
    async fn reserve(&self, header: &Header, path: &Path) -> Result<Reserved, DocumentRefusal> {
        let change = self.change(path.as_str(), expected(header));
        let remaining = self.store().precheck_document(&change, header.request_id).await;
        match remaining.map_err(|error| unavailable(&error))? {
            Ok(remaining) => Ok(self.shared.arriving.begin(&self.tree.user, remaining)),
            Err(refused) => Err(self.explain(path.as_str(), refused).await),
        }
    }

    async fn write_arrived(
        &self,
        header: Header,
        path: &Path,
        arrived: Arrived,
    ) -> Result<Document, DocumentRefusal> {
        let Arrived { stored, head, size, digest, mime_type, is_text } = arrived;
        let tokens = self.tokens(&mime_type, is_text, &stored, path.as_str()).await?;
        let (description, tags) = self.resulting_metadata(path, &header).await?;
        let untrusted = header.untrusted || self.tree.tainted;
        let analysis = {
            let path = path.as_str().to_owned();
            offload::if_large(head.len(), move || {
                let summary = summary::of_first(&mime_type, &head, size);
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

    /// The description and the tags that a document will have once this header is written.
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
        let mutation = header
            .request_id
            .map(|request_id| Mutation { request_id, digest: asked(self, &header, path, &stored.digest) });
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

    /// The tokens of a text, and whether they are estimated.
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
            if is_over || rest.len() >= COUNTED {
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

/// Where the last line ends after which another one begins with a character that is no space, so that no token goes on
/// there. Without one, where a character ends.
fn line_end(bytes: &[u8]) -> usize {
    let ends = |at: &usize| bytes[at - 1] == b'\n' && bytes[*at].is_ascii_graphic();
    let character = |at: &usize| bytes[*at] & 0xc0 != 0x80;
    let last = (1..bytes.len()).rev().find(ends);
    last.or_else(|| (1..bytes.len()).rev().find(character)).unwrap_or(bytes.len())
}
