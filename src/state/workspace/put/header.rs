//! The header of an upload: validated before any byte is received, and compared with the bytes at the end.

use std::time::UNIX_EPOCH;

use crate::{
    documents::{Etags, Expected, MAX_DOCUMENT_BYTES, Precondition},
    workspace::{WorkspaceHandle, mime, parse_path, path::Path, quota, text},
};
use toolwire_base::digest::Digest;
use toolwire_contract::DocumentRefusal;
use toolwire_tool::context::RequestId;

/// The target and metadata of an upload.
#[derive(Clone, Debug, Default)]
pub struct Header {
    pub path: String,
    /// The MIME type. Empty: detected.
    pub mime_type: String,
    /// The author's description; `None` keeps the current one.
    pub description: Option<String>,
    /// The tags; `None` keeps the current ones.
    pub tags: Option<Vec<String>>,
    pub why: String,
    /// The required etag. Empty: any. `*`: the path must be new.
    pub etag: String,
    /// Further preconditions of a conditional request.
    pub precondition: Option<Precondition>,
    /// Expected SHA-256 of the bytes, in hex. Empty: not checked.
    pub digest: String,
    /// The expected size in bytes; 0 if unknown.
    pub size: u64,
    /// The idempotency key.
    pub request_id: Option<RequestId>,
    /// The writing call; empty if there is none.
    pub call_id: String,
    /// Whether it contains untrusted text although its task has read none.
    pub untrusted: bool,
}

/// The refusal of an upload whose size differs from the stated one.
pub(super) fn size_mismatch(stated: u64, came: &str) -> DocumentRefusal {
    let what = format!("says {stated}, and {came} bytes came; nothing was stored");
    DocumentRefusal::invalid("size_bytes", "const", &what)
}

pub(super) fn expected(header: &Header) -> Expected {
    match header.precondition.clone() {
        Some(precondition) => Expected::If(precondition.with_etag(&header.etag)),
        None => Expected::from(&header.etag),
    }
}

/// Validates the header, and returns its path.
pub(in crate::workspace) fn validate(header: &mut Header) -> Result<Path, DocumentRefusal> {
    let path = parse_path(&header.path)?;
    text::check_length("why", &header.why)?;
    text::check_length("description", header.description.as_deref().unwrap_or_default())?;
    header.tags = header.tags.as_deref().map(text::tags).transpose()?;
    if !header.digest.is_empty() && Digest::from_hex(&header.digest).is_none() {
        let what = "must be 64 hexadecimal digits in lower case: the SHA-256 of the bytes";
        return Err(DocumentRefusal::invalid("digest", "format", what));
    }
    if header.size > MAX_DOCUMENT_BYTES {
        return Err(quota::too_large(path.as_str()));
    }
    if !header.mime_type.is_empty() {
        // Only the syntax: the bytes are checked after they are received.
        mime::detect(Some(&header.mime_type), &path, b"").map_err(|error| malformed(&error))?;
    }
    Ok(path)
}

pub(super) fn mime_type(
    header: &Header,
    path: &Path,
    head: &[u8],
    is_text: bool,
) -> Result<String, DocumentRefusal> {
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

/// The canonical text of a precondition. It must stay the same across releases, since its digest is stored.
fn canonical(precondition: &Precondition) -> String {
    let etags = |etags: &Option<Etags>| match etags {
        None => String::new(),
        Some(Etags::Any) => "*".to_owned(),
        Some(Etags::Only(etags)) => etags.join(","),
    };
    let Precondition { if_match, if_none_match, if_unmodified_since } = precondition;
    let since = if_unmodified_since.and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    let since = since.map(|since| since.as_secs().to_string()).unwrap_or_default();
    [etags(if_match), etags(if_none_match), since].join("\n")
}

/// Digest of all fields of the request.
pub(super) fn request_digest(
    handle: &WorkspaceHandle,
    header: &Header,
    path: &Path,
    digest: &Digest,
) -> Digest {
    let tags = header.tags.as_ref().map(|tags| tags.join("\n"));
    let precondition = header.precondition.as_ref().map(canonical);
    let parts = [
        handle.root().as_str(),
        path.as_str(),
        &digest.to_string(),
        &header.mime_type,
        &format!("{:?}", header.description),
        &format!("{tags:?}"),
        &header.why,
        &header.etag,
    ];
    // Appended only if present, so that digests stored by earlier releases stay valid.
    Digest::of_parts(parts.into_iter().chain(precondition.as_deref()))
}
