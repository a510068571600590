//! The input of a turn, and its bounds.

use std::time::Duration;

use crate::Budget;
use toolwire_config::Agent as Settings;
use toolwire_contract::Refusal;
use toolwire_planner::Exchange;
use toolwire_server::service::request::{self, refuse};
use toolwire_tool::context::{RequestId, ToolContext};

const MAX_MESSAGE_LENGTH: usize = 16_384;

/// Maximum length of the name of an account, in characters.
const MAX_ACCOUNT_LENGTH: usize = 128;

const MAX_TAGS: usize = 16;

/// Maximum number of plans and of calls in a budget.
const MAX_STEPS: u32 = 64;
const MAX_CALLS: u32 = 256;

#[derive(Clone, Debug)]
pub struct NewTurn {
    /// The user, the session and the deadline.
    pub context: ToolContext,
    pub say: Say,
    /// The account, where the message names none; empty if none.
    pub account: String,
    pub request_id: Option<RequestId>,
    /// Only tools with all of these are offered.
    pub tags: Vec<String>,
    /// The kinds of the message's parts other than text, such as `image`: the answer names them.
    pub unread: Vec<String>,
    /// History from the caller: only what is older than the session's own counts.
    pub before: Vec<Exchange>,
    /// Lowers what the server allows.
    pub budget: BudgetWish,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Say {
    Message(String),
    /// Resumes the turn of this name.
    Resume(String),
}

/// The budget of a turn; 0 and `None` stand for the server's limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetWish {
    pub max_steps: u32,
    pub max_calls: u32,
    pub max_tokens: u32,
    pub max_time: Option<Duration>,
}

impl NewTurn {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if let Say::Message(message) = &self.say {
            if message.trim().is_empty() {
                return Err(refuse("message", "required", "must not be empty"));
            }
            if message.len() > MAX_MESSAGE_LENGTH {
                let what = format!("must have at most {MAX_MESSAGE_LENGTH} bytes");
                return Err(refuse("message", "max_length", &what));
            }
        }
        if self.account.chars().count() > MAX_ACCOUNT_LENGTH {
            let what = format!("must have at most {MAX_ACCOUNT_LENGTH} characters");
            return Err(refuse("account", "max_length", &what));
        }
        if self.tags.len() > MAX_TAGS {
            let what = format!("must have at most {MAX_TAGS} elements");
            return Err(refuse("tags", "max_items", &what));
        }
        request::tags("tags", self.tags.clone())?;
        let bounds = [
            ("budget.max_steps", self.budget.max_steps, MAX_STEPS),
            ("budget.max_calls", self.budget.max_calls, MAX_CALLS),
        ];
        for (field, wish, most) in bounds {
            if wish > most {
                return Err(refuse(field, "maximum", &format!("must be from 1 to {most}, or absent")));
            }
        }
        if self.budget.max_time.is_some_and(|time| time.is_zero()) {
            return Err(refuse("budget.max_time", "minimum", "must be longer than zero"));
        }
        Ok(())
    }
}

impl BudgetWish {
    /// The budget, lowered to the limits of the settings.
    pub(in crate::service) fn within(self, settings: &Settings) -> Budget {
        let least = |wish: u32, most: u32| if wish == 0 { most } else { wish.min(most) };
        Budget {
            max_steps: least(self.max_steps, settings.max_steps),
            max_calls: least(self.max_calls, settings.max_calls),
            max_tokens: least(self.max_tokens, settings.max_tokens),
        }
    }

    /// How long the turn may take.
    pub(super) fn time(self, settings: &Settings) -> Duration {
        self.max_time.map_or(settings.turn_timeout, |time| time.min(settings.turn_timeout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_only_lowers_what_the_server_allows() {
        let settings = Settings::default();
        let wish = BudgetWish { max_steps: 100, max_calls: 2, max_tokens: 0, max_time: None };
        let allowed = Budget { max_steps: 8, max_calls: 2, max_tokens: 60_000 };
        assert_eq!(wish.within(&settings), allowed);
        let hour = BudgetWish { max_time: Some(Duration::from_hours(1)), ..wish };
        assert_eq!(
            (wish.time(&settings), hour.time(&settings)),
            (settings.turn_timeout, settings.turn_timeout)
        );
        let second = BudgetWish { max_time: Some(Duration::from_secs(1)), ..wish };
        assert_eq!(second.time(&settings), Duration::from_secs(1));
    }
}
