//! What an error of a client comes from, in words for an operator.

use std::{error::Error, iter};

/// What hyper-util's errors of a tunnel begin with. Their type is not public.
const TUNNEL: &str = "tunnel error: ";

/// What an error comes from, the nearest cause first.
pub fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    iter::successors(error.source(), |&cause| cause.source())
}

/// An error's causes in words, without its own words, which name the address.
pub fn causes_of(error: &reqwest::Error) -> String {
    causes(error).map(|cause| in_words(&cause.to_string())).collect::<Vec<_>>().join(": ")
}

/// Whether the certificate of the other side is of an authority that is not trusted.
pub fn is_of_unknown_authority(error: &reqwest::Error) -> bool {
    causes(error).any(|cause| cause.to_string().contains("UnknownIssuer"))
}

/// The words of a cause, in which failures of the proxy differ from those of the server behind it.
pub(crate) fn in_words(cause: &str) -> String {
    let of_proxy = cause.strip_prefix(TUNNEL).map(|what| match what {
        "proxy authorization required" => "it wants other credentials than those of network.proxy (407)",
        "unsuccessful" => "it does not let connections through to there",
        "unexpected end of file" => "it closed the connection",
        "failed to create underlying connection" => "it cannot be reached",
        other => other,
    });
    of_proxy.map_or_else(|| cause.to_owned(), |what| format!("the proxy opened no tunnel: {what}"))
}
