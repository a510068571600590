//! Copies of documents between workspaces: the blob is shared, not copied.

use super::{
    Header, WorkspaceHandle,
    index::{self, Metadata},
    mime,
    put::{Analysis, validate},
    utf8,
};
use crate::{
    blobs::Stored,
    documents::{Content, Document},
};
use toolwire_base::offload;
use toolwire_contract::DocumentRefusal;

impl WorkspaceHandle {
    /// Writes a version with the bytes of a document of this or another workspace of the user. If the header has no
    /// type, the version has that of the document.
    pub async fn copy(
        &self,
        from: &WorkspaceHandle,
        document: &Document,
        mut header: Header,
    ) -> Result<Document, DocumentRefusal> {
        let path = validate(&mut header)?;
        let (deleted, version) = (document.path.clone(), document.version);
        let Some(digest) = document.content.digest else {
            return Err(DocumentRefusal::Deleted { path: deleted, version });
        };
        let head = from.first(document, index::MAX_BYTES).await?;
        let mut content = document.content.clone();
        if !header.mime_type.is_empty() {
            let head = &head[..head.len().min(mime::HEAD)];
            let detected = mime::detect(Some(&header.mime_type), &path, head);
            content.mime_type = detected
                .map_err(|error| DocumentRefusal::invalid("mime_type", "format", &error.to_string()))?;
        }
        content.untrusted |= header.untrusted || self.tree.tainted;
        let (description, tags) = self.resulting_metadata(&path, &header).await?;
        let name = path.as_str().to_owned();
        let analysis = offload::if_large(head.len(), move || {
            let Content { mime_type, summary, .. } = &content;
            let text = utf8::prefix(&head).filter(|_| mime::is_text(mime_type));
            let metadata = Metadata { path: &name, description: &description, tags: &tags, summary };
            let terms = index::terms_of(&metadata, text.unwrap_or_default());
            Analysis { content, terms }
        });
        let stored = Stored { digest, size: document.content.size, inline: None, pin: None };
        self.write(header, &path, stored, self.on_behalf(analysis).await).await
    }
}
