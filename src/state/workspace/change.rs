//! Changes of a document's metadata, and its deletion.

use super::{WorkspaceHandle, index, index::Metadata, mime, text, unavailable, utf8};
use crate::documents::{Document, Expected, Update};
use toolwire_base::offload;
use toolwire_contract::DocumentRefusal;

/// A change of a document's metadata.
#[derive(Clone, Debug, Default)]
pub struct Edit {
    /// The author's description; `None` keeps the current one.
    pub description: Option<String>,
    /// The tags; `None` keeps the current ones.
    pub tags: Option<Vec<String>>,
    /// The MIME type; empty keeps the current one.
    pub mime_type: String,
}

impl WorkspaceHandle {
    /// Changes the metadata of a document. The caller must state a precondition.
    pub async fn update(
        &self,
        path: &str,
        expected: impl Into<Expected>,
        edit: Edit,
    ) -> Result<Document, DocumentRefusal> {
        let expected = expected.into();
        if expected == Expected::Any {
            return Err(DocumentRefusal::PreconditionRequired);
        }
        let document = self.find(path).await?;
        if document.is_deleted() {
            let (path, version) = (document.path, document.version);
            return Err(DocumentRefusal::Deleted { path, version });
        }
        let description = edit.description.unwrap_or_else(|| document.description.clone());
        text::check_length("description", &description)?;
        let tags = edit.tags.as_deref().map(text::tags).transpose()?;
        let tags = tags.unwrap_or_else(|| document.tags.clone());
        let head = self.first(&document, index::MAX_BYTES).await?;
        let mime_type = mime_type(&document, &edit.mime_type, &head)?;
        let change = self.change(&document.path, expected);
        let update = offload::if_large(head.len(), move || {
            let (path, summary) = (&document.path, &document.content.summary);
            let metadata = Metadata { path, description: &description, tags: &tags, summary };
            let text = utf8::prefix(&head).filter(|_| mime::is_text(&mime_type));
            let terms = index::terms_of(&metadata, text.unwrap_or_default());
            Update { change, description, tags, mime_type, terms }
        });
        let update = self.on_behalf(update).await;
        match self.store().update_document(&update).await.map_err(|error| unavailable(&error))? {
            Ok(document) => Ok(document),
            Err(refused) => Err(self.explain(&update.change.path, refused).await),
        }
    }

    /// Writes a tombstone as the last version of a document. A document that is already deleted stays as it is.
    pub async fn delete(
        &self,
        path: &str,
        expected: impl Into<Expected>,
    ) -> Result<Document, DocumentRefusal> {
        let path = super::parse_path(path)?;
        let change = self.change(path.as_str(), expected.into());
        match self.store().delete_document(&change).await.map_err(|error| unavailable(&error))? {
            Ok(document) => Ok(document),
            Err(refused) => Err(self.explain(path.as_str(), refused).await),
        }
    }
}

fn mime_type(document: &Document, stated: &str, head: &[u8]) -> Result<String, DocumentRefusal> {
    if stated.is_empty() {
        return Ok(document.content.mime_type.clone());
    }
    let head = &head[..head.len().min(mime::HEAD)];
    let checked = mime::detect(Some(stated), &super::parse_path(&document.path)?, head);
    checked.map_err(|error| DocumentRefusal::invalid("mime_type", "format", &error.to_string()))
}
