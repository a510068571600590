//! Variables of their own, such as those with the tokens of entries.

use super::Reader;
use crate::fields::Fields;

impl Reader {
    /// Reads a variable that the file cannot set, such as one with a secret.
    pub fn variable(&mut self, name: &str) -> Option<String> {
        self.register_variable(name);
        self.environment.get(name).map(str::to_owned)
    }

    /// Reads the token of an entry from a variable. Where that is not set, only what takes tokens is refused.
    pub(crate) fn token(&mut self, name: &str, entry: &Fields) -> Option<String> {
        let token = self.variable(name);
        if token.is_none() {
            self.unset_tokens.push(entry.problem_here(unset_token(name)));
        }
        token
    }
}

/// What is wrong with a token whose variable is not set.
pub(crate) fn unset_token(name: &str) -> String {
    format!("token_env names {name}, which is not set; set it to the token")
}
