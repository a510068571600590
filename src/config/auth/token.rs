//! What is kept of a bearer token: its digest, so that memory reveals no token, nor does a file that has
//! `token_sha256`.
//!
//! Not here: comparing tokens, which the server does without telling how much of one was right.

use std::{collections::BTreeSet, fmt};

use secrecy::{ExposeSecret, SecretString};

use crate::{fields::Fields, reader::Reader, value::HIDDEN};
use toolwire_base::digest::Digest;

/// Shorter tokens are reported as weak.
const LEAST_LENGTH: usize = 16;
/// So are tokens of fewer different characters.
const LEAST_DIFFERENT: usize = 8;

/// SHA-256 of a token. Never shown: that of a weak token reveals it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenDigest(Digest);

impl TokenDigest {
    /// The digest of a token as it is presented.
    pub fn of(token: &[u8]) -> Self {
        Self(Digest::of_bytes(token))
    }

    /// Its 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// The token of an entry: `token`, `token_env` or `token_sha256`. With it what is weak about it, where that is
    /// known. `Some(None)` where the variable is not set.
    #[allow(clippy::option_option, reason = "a token that is wrong, and one that is not set")]
    pub(super) fn read(
        entry: &mut Fields,
        reader: &mut Reader,
    ) -> Option<Option<(Self, Option<&'static str>)>> {
        let plain = entry.optional::<SecretString>("token");
        let variable = entry.optional::<String>("token_env");
        let digest = entry.optional::<SecretString>("token_sha256");
        if ["token", "token_env", "token_sha256"].iter().filter(|name| entry.has(name)).count() > 1 {
            entry.problem("expected one of token, token_env and token_sha256; remove the others");
            return None;
        }
        let read = match (plain, variable, digest) {
            (Some(token), ..) => of_text(&token).map(Some),
            (_, Some(name), _) => reader.token(&name, entry).map(|it| of_text(&it.into())).transpose(),
            (_, _, Some(digest)) => of_hex(digest.expose_secret()).map(Some),
            // It is there, and no text, which is reported already.
            (None, None, None)
                if entry.has("token") || entry.has("token_env") || entry.has("token_sha256") =>
            {
                return None;
            }
            (None, None, None) => {
                Err("expected token, token_env with the name of a variable, or token_sha256 with \
                                       the digest that `toolwire token new` prints"
                    .to_owned())
            }
        };
        read.map_err(|what| entry.problem(what)).ok()
    }
}

fn of_text(token: &SecretString) -> Result<(TokenDigest, Option<&'static str>), String> {
    let token = token.expose_secret();
    check_shown(token, "token")?;
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("token must be visible ASCII characters without spaces, at least one".to_owned());
    }
    Ok((TokenDigest::of(token.as_bytes()), weakness(token)))
}

fn of_hex(digest: &str) -> Result<(TokenDigest, Option<&'static str>), String> {
    check_shown(digest, "token_sha256")?;
    let digest = Digest::from_hex(digest)
        .ok_or("token_sha256 must be the SHA-256 of the token, 64 hexadecimal digits in lower case")?;
    Ok((TokenDigest(digest), None))
}

fn check_shown(text: &str, name: &str) -> Result<(), String> {
    if text == HIDDEN {
        return Err(format!(
            "{name} is {HIDDEN}, which only stands for one; write the token itself or its digest"
        ));
    }
    Ok(())
}

/// A token that can be guessed. Random ones of 16 characters have at least 8 different ones.
fn weakness(token: &str) -> Option<&'static str> {
    let different = token.bytes().collect::<BTreeSet<_>>().len();
    let advice = "token is easy to guess: make a random one, as `toolwire token new` does";
    (token.len() < LEAST_LENGTH || different < LEAST_DIFFERENT).then_some(advice)
}

impl From<TokenDigest> for Digest {
    fn from(digest: TokenDigest) -> Self {
        digest.0
    }
}

impl From<SecretString> for TokenDigest {
    fn from(token: SecretString) -> Self {
        Self::of(token.expose_secret().as_bytes())
    }
}

impl fmt::Debug for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}
