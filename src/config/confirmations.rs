//! Settings of confirmations: how long a decision may take, and whether one's own calls count.

use std::time::Duration;

use super::{
    conditions::{self, Conditions},
    reader::Reader,
    settings::{at_most, settings},
    webhooks::Webhook,
};
use toolwire_tool::context::UserId;

/// The longest time that can be set: the arguments of the call are stored no longer, and are needed until then.
const LONGEST: Duration = Duration::from_hours(24 * 30);

settings! {
    /// Decisions of persons on calls: `[confirmations]`. `approve` of `[[auth.users]]`, and `may` of `[[auth.rules]]`,
    /// say who may decide.
    ///
    /// `needs_credentials`: whether there are users, who are then kept apart.
    #[derive(Clone, Debug)]
    pub struct Confirmations in "confirmations" of (needs_credentials: bool = false) {
        /// Whether users may decide on their own calls.
        own_calls: bool = !needs_credentials, "TOOLWIRE_CONFIRMATIONS_OWN_CALLS";
        /// How long a confirmation can be decided.
        expire_in: Duration = Duration::from_mins(10), "TOOLWIRE_CONFIRMATIONS_EXPIRE_IN", as at_most(LONGEST);
        /// The same where the call is one of a task, which waits meanwhile.
        tasks_expire_in: Duration = expire_in, "TOOLWIRE_CONFIRMATIONS_TASKS_EXPIRE_IN", as at_most(LONGEST);
        /// How long an approved one can be used.
        use_within: Duration = Duration::from_mins(10), "TOOLWIRE_CONFIRMATIONS_USE_WITHIN", as at_most(LONGEST);
        /// The users who may decide in the form that their client of MCP shows, on calls on which they may decide at
        /// all. The program that is such a client can fill in the form. In the variable with commas, in the file a
        /// list.
        in_client: Vec<UserId> = Vec::new(), "TOOLWIRE_CONFIRMATIONS_IN_CLIENT", as Reader::values;
    }
    and {
        /// Conditions on arguments, by tool, beside those of manifests: `[confirmations.approve_unless.TOOL]`, JSON
        /// Schemas by the name of an argument. Default none.
        approve_unless: Conditions = conditions::read_all;
        /// The webhooks that are notified of them: `[[confirmations.webhooks]]`. Default none.
        webhooks: Vec<Webhook> = Webhook::read_all;
    }
}
