//! What an author says of a version that comes: checked before any byte does, and against the bytes at their end.

use std::time::UNIX_EPOCH;

use crate::{
    documents::{Etags, Expected, MAX_DOCUMENT_BYTES, Precondition},
    workspace::{WorkspaceHandle, mime, parse_path, path::Path, quota, text},
};
use toolwire_base::digest::Digest;
use toolwire_contract::DocumentRefusal;
use toolwire_tool::context::RequestId;

/// What is written, and where.
#[derive(Clone, Debug, Default)]
pub struct Header {
    pub path: String,
    /// The type. Empty: detected.
    pub mime_type: String,
    /// What the author says of it; `None`: as it is.
    pub description: Option<String>,
    /// The tags; `None`: as they are.
    pub tags: Option<Vec<String>>,
    pub why: String,
    /// The etag that it replaces. Empty: any. `*`: the path must be new.
    pub etag: String,
    /// What a conditional request states beside it.
    pub precondition: Option<Precondition>,
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

/// Why nothing was stored of which another number of bytes came than was stated.
pub(super) fn of_other_size(stated: u64, came: &str) -> DocumentRefusal {
    let what = format!("says {stated}, and {came} bytes came; nothing was stored");
    DocumentRefusal::invalid("size_bytes", "const", &what)
}

/// What must stand where it is written.
pub(super) fn expected(header: &Header) -> Expected {
    match header.precondition.clone() {
        Some(precondition) => Expected::If(precondition.with_etag(&header.etag)),
        None => Expected::from(&header.etag),
    }
}

/// The path, if the header keeps the bounds.
pub(in crate::workspace) fn checked(header: &mut Header) -> Result<Path, DocumentRefusal> {
    let path = parse_path(&header.path)?;
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

/// A precondition as text that later programs write alike: its digest is kept.
fn written(precondition: &Precondition) -> String {
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

/// Digest of all that a request asks for.
pub(super) fn asked(handle: &WorkspaceHandle, header: &Header, path: &Path, digest: &Digest) -> Digest {
    let tags = header.tags.as_ref().map(|tags| tags.join("\n"));
    let precondition = header.precondition.as_ref().map(written);
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
    // Appended only where there is one, so that the digests that earlier releases kept stay valid.
    Digest::of_parts(parts.into_iter().chain(precondition.as_deref()))
}
