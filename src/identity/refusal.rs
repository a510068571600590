//! Why a token proves no user: a sentence for its caller, and a word for the operator's log.
//!
//! No sentence tells what stands in a token whose signature was not verified.

use std::time::Duration;

/// The reason for which a token is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Refusal {
    #[error("the token is longer than 16 KiB; request one with fewer claims")]
    TooLong,
    #[error("the token is no signed JSON Web Token")]
    Malformed,
    #[error("the token needs an extension that this server does not know")]
    CriticalExtension,
    #[error("the token is no access token; send the access token and not an ID, logout or refresh token")]
    NotAccessToken,
    #[error("the token is signed by an algorithm that this server does not accept")]
    WrongAlgorithm,
    #[error("the token is of an issuer that this server does not know")]
    UnknownIssuer,
    #[error("the token does not name its key")]
    KeyNotNamed,
    #[error("the token is signed by a key that its issuer does not publish; request a new one")]
    UnknownKey,
    #[error("the token's key is for another algorithm")]
    KeyOfAnotherAlgorithm,
    #[error("the token's signature is wrong")]
    WrongSignature,
    #[error("the token is for another audience")]
    WrongAudience,
    #[error("the token says no time at which it expires")]
    NoExpiry,
    #[error("the token has expired")]
    Expired,
    #[error("the token is not valid yet")]
    NotYetValid,
    #[error("the token was issued in the future; the clock of its issuer or of this server is wrong")]
    IssuedInFuture,
    #[error("the token is valid for longer than this server allows")]
    LivesTooLong,
    #[error("the token is bound to a key or certificate, which this server does not verify")]
    Bound,
    #[error("the token lacks the claim that names its user")]
    NoUser,
    #[error("the token's e-mail address is not verified by its issuer")]
    UnverifiedEmail,
    #[error("the token's groups are neither a list of texts nor a text")]
    MalformedGroups,
    #[error("the token's groups were left out for their number; have the issuer send fewer groups")]
    GroupsLeftOut,
    /// The keys of the issuer cannot be fetched, or were not fetched since the token came.
    #[error("the keys of the token's issuer are not at hand; try again later")]
    KeysUnavailable { retry_after: Duration },
}

impl Refusal {
    /// The word for logs, such as `wrong_audience`.
    pub fn word(&self) -> &'static str {
        self.into()
    }
}
