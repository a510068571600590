//! The `Accept` header of a request, spelled as rmcp looks for its types, whatever ranges and weights the client wrote.

use http::{HeaderMap, HeaderValue, header::ACCEPT};

use toolwire_base::accept::Accept;

const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";
/// Both types, as most clients spell them.
pub(super) const BOTH: &str = "application/json, text/event-stream";

/// Spells the header of a client that takes both types. Any other is left as it is, and refused by rmcp.
pub(super) fn spell_accept(headers: &mut HeaderMap) {
    let is_spelled = headers.get(ACCEPT).is_some_and(|it| it == BOTH);
    if is_spelled && headers.len() == headers.keys_len() {
        return;
    }
    let accept = Accept::read(headers.get_all(ACCEPT).iter().filter_map(|field| field.to_str().ok()));
    if accept.takes(JSON) && accept.takes(EVENT_STREAM) {
        headers.insert(ACCEPT, HeaderValue::from_static(BOTH));
    }
}
