//! Decodes requests for documents.

use std::time::SystemTime;

use prost_types::Timestamp;

use crate::service::request::{self, refuse};
use toolwire_contract::{Refusal, proto::workspace::v1};
use toolwire_state::{
    documents::{Criteria, Etags, Expected, Precondition},
    workspace::Header,
};

/// The metadata of a document that is stored.
pub(super) fn header(header: v1::PutHeader) -> Result<Header, Refusal> {
    let request_id = request::request_id("request_id", &header.request_id)?;
    if request_id.is_none() {
        let what = "must be a UUID of yours, so that a repeat writes nothing twice";
        return Err(refuse("request_id", "required", what));
    }
    Ok(Header {
        path: header.path,
        mime_type: header.mime_type,
        description: header.description,
        tags: Some(header.tags).filter(|tags| !tags.is_empty()),
        why: header.why,
        etag: header.etag,
        precondition: header.precondition.map(precondition).transpose()?,
        digest: header.digest.to_lowercase(),
        size: header.size_bytes,
        request_id,
        ..Header::default()
    })
}

/// The documents that are looked for.
pub(super) fn criteria(filter: Option<v1::DocumentFilter>) -> Result<Criteria, Refusal> {
    let filter = filter.unwrap_or_default();
    Ok(Criteria {
        path_prefix: filter.path_prefix,
        tags: filter.tags.iter().map(|tag| tag.trim().to_lowercase()).collect(),
        mime_type: filter.mime_type.to_lowercase(),
        created_by: filter.created_by,
        updated_by: filter.updated_by,
        since: instant("filter.since", filter.since)?,
        until: instant("filter.until", filter.until)?,
        deleted: filter.deleted,
    })
}

fn instant(field: &str, given: Option<Timestamp>) -> Result<Option<SystemTime>, Refusal> {
    let malformed = |_| refuse(field, "format", "must be an instant from 1970 on");
    given.map(SystemTime::try_from).transpose().map_err(malformed)
}

/// The precondition of a request.
pub(super) fn expected_state(
    etag: &str,
    precondition: Option<v1::Precondition>,
) -> Result<Expected, Refusal> {
    Ok(match precondition {
        Some(precondition) => Expected::If(self::precondition(precondition)?.with_etag(etag)),
        None => Expected::from(etag),
    })
}

fn precondition(precondition: v1::Precondition) -> Result<Precondition, Refusal> {
    let etags = |set: v1::EtagSet| if set.any { Etags::Any } else { Etags::Only(set.etags) };
    Ok(Precondition {
        if_match: precondition.if_match.map(etags),
        if_none_match: precondition.if_none_match.map(etags),
        if_unmodified_since: request::instant(
            "precondition.if_unmodified_since",
            precondition.if_unmodified_since,
        )?,
    })
}
