//! A version on its way in: bytes in pieces, of which the first are kept in memory to look at, and the rest go to the
//! disk.

use bytes::{Bytes, BytesMut};

use super::{
    Room,
    index::{self, Said},
    mime,
    path::Path,
    quota, summary, text, unavailable, unreadable,
    utf8::{self, Utf8},
};
use crate::{
    context::RequestId,
    contract::DocumentRefusal,
    digest::Digest,
    offload,
    store::{
        blobs::{Sink, Stored},
        documents::{Body, Content, Document, Expected, MAX_DOCUMENT_BYTES, Mutation, Put, Terms},
    },
    tokens,
};

/// So many bytes are kept in memory of a document that comes: type, summary and words are made from them.
const HEAD: usize = 256 * 1024;

/// Tokens are counted in pieces of so many bytes.
const COUNTED: usize = 1024 * 1024;

/// What is written, and where.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// The path.
    pub path: String,
    /// The type. Empty: detected.
    pub mime_type: String,
    /// What the author says of it; `None`: as it is.
    pub description: Option<String>,
    /// The tags; `None`: as they are.
    pub tags: Option<Vec<String>>,
    /// Why it is written.
    pub why: String,
    /// The etag that it replaces. Empty: any. `*`: the path must be new.
    pub etag: String,
    /// SHA-256 of the bytes, in hex. Empty: not checked.
    pub digest: String,
    /// The size, if it is known.
    pub size: u64,
    /// By which a repeat is recognised.
    pub request_id: Option<RequestId>,
    /// The call that writes; empty if none does.
    pub call_id: String,
    /// Whether there is text from outside in it, though its task has read none.
    pub untrusted: bool,
}

/// A version on its way in. Dropped before its end, it leaves nothing.
#[derive(Debug)]
pub struct Upload {
    room: Room,
    header: Header,
    path: Path,
    sink: Sink,
    /// The first bytes.
    head: BytesMut,
    /// Whether all of it is text so far.
    utf8: Option<Utf8>,
}

/// What was found out of the bytes.
pub(super) struct Found {
    pub(super) content: Content,
    pub(super) terms: Terms,
}

impl Room {
    /// Begins a version. What is wrong with the header is said before any byte comes.
    pub async fn upload(&self, mut header: Header) -> Result<Upload, DocumentRefusal> {
        let path = checked(&mut header)?;
        let sink = self.blobs().begin().await.map_err(|error| unavailable(&error))?;
        let (room, head, utf8) = (self.clone(), BytesMut::new(), Some(Utf8::default()));
        Ok(Upload { room, header, path, sink, head, utf8 })
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
        if self.sink.size() + bytes.len() as u64 > MAX_DOCUMENT_BYTES {
            return Err(quota::too_large(self.path.as_str()));
        }
        let room = HEAD - self.head.len();
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if let Some(utf8) = &mut self.utf8
            && !utf8.push(&bytes)
        {
            self.utf8 = None;
        }
        self.sink.write(bytes).await.map_err(|error| unavailable(&error))
    }

    /// Writes the version, now that all bytes are there.
    pub async fn finish(self) -> Result<Document, DocumentRefusal> {
        let Self { room, header, path, sink, head, utf8 } = self;
        let (digest, size) = (sink.digest(), sink.size());
        if header.size != 0 && header.size != size {
            let what = format!("says {}, and {size} bytes came; nothing was stored", header.size);
            return Err(DocumentRefusal::invalid("size_bytes", "const", &what));
        }
        if !header.digest.is_empty() && header.digest != digest.to_string() {
            let (expected, found) = (header.digest, digest.to_string());
            return Err(DocumentRefusal::DigestMismatch { expected, found });
        }
        let is_text = utf8.is_some_and(|utf8| utf8.is_whole());
        let mime_type = mime_type(&header, &path, &head, is_text)?;
        let stored = sink.finish().await.map_err(|error| unavailable(&error))?;
        let tokens = room.tokens(&mime_type, is_text, &stored, path.as_str()).await?;
        let (description, tags) = room.said(&path, &header).await?;
        let untrusted = header.untrusted || room.tree.tainted;
        let found = {
            let (path, head) = (path.as_str().to_owned(), head.freeze());
            offload::if_large(head.len(), move || {
                let summary = summary::of_first(&mime_type, &head, size);
                let text = utf8::prefix(&head).filter(|_| is_text && mime::is_text(&mime_type));
                let said = Said { path: &path, description: &description, tags: &tags, summary: &summary };
                let terms = index::terms_of(&said, text.unwrap_or_default());
                let (tokens, tokens_estimated) = tokens;
                let digest = Some(digest);
                let content =
                    Content { digest, size, mime_type, tokens, tokens_estimated, summary, untrusted };
                Found { content, terms }
            })
        };
        room.write(header, &path, stored, found.await).await
    }
}

