//! What a request says must be at a path, read from the wire.

use crate::service::request;
use toolwire_contract::{Refusal, proto::workspace::v1};
use toolwire_store::documents::{Etags, Expected, Precondition};

/// What must be there for a request.
pub(super) fn expected(etag: &str, precondition: Option<v1::Precondition>) -> Result<Expected, Refusal> {
    Ok(match precondition {
        Some(precondition) => Expected::If(self::precondition(precondition)?.with_etag(etag)),
        None => Expected::from(etag),
    })
}

/// The conditions of a request.
pub(super) fn precondition(precondition: v1::Precondition) -> Result<Precondition, Refusal> {
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
