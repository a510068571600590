//! Why a token proves no user: a sentence for its caller, and a word for the operator's log.
//!
//! No sentence tells what stands in a token whose signature was not verified.

use std::time::Duration;

use toolwire_base::clock;

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
    #[error("the token is valid for longer than the {} that this server allows", in_words(*max_life))]
    LivesTooLong { life: Duration, max_life: Duration },
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

    /// What is wrong in particular, for whom configures the issuer.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::LivesTooLong { life, max_life } => Some(format!(
                "it is valid for {}, and max_life of its issuer is {}",
                in_words(*life),
                in_words(*max_life)
            )),
            _ => None,
        }
    }
}

/// A length of time, exactly, in minutes if it has whole ones.
fn in_words(length: Duration) -> String {
    match (length.as_secs(), length.subsec_nanos()) {
        (seconds, 0) if seconds % 60 == 0 => format!("{} min", seconds / 60),
        _ => clock::exact_in_words(length),
    }
}
