//! `toolwire token`: makes bearer tokens of users. It asks no server and changes no file.

use clap::{Args, Subcommand};
use data_encoding::BASE64URL_NOPAD;

use toolwire_base::digest::Digest;
use toolwire_server::console::{self, Failure};
use toolwire_tool::context::UserId;

/// What tokens begin with, by which scanners find one that leaked.
const PREFIX: &str = "twk_";

/// Makes tokens of users
#[derive(Debug, Args)]
pub(super) struct TokenArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Prints a new random token, once, and the entry of the user for the configuration, which holds its digest alone
    New {
        /// The id of the user whose token it becomes
        #[arg(value_name = "USER")]
        user: UserId,
    },
}

impl TokenArgs {
    pub(super) fn run(self) -> Result<(), Failure> {
        let Action::New { user } = self.action;
        let mut random = [0; 32];
        getrandom::fill(&mut random)
            .map_err(|error| Failure::Failed(format!("the system gives no random bytes: {error}")))?;
        console::print(&text(&user, &random))
    }
}

/// The token and its entry.
fn text(user: &UserId, random: &[u8; 32]) -> String {
    let token = format!("{PREFIX}{}", BASE64URL_NOPAD.encode(random));
    let (user, digest) = (serde_json::json!(user.as_str()), Digest::of_bytes(token.as_bytes()));
    format!("{token}\n\n[[auth.users]]\nuser_id = {user}\ntoken_sha256 = \"{digest}\"")
}

#[cfg(test)]
mod tests {
    use toolwire_config::TokenDigest;

    use super::*;

    #[test]
    fn the_entry_has_the_digest_of_the_token_and_quotes_the_user() {
        let text = text(&r#"a"b\"#.parse().unwrap(), &[7; 32]);
        let (token, entry) = text.split_once("\n\n").unwrap();
        assert_eq!(token.len(), PREFIX.len() + 43);
        let (_, digest) = entry.split_once("token_sha256 = \"").unwrap();
        let digest = Digest::from_hex(digest.trim_end_matches('"')).unwrap();
        assert_eq!(TokenDigest::of(token.as_bytes()).as_bytes(), digest.as_bytes());
        assert!(entry.contains(r#"user_id = "a\"b\\""#), "{entry}");
        assert!(!entry.contains(token));
    }
}
