//! Writes of documents: each creates a version or a new etag, in one transaction.

use super::{quota, replay};
use crate::{
    blobs::{Files, Stored},
    documents::{
        Body, Change, Content, Document, Expected, MAX_VERSIONS, Outcome, Put, Quota, Refused, Update,
        rows::{self as documents, Identified, postings, versions, workspaces},
    },
    transactions::{
        audit::{self, AuditedRequest},
        blobs,
    },
};
use toolwire_base::digest::Digest;
use toolwire_db::{Error, Tx, time::millis};

/// Writes a version. A large blob must be in `files`.
pub(in crate::transactions) async fn put(
    tx: &mut Tx,
    put: &Put,
    files: Option<&Files>,
) -> Result<Outcome, Error> {
    let Change { root, user, path, expected, .. } = &put.change;
    // First: the precondition of a repeat fails against the document that the first attempt has written.
    if let Some(outcome) = replay::find(tx, put).await? {
        return Ok(outcome);
    }
    let found = documents::find(root, path).optional(tx).await?;
    if let Err(refused) = check(found.as_ref(), expected) {
        return Ok(Err(refused));
    }
    let workspace = workspaces::find_or_insert(root, user).one(tx).await?;
    let added = u64::from(found.is_none());
    if let Some(quota) = quota::check(tx, &workspace, user, added, put.content.size).await? {
        return Ok(Err(Refused::Full(quota)));
    }
    if !add_blob_use(tx, put, files).await? {
        return Ok(Err(Refused::BytesGone));
    }
    workspaces::add(workspace.id, added, put.content.size).run(tx).await?;
    let Identified { id, mut document, .. } = if let Some(found) = found {
        found
    } else {
        let now = tx.now();
        documents::insert(tx, &put.change, now).await?
    };
    document.version += 1;
    document.content = put.content.clone();
    document.description = put.description.clone().unwrap_or(document.description);
    document.tags = put.tags.clone().unwrap_or(document.tags);
    let document = save(tx, id, document, &put.change).await?;
    versions::insert(id, &document, &put.change).run(tx).await?;
    postings::replace(tx, workspace.id, id, &put.terms).await?;
    record_put(tx, put, &document).await?;
    Ok(Ok(document))
}

/// Records the response to a write with a `request_id`, and audits it unless a call made it, which is audited itself.
async fn record_put(tx: &mut Tx, put: &Put, document: &Document) -> Result<(), Error> {
    let Some(mutation) = &put.mutation else { return Ok(()) };
    let Change { root, user, call_id, .. } = &put.change;
    replay::record(tx, user, mutation, document).await?;
    if !call_id.is_empty() {
        return Ok(());
    }
    let request = AuditedRequest::new("WorkspaceService.PutDocument", user, root, mutation.digest);
    let request = AuditedRequest { request_id: Some(mutation.request_id), ..request };
    let now = tx.now();
    audit::record_request(tx, &request, now).await
}

/// Adds a reference to the blob, and returns whether it exists.
async fn add_blob_use(tx: &mut Tx, put: &Put, files: Option<&Files>) -> Result<bool, Error> {
    let Some(digest) = put.content.digest else { return Ok(true) };
    let inline = match &put.body {
        Body::Inline(bytes) => Some(bytes.clone()),
        Body::Kept => None,
    };
    let stored = Stored { digest, size: put.content.size, inline, pin: None };
    blobs::add_use(tx, &stored, files).await
}

/// Saves a document with a new etag.
async fn save(tx: &mut Tx, id: i64, mut document: Document, change: &Change) -> Result<Document, Error> {
    let now = tx.now();
    (document.updated_by, document.updated_at) = (change.by.clone(), now);
    // From nothing sequential or shared: an etag derived from a row number could be guessed.
    let Document { root, path, version, etag, .. } = &document;
    let parts = [root.as_str(), path, &version.to_string(), etag, &millis(now).to_string()];
    document.etag = Digest::of_parts(parts).to_string();
    document.etag.truncate(16);
    documents::update(id, &document).run(tx).await?;
    Ok(document)
}

/// Changes the description, the tags and the type of a document.
pub(super) async fn update(tx: &mut Tx, update: &Update) -> Result<Outcome, Error> {
    let Change { root, user, path, expected, .. } = &update.change;
    let Some(found) = documents::find(root, path).optional(tx).await? else {
        return Ok(Err(Refused::Unknown));
    };
    let Identified { id, mut document, previous_etag } = found;
    if document.is_deleted() {
        return Ok(Err(Refused::Deleted(document.version)));
    }
    let is_same = document.description == update.description
        && document.tags == update.tags
        && document.content.mime_type == update.mime_type;
    // A repeat, which names the etag that its first attempt has replaced.
    if is_same && expected.names(&previous_etag) {
        return Ok(Ok(document));
    }
    if let Err(refused) = expected.check(Some(&document)) {
        return Ok(Err(refused));
    }
    document.description.clone_from(&update.description);
    document.tags.clone_from(&update.tags);
    document.content.mime_type.clone_from(&update.mime_type);
    let document = save(tx, id, document, &update.change).await?;
    let workspace = workspaces::find_or_insert(root, user).one(tx).await?;
    postings::replace(tx, workspace.id, id, &update.terms).await?;
    let parts = [path, &update.description, &update.mime_type].into_iter().chain(&update.tags);
    let request = AuditedRequest::new("WorkspaceService.UpdateMetadata", user, root, Digest::of_parts(parts));
    let now = tx.now();
    audit::record_request(tx, &request, now).await?;
    Ok(Ok(document))
}

/// Writes a tombstone.
pub(super) async fn delete(tx: &mut Tx, change: &Change) -> Result<Outcome, Error> {
    let Change { root, user, path, expected, .. } = change;
    let Some(found) = documents::find(root, path).optional(tx).await? else {
        return Ok(Err(Refused::Unknown));
    };
    let Identified { id, mut document, .. } = found;
    if document.is_deleted() {
        return Ok(Ok(document));
    }
    if let Err(refused) = expected.check(Some(&document)) {
        return Ok(Err(refused));
    }
    document.version += 1;
    document.content = Content {
        digest: None,
        size: 0,
        tokens: 0,
        tokens_estimated: false,
        summary: String::new(),
        ..document.content
    };
    let document = save(tx, id, document, change).await?;
    versions::insert(id, &document, change).run(tx).await?;
    if let Some(workspace) = workspaces::find(root).optional(tx).await? {
        postings::delete(tx, workspace.id, &[id]).await?;
    }
    let request =
        AuditedRequest::new("WorkspaceService.DeleteDocument", user, root, Digest::of_parts([path]));
    let now = tx.now();
    audit::record_request(tx, &request, now).await?;
    Ok(Ok(document))
}

/// Checks whether a version may be written over `found`.
pub(super) fn check(found: Option<&Identified>, expected: &Expected) -> Result<(), Refused> {
    let document = found.map(|it| &it.document);
    expected.check(document)?;
    match document {
        Some(document) if document.version >= MAX_VERSIONS => Err(Refused::Full(Quota::Versions)),
        _ => Ok(()),
    }
}
