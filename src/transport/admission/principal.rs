//! The principal that a request counts for: its user, its provider, or its peer.

use http::Extensions;

use crate::{peer::Peer, quotas::Principal};
use toolwire_base::backlog;
use toolwire_providers::ids::ProviderName;
use toolwire_tool::context::User;

/// The principal whose quota a request counts against: its user, or its peer for a public method. `None` for a trusted
/// peer.
pub(super) fn principal_of(extensions: &Extensions) -> Option<Principal> {
    match extensions.get::<User>() {
        Some(user) => Some(Principal::User(user.id.clone())),
        None => extensions.get::<Peer>()?.origin().map(Principal::Peer),
    }
}

/// What waits for the peer of a request. `None` for one without a connection.
pub(super) fn backlog_of(extensions: &Extensions, principal: Option<&Principal>) -> Option<backlog::Stream> {
    let connection = &extensions.get::<Peer>()?.state.backlog;
    Some(match (principal, extensions.get::<ProviderName>()) {
        (Some(Principal::User(user)), _) => connection.stream(user.as_str()),
        (_, Some(provider)) => connection.stream(&format!("provider:{provider}")),
        (peer, None) => connection.stream(&display(peer)),
    })
}

pub(super) fn display(principal: Option<&Principal>) -> String {
    principal.map_or_else(|| "a trusted peer".to_owned(), ToString::to_string)
}
