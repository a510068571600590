//! A document of another workspace: its bytes are shared, not copied.

use super::{
    Header, WorkspaceHandle,
    index::{self, Metadata},
    mime,
    put::{Analysis, checked},
    utf8,
};
use crate::{
    blobs::Stored,
    documents::{Content, Document},
};
use toolwire_base::offload;
use toolwire_contract::DocumentRefusal;

impl WorkspaceHandle {
    /// Writes a version of the bytes of a document of this workspace or of another one of the user. A header without a
    /// type takes the document's.
    pub async fn copy(
        &self,
        from: &WorkspaceHandle,
        document: &Document,
        mut header: Header,
    ) -> Result<Document, DocumentRefusal> {
        let path = checked(&mut header)?;
        let (deleted, version) = (document.path.clone(), document.version);
        let Some(digest) = document.content.digest else {
            return Err(DocumentRefusal::Deleted { path: deleted, version });
        };
        let head = from.first(document, index::READ).await?;
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