impl Room {
    /// What will be said of a document, once this header is written.
    pub(super) async fn said(
        &self,
        path: &Path,
        header: &Header,
    ) -> Result<(String, Vec<String>), DocumentRefusal> {
        let standing = self.documents().find(self.root(), path.as_str()).await;
        let standing = standing.map_err(|error| unavailable(&error))?;
        let (description, tags) = standing.map(|it| (it.description, it.tags)).unwrap_or_default();
        let Header { description: new, tags: new_tags, .. } = header;
        Ok((new.clone().unwrap_or(description), new_tags.clone().unwrap_or(tags)))
    }

    pub(super) async fn write(
        &self,
        header: Header,
        path: &Path,
        stored: Stored,
        found: Found,
    ) -> Result<Document, DocumentRefusal> {
        let expected = match header.etag.as_str() {
            "" => Expected::Any,
            "*" => Expected::New,
            _ => Expected::Etag(header.etag.clone()),
        };
        let mutation = header
            .request_id
            .map(|request_id| Mutation { request_id, digest: asked(self, &header, path, &stored.digest) });
        let mut change = self.change(path.as_str(), expected);
        (change.why, change.call_id) = (header.why, header.call_id);
        let Found { content, terms } = found;
        let body = stored.inline.map_or(Body::Kept, Body::Inline);
        let (description, tags) = (header.description, header.tags);
        let put = Put { change, content, body, description, tags, terms, mutation };
        match self.documents().put(&put).await.map_err(|error| unavailable(&error))? {
            Ok(document) => Ok(document),
            Err(refused) => match (self.refused(path.as_str(), refused).await, header.request_id) {
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
        let mut source = self.blobs().reopen(stored).await.map_err(damaged)?;
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

/// The path, if the header keeps the bounds.
pub(super) fn checked(header: &mut Header) -> Result<Path, DocumentRefusal> {
    let path = super::parsed(&header.path)?;
    text::bounded("why", &header.why)?;
    text::bounded("description", header.description.as_deref().unwrap_or_default())?;
    header.tags = header.tags.as_deref().map(text::tags).transpose()?;
    if !header.digest.is_empty() && Digest::from_hex(&header.digest).is_none() {
        let what = "must be 64 hexadecimal digits in lower case: the SHA-256 of the bytes";
        return Err(DocumentRefusal::invalid("digest", "format", what));
    }
    if header.size > MAX_DOCUMENT_BYTES {
        return Err(quota::too_large(path.as_str()));
    }
    if !header.mime_type.is_empty() {
        // Whether the bytes fit is seen when they are there.
        mime::detect(Some(&header.mime_type), &path, b"").map_err(|error| malformed(&error))?;
    }
    Ok(path)
}

/// Where the last line ends after which another one begins with a character that is no space, so that no token goes on
/// there. Without one, where a character ends.
fn line_end(bytes: &[u8]) -> usize {
    let ends = |at: &usize| bytes[at - 1] == b'\n' && bytes[*at].is_ascii_graphic();
    let character = |at: &usize| bytes[*at] & 0xc0 != 0x80;
    let last = (1..bytes.len()).rev().find(ends);
    last.or_else(|| (1..bytes.len()).rev().find(character)).unwrap_or(bytes.len())
}

fn mime_type(header: &Header, path: &Path, head: &[u8], is_text: bool) -> Result<String, DocumentRefusal> {
    let stated = Some(header.mime_type.as_str()).filter(|stated| !stated.is_empty());
    let detected = mime::detect(stated, path, &head[..head.len().min(mime::HEAD)]);
    let detected = detected.map_err(|error| malformed(&error))?;
    let must_be_text = detected.starts_with("text/");
    if must_be_text && !is_text {
        if stated.is_some() {
            let what = format!("is {detected}, but the bytes are not UTF-8");
            return Err(DocumentRefusal::invalid("mime_type", "format", &what));
        }
        return Ok("application/octet-stream".to_owned());
    }
    Ok(detected)
}

fn malformed(error: &mime::MimeError) -> DocumentRefusal {
    DocumentRefusal::invalid("mime_type", "format", &error.to_string())
}

/// Digest of all that a request asks for.
fn asked(room: &Room, header: &Header, path: &Path, digest: &Digest) -> Digest {
    let tags = header.tags.as_ref().map(|tags| tags.join("\n"));
    let parts = [
        room.root().as_str(),
        path.as_str(),
        &digest.to_string(),
        &header.mime_type,
        &format!("{:?}", header.description),
        &format!("{tags:?}"),
        &header.why,
        &header.etag,
    ];
    Digest::of_parts(parts)
}
