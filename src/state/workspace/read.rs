//! Reading of versions.

use serde_json::Value;

use super::{WorkspaceHandle, blocks, unavailable, unreadable};
use crate::{
    blobs::{ReadError, Source},
    documents::Document,
};
use toolwire_base::offload;
use toolwire_contract::DocumentRefusal;

/// The version and the range of a document to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// The version; 0 for the last one.
    pub version: u32,
    /// Offset in bytes.
    pub offset: u64,
    /// Maximum number of bytes; 0 for all.
    pub limit: u64,
}

/// A stream of the bytes of a version, in chunks of 64 KiB.
#[derive(Debug)]
pub struct Content {
    source: Source,
    path: String,
    version: u32,
}

impl WorkspaceHandle {
    /// A document as of a version: its current metadata with the content of that version.
    pub async fn at(&self, path: &str, version: u32) -> Result<Document, DocumentRefusal> {
        let mut document = self.find(path).await?;
        if version == 0 || version == document.version {
            return Ok(document);
        }
        let last = document.version;
        let unknown = || DocumentRefusal::UnknownVersion { path: document.path.clone(), version, last };
        if version > last {
            return Err(unknown());
        }
        let found = self.store().document_versions(self.root(), &document.path, version + 1, 1).await;
        let found = found.map_err(|error| unavailable(&error))?.pop().filter(|it| it.version == version);
        let found = found.ok_or_else(unknown)?;
        (document.version, document.content) = (found.version, found.content);
        (document.updated_by, document.updated_at) = (found.written_by, found.written_at);
        Ok(document)
    }

    /// A document as of a version, and its bytes.
    pub async fn read(
        &self,
        path: &str,
        options: ReadOptions,
    ) -> Result<(Document, Content), DocumentRefusal> {
        let document = self.at(path, options.version).await?;
        let source = self.source(&document, options.offset).await?;
        let source = if options.limit == 0 { source } else { source.take(options.limit) };
        let (path, version) = (document.path.clone(), document.version);
        Ok((document, Content { source, path, version }))
    }

    pub async fn blocks(&self, document: &Document) -> Result<Value, DocumentRefusal> {
        let Some(digest) = document.content.digest else { return Ok(Value::Null) };
        let first = self.first(document, blocks::MAX_BYTES).await?;
        let (mime_type, size) = (document.content.mime_type.clone(), document.content.size);
        let made = offload::if_large(first.len(), move || {
            blocks::of_prefix(&mime_type, &first, &blocks::Whole { size, digest })
        });
        Ok(self.on_behalf(made).await)
    }

    /// The first bytes of a document, at most `most`.
    pub(super) async fn first(
        &self,
        document: &Document,
        most: usize,
    ) -> Result<bytes::Bytes, DocumentRefusal> {
        let source = self.source(document, 0).await?.take(most as u64);
        source.all().await.map_err(|error| unreadable(&error, &document.path, document.version))
    }

    async fn source(&self, document: &Document, from: u64) -> Result<Source, DocumentRefusal> {
        let (path, version) = (&document.path, document.version);
        let Some(digest) = document.content.digest else {
            return Err(DocumentRefusal::Deleted { path: path.clone(), version });
        };
        if from > document.content.size {
            let what = format!("must be at most {}, the size of the version", document.content.size);
            return Err(DocumentRefusal::invalid("offset", "maximum", &what));
        }
        let opened = self.store().open_blob(&digest, from).await;
        let opened = opened.and_then(|source| source.ok_or(ReadError::Damaged(digest)));
        opened.map_err(|error| unreadable(&error, path, version))
    }
}

impl Content {
    pub async fn next(&mut self) -> Result<Option<bytes::Bytes>, DocumentRefusal> {
        let next = self.source.next().await;
        next.map_err(|error| unreadable(&error, &self.path, self.version))
    }

    /// Reads the rest into memory. For documents that are known to be small.
    pub async fn all(self) -> Result<bytes::Bytes, DocumentRefusal> {
        let all = self.source.all().await;
        all.map_err(|error| unreadable(&error, &self.path, self.version))
    }
}
