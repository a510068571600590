//! Why a token proves no user: a sentence for its caller, and a word for the operator's log.
//!
//! No sentence tells what stands in a token whose signature was not verified.

use std::{fmt, sync::Arc, time::Duration};

use toolwire_base::{clock, words::visible};
use toolwire_tool::context::UserId;

/// The longest part of a text that is quoted, in characters.
const MAX_QUOTED: usize = 128;
/// The most texts that are quoted of a list.
const MAX_LISTED: usize = 8;

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
    UnknownIssuer {
        /// What it names; `None` if that is no text.
        named: Option<Quoted>,
    },
    #[error("the token is of a trust domain that this server does not know")]
    UnknownTrustDomain {
        named: Quoted,
        /// The issuer that it names beside it, which is not known either.
        issuer: Option<Quoted>,
    },
    #[error("the token's subject begins like a SPIFFE id and is none")]
    MalformedSpiffeId { named: Quoted },
    #[error("the token is no JWT-SVID: its type is neither JWT nor JOSE")]
    NotJwtSvid,
    /// No setting says which user or provider the workload is.
    #[error("the token is of a workload that this server does not know")]
    UnknownWorkload { workload: Arc<str> },
    #[error("the token is of a host of a provider, which calls nothing; send the token of a user")]
    OfHost {
        provider: Arc<str>,
        /// The id by which it is, if the token is a JWT-SVID.
        workload: Option<Arc<str>>,
    },
    #[error("the token is of no host: its claims are not those of a provider")]
    OfNoHost {
        user: UserId,
        /// The id by which it is of the user, if the token is a JWT-SVID.
        workload: Option<Arc<str>>,
    },
    #[error("the token does not name its key")]
    KeyNotNamed,
    #[error("the token is signed by a key that its issuer does not publish; request a new one")]
    UnknownKey,
    #[error("the token's key is for another algorithm")]
    KeyOfAnotherAlgorithm,
    #[error("the token's signature is wrong")]
    WrongSignature,
    #[error("the token is for another audience")]
    WrongAudience { named: Vec<Quoted>, accepted: Vec<Quoted> },
    #[error("the token says no time at which it expires")]
    NoExpiry,
    #[error("the token has expired")]
    Expired,
    #[error("the token is not valid yet")]
    NotYetValid,
    #[error("the token was issued in the future; the clock of its issuer or of this server is wrong")]
    IssuedInFuture,
    #[error("the token is valid for longer than the {} that this server allows", in_words(.max_life))]
    LivesTooLong { life: Duration, max_life: Duration },
    #[error("the token is bound to a key or certificate, which this server does not verify")]
    Bound,
    #[error("the token lacks the claim that names its user")]
    NoUser,
    #[error("the token's e-mail address is not verified by its issuer")]
    UnverifiedEmail,
    #[error("the token's groups are neither a list of texts nor a text")]
    MalformedGroups,
    #[error("the token's scope is neither a list of texts nor a text")]
    MalformedScope,
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

    /// The workload that a verified token names, if that is what is wrong with it.
    pub fn workload(&self) -> Option<&str> {
        match self {
            Self::UnknownWorkload { workload }
            | Self::OfHost { workload: Some(workload), .. }
            | Self::OfNoHost { workload: Some(workload), .. } => Some(workload),
            _ => None,
        }
    }

    /// What is wrong in particular, for whom configures the issuer.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::LivesTooLong { life, max_life } => Some(format!(
                "it is valid for {}, and max_life of its issuer is {}",
                in_words(life),
                in_words(max_life)
            )),
            Self::UnknownIssuer { named: Some(named) }
            | Self::UnknownTrustDomain { named, issuer: None }
            | Self::MalformedSpiffeId { named } => Some(format!("it names {named}")),
            Self::UnknownTrustDomain { named, issuer: Some(issuer) } => {
                Some(format!("it names {named}, and the issuer {issuer}"))
            }
            Self::UnknownWorkload { workload } => {
                Some(format!("no id of [[auth.spiffe]] or spiffe of [providers] matches {workload}"))
            }
            Self::OfHost { provider, workload: None } => {
                Some(format!("it fits the claim of [providers.{provider}]"))
            }
            Self::OfHost { provider, workload: Some(id) } => Some(spiffe_of_provider(id, provider)),
            Self::OfNoHost { user, workload: None } => {
                Some(format!("it is of {user}, and fits the claim of no provider"))
            }
            Self::OfNoHost { user, workload: Some(id) } => Some(spiffe_of_user(id, user)),
            Self::WrongAudience { named, accepted } => {
                Some(format!("it is for {}, and accepted are {}", list(named), list(accepted)))
            }
            _ => None,
        }
    }
}

/// Which setting makes a workload a host.
pub fn spiffe_of_provider(id: &str, provider: &str) -> String {
    format!("{id} matches spiffe of [providers.{provider}]")
}

/// Which setting makes a workload a user, and not a host.
pub fn spiffe_of_user(id: &str, user: &UserId) -> String {
    format!("{id} matches the id of {user} in [[auth.spiffe]], and spiffe of no provider")
}

/// A text of a token in quotes, bounded and escaped, for the log alone: it may be anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted(String);

impl Quoted {
    pub(crate) fn new(text: &str) -> Self {
        let shown: String = text.chars().take(MAX_QUOTED).collect();
        let rest = if shown.len() < text.len() { "…" } else { "" };
        Self(format!("\"{}{rest}\"", visible(&shown.replace('\\', "\\\\").replace('"', "\\\""))))
    }

    /// Each of the first ones of many.
    pub(crate) fn all<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<Self> {
        texts.into_iter().take(MAX_LISTED + 1).map(Self::new).collect()
    }
}

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn list(texts: &[Quoted]) -> String {
    let shown: Vec<_> = texts.iter().take(MAX_LISTED).map(ToString::to_string).collect();
    match texts.len() {
        0 => "none".to_owned(),
        1..=MAX_LISTED => shown.join(", "),
        _ => format!("{} and more", shown.join(", ")),
    }
}

/// A length of time, exactly, in minutes if it has whole ones.
fn in_words(length: &Duration) -> String {
    match (length.as_secs(), length.subsec_nanos()) {
        (seconds, 0) if seconds % 60 == 0 => format!("{} min", seconds / 60),
        _ => clock::exact_in_words(*length),
    }
}
