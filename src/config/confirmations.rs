//! Settings of confirmations: how long a decision may take, and whether one's own calls count.

use std::time::Duration;

use super::{reader::Reader, setting::Setting, webhooks::Webhook};

/// Longer than anybody waits, and short enough for what is kept of a confirmation.
const LONGEST: Duration = Duration::from_hours(24 * 30);

/// Decisions of persons on calls: `[confirmations]`. Who may decide stands in `approve` of `[[auth.users]]`.
#[derive(Clone, Debug)]
pub struct Confirmations {
    /// Whether a decision on one's own call counts. `own_calls`, `TOOLWIRE_CONFIRMATIONS_OWN_CALLS`, default `true`
    /// only where nobody needs credentials.
    pub own_calls: bool,
    /// How long a confirmation can be decided. `expire_in`, `TOOLWIRE_CONFIRMATIONS_EXPIRE_IN`, default `10m`.
    pub expire_in: Duration,
    /// The same where the call is one of a task, which waits meanwhile. `tasks_expire_in`,
    /// `TOOLWIRE_CONFIRMATIONS_TASKS_EXPIRE_IN`, default `expire_in`.
    pub tasks_expire_in: Duration,
    /// How long an approved one can be used. `use_within`, `TOOLWIRE_CONFIRMATIONS_USE_WITHIN`, default `10m`.
    pub use_within: Duration,
    /// Who is told: `[[confirmations.webhooks]]`. Default nobody.
    pub webhooks: Vec<Webhook>,
}

impl Default for Confirmations {
    fn default() -> Self {
        let length = Duration::from_mins(10);
        Self {
            own_calls: true,
            expire_in: length,
            tasks_expire_in: length,
            use_within: length,
            webhooks: Vec::new(),
        }
    }
}

impl Confirmations {
    /// `needs_credentials`: whether there are users, who are then kept apart.
    pub(super) fn read(reader: &mut Reader, needs_credentials: bool) -> Self {
        let default = Self::default();
        let own_calls = Setting::new("confirmations.own_calls", "TOOLWIRE_CONFIRMATIONS_OWN_CALLS");
        let expire_in = Setting::new("confirmations.expire_in", "TOOLWIRE_CONFIRMATIONS_EXPIRE_IN");
        let tasks_expire_in =
            Setting::new("confirmations.tasks_expire_in", "TOOLWIRE_CONFIRMATIONS_TASKS_EXPIRE_IN");
        let use_within = Setting::new("confirmations.use_within", "TOOLWIRE_CONFIRMATIONS_USE_WITHIN");
        let own_calls = reader.value(own_calls, !needs_credentials);
        let expire_in = reader.value(expire_in, default.expire_in);
        let read = Self {
            own_calls,
            expire_in,
            tasks_expire_in: reader.value(tasks_expire_in, expire_in),
            use_within: reader.value(use_within, default.use_within),
            webhooks: Webhook::read_all(reader),
        };
        for (key, length) in [
            ("confirmations.expire_in", read.expire_in),
            ("confirmations.tasks_expire_in", read.tasks_expire_in),
            ("confirmations.use_within", read.use_within),
        ] {
            if length.is_zero() || length > LONGEST {
                reader.problem(key, "must be longer than zero and at most 720h");
            }
        }
        read
    }
}
