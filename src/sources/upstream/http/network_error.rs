//! Translates network errors into failures, in words without the address, which may contain a secret.

use std::{error::Error, io};

use super::{Failure, FailureKind, resolver::NotPublic};
use toolwire_outgoing::{causes, causes_of};

/// The failure that an error stands for.
pub(super) fn failure(error: &reqwest::Error) -> Failure {
    let failure = Failure::new(kind_of(error), causes_of(error));
    if failure.kind == FailureKind::NotConfigured {
        return failure.with_message("The source's name leads into a private network, so it was not asked.");
    }
    failure
}

/// A broken connection may work again; what is not HTTP, or cannot be unpacked, will not.
fn kind_of(error: &reqwest::Error) -> FailureKind {
    if causes(error).any(<dyn Error>::is::<NotPublic>) {
        return FailureKind::NotConfigured;
    }
    if error.is_connect() {
        return FailureKind::Unreachable;
    }
    if causes(error).any(is_no_http) {
        return FailureKind::Malformed;
    }
    let is_broken_off = causes(error).any(<dyn Error>::is::<hyper::Error>);
    if error.is_decode() && !is_broken_off { FailureKind::Malformed } else { FailureKind::Unreachable }
}

fn is_no_http(cause: &(dyn Error + 'static)) -> bool {
    let is_parse = cause.downcast_ref().is_some_and(hyper::Error::is_parse);
    let kind = cause.downcast_ref().map(io::Error::kind);
    is_parse || matches!(kind, Some(io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData))
}
