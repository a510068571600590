//! The output of commands on documents.

use serde_json::Value;

use crate::{json, table::Table};
use toolwire_base::words::visible;
use toolwire_contract::proto::workspace::v1::{Document, DocumentVersion, SearchHit};
use toolwire_server::console::{self, Failure};

/// The output of a command.
#[derive(Debug)]
pub(super) enum View {
    Document(Box<Document>),
    Documents(Vec<Document>),
    Versions(Vec<DocumentVersion>),
    Hits(Vec<SearchHit>),
}

impl View {
    /// Each as a JSON value.
    pub(super) fn json(&self) -> Vec<Value> {
        match self {
            Self::Document(document) => vec![json::document(&**document)],
            Self::Documents(documents) => documents.iter().map(json::document).collect(),
            Self::Versions(versions) => versions.iter().map(json::document).collect(),
            Self::Hits(hits) => hits.iter().map(json::document).collect(),
        }
    }

    /// For a person.
    pub(super) fn print(&self) -> Result<(), Failure> {
        match self {
            Self::Document(document) => console::print(&line(document)),
            Self::Documents(documents) if documents.is_empty() => {
                console::say("no documents");
                Ok(())
            }
            Self::Documents(documents) => Table::new(documents.iter().map(row))
                .with_heading(["PATH", "VERSION", "TYPE", "BYTES", "UPDATED", "TAGS"])
                .with_short(&[4])
                .with_dispensable(&[5, 2, 3])
                .print(),
            Self::Versions(versions) => Table::new(versions.iter().map(version))
                .with_heading(["VERSION", "BYTES", "WRITTEN", "BY", "WHY"])
                .with_short(&[2])
                .with_dispensable(&[1, 3])
                .print(),
            Self::Hits(hits) if hits.is_empty() => {
                console::say("nothing found");
                Ok(())
            }
            Self::Hits(hits) => console::print(&hits.iter().map(hit).collect::<String>()),
        }
    }
}

/// The line about a document that was written or deleted.
fn line(document: &Document) -> String {
    let Document { path, version, etag, .. } = document;
    let what = if document.deleted { "deleted" } else { "written" };
    format!("{} {what}: version {version}, etag {etag}", visible(path))
}

fn row(document: &Document) -> [String; 6] {
    let deleted = if document.deleted { " (deleted)" } else { "" };
    [
        visible(&document.path),
        format!("{}{deleted}", document.version),
        visible(&document.mime_type),
        document.size_bytes.to_string(),
        document.updated_at.as_ref().map(ToString::to_string).unwrap_or_default(),
        visible(&document.tags.join(", ")),
    ]
}

fn version(version: &DocumentVersion) -> [String; 5] {
    let deleted = if version.deleted { " (deleted)" } else { "" };
    [
        format!("{}{deleted}", version.version),
        version.size_bytes.to_string(),
        version.written_at.as_ref().map(ToString::to_string).unwrap_or_default(),
        visible(&version.written_by),
        visible(&version.why),
    ]
}

fn hit(hit: &SearchHit) -> String {
    let path = hit.document.as_ref().map(|document| visible(&document.path)).unwrap_or_default();
    format!("{path}\n    {}\n", visible(&hit.snippet))
}
