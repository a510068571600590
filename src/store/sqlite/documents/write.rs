//! Documents, written: each write makes a version or another etag, and is one transaction.

use super::{
    quota, repeats,
    standing::{self, Standing},
    texts,
};
use crate::{
    blobs::{Files, Stored},
    documents::{
        Body, Change as Changed, Content, Expected, MAX_VERSIONS, Outcome, Put, Quota, Refused, Update,
    },
    sqlite::{Change, Durability, Failed, Sqlite, audit, blobs, time::millis},
};
use toolwire_base::digest::Digest;

/// Writes a version. Large bytes must be in `files`.
pub(in crate::sqlite) async fn put(
    change: &mut Change,
    put: &Put,
    files: Option<&Files>,
) -> Result<Outcome, Failed> {
    let Changed { root, user, path, expected, by, now, .. } = &put.change;
    if let Some(mutation) = &put.mutation
        && let Some(answer) = repeats::find(change, user, mutation, *now).await?
    {
        return match answer {
            repeats::Found::Answer(answer) => standing::as_answered(change, root, path, &answer).await,
            repeats::Found::Another => Ok(Err(Refused::Reused)),
        };
    }
    let found = standing::find(change, root, path).await?;
    if let Err(refused) = check(found.as_ref(), expected) {
        return Ok(Err(refused));
    }
    if found.as_ref().is_some_and(|it| it.document.version >= MAX_VERSIONS) {
        return Ok(Err(Refused::Full(Quota::Versions)));
    }
    let workspace = quota::open(change, root, user).await?;
    let documents = i64::from(found.is_none());
    if let Some(full) = workspace.full(change, user, documents, put.content.size).await? {
        return Ok(Err(Refused::Full(full)));
    }
    if !keep_bytes(change, put, files).await? {
        return Ok(Err(Refused::BytesGone));
    }
    workspace.add(change, documents, put.content.size).await?;
    let found = match found {
        Some(found) => found,
        None => standing::create(change, &put.change).await?,
    };
    let Standing { id, mut document, .. } = found;
    document.version += 1;
    document.content = put.content.clone();
    document.description = put.description.clone().unwrap_or(document.description);
    document.tags = put.tags.clone().unwrap_or(document.tags);
    (document.updated_by, document.updated_at) = (by.clone(), *now);
    let document = standing::write(change, id, document).await?;
    standing::add_version(change, id, &document, &put.change).await?;
    texts::index(change, &workspace, id, &put.terms).await?;
    if let Some(mutation) = &put.mutation {
        repeats::keep(change, user, mutation, &document, *now).await?;
        if put.change.call_id.is_empty() {
            let noted = of_request("WorkspaceService.PutDocument", &put.change, mutation.digest);
            let noted = audit::Changed { request_id: Some(mutation.request_id), ..noted };
            audit::changed(change, &noted, *now).await?;
        }
    }
    Ok(Ok(document))
}

/// Whether the bytes are there.
async fn keep_bytes(change: &mut Change, put: &Put, files: Option<&Files>) -> Result<bool, Failed> {
    let Some(digest) = put.content.digest else { return Ok(true) };
    let inline = match &put.body {
        Body::Inline(bytes) => Some(bytes.clone()),
        Body::Kept => None,
    };
    let stored = Stored { digest, size: put.content.size, inline, pin: None };
    blobs::keep(change, &stored, files, millis(put.change.now)).await
}

async fn update(change: &mut Change, update: &Update) -> Result<Outcome, Failed> {
    let Changed { root, user, path, expected, by, now, .. } = &update.change;
    let Some(found) = standing::find(change, root, path).await? else { return Ok(Err(Refused::Unknown)) };
    let Standing { id, mut document, previous_etag } = found;
    if document.is_deleted() {
        return Ok(Err(Refused::Deleted(document.version)));
    }
    let is_so = document.description == update.description
        && document.tags == update.tags
        && document.content.mime_type == update.mime_type;
    // The same again.
    if is_so && expected.names(&previous_etag) {
        return Ok(Ok(document));
    }
    if let Err(refused) = expected.check(Some(&document)) {
        return Ok(Err(refused));
    }
    document.description.clone_from(&update.description);
    document.tags.clone_from(&update.tags);
    document.content.mime_type.clone_from(&update.mime_type);
    (document.updated_by, document.updated_at) = (by.clone(), *now);
    let document = standing::write(change, id, document).await?;
    let workspace = quota::open(change, root, user).await?;
    texts::index(change, &workspace, id, &update.terms).await?;
    let parts = [path, &update.description, &update.mime_type].into_iter().chain(&update.tags);
    let noted = of_request("WorkspaceService.UpdateMetadata", &update.change, Digest::of_parts(parts));
    audit::changed(change, &noted, *now).await?;
    Ok(Ok(document))
}

async fn delete(change: &mut Change, changed: &Changed) -> Result<Outcome, Failed> {
    let Changed { root, path, expected, by, now, .. } = changed;
    let Some(found) = standing::find(change, root, path).await? else { return Ok(Err(Refused::Unknown)) };
    if found.document.is_deleted() {
        return Ok(Ok(found.document));
    }
    if let Err(refused) = check(Some(&found), expected) {
        return Ok(Err(refused));
    }
    let Standing { id, mut document, .. } = found;
    document.version += 1;
    document.content = Content {
        digest: None,
        size: 0,
        tokens: 0,
        tokens_estimated: false,
        summary: String::new(),
        ..document.content
    };
    (document.updated_by, document.updated_at) = (by.clone(), *now);
    let document = standing::write(change, id, document).await?;
    standing::add_version(change, id, &document, changed).await?;
    texts::remove(change, id).await?;
    let noted = of_request("WorkspaceService.DeleteDocument", changed, Digest::of_parts([path]));
    audit::changed(change, &noted, *now).await?;
    Ok(Ok(document))
}

/// What a request changed of a document.
fn of_request<'a>(method: &'static str, changed: &'a Changed, digest: Digest) -> audit::Changed<'a> {
    let Changed { root, user, .. } = changed;
    audit::Changed { method, user, digest, task: root, request_id: None, call_id: None }
}

/// Whether what stands there is what the caller expects.
pub(super) fn check(found: Option<&Standing>, expected: &Expected) -> Result<(), Refused> {
    expected.check(found.map(|it| &it.document))
}

impl Sqlite {
    pub(super) async fn put_document(&self, document: &Put) -> Result<Outcome, Failed> {
        let files = self.files();
        let mut change = self.change(Durability::Power).await?;
        let outcome = put(&mut change, document, files.as_ref()).await?;
        ended(change, outcome).await
    }

    pub(super) async fn update_document(&self, of: &Update) -> Result<Outcome, Failed> {
        let mut change = self.change(Durability::Power).await?;
        let outcome = update(&mut change, of).await?;
        ended(change, outcome).await
    }

    pub(super) async fn delete_document(&self, changed: &Changed) -> Result<Outcome, Failed> {
        let mut change = self.change(Durability::Power).await?;
        let outcome = delete(&mut change, changed).await?;
        ended(change, outcome).await
    }
}

/// What is refused is committed too: nothing was written then, but what was read may be of the same commit.
async fn ended(change: Change, outcome: Outcome) -> Result<Outcome, Failed> {
    change.commit().await?;
    Ok(outcome)
}
