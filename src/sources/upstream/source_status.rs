//! The state of limits, hold-offs and cool-downs, for agents and operators.
//!
//! Reads only and reserves no slot: a request that could be made now may have to wait a moment later.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures_util::future::BoxFuture;

use super::limiter::{Budget, Limiter};
use toolwire_base::clock;
use toolwire_db::StoreError;
use toolwire_state::{
    MemoryHoldOffs,
    cool_downs::{CoolDown, CoolDowns},
    hold_offs::HoldOffs,
};
use toolwire_tool::context::UserId;

/// How long a request of one user would wait, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceStatus {
    /// How long a request made now would wait, cool-downs and holds included.
    pub wait_time: Duration,
    /// The user's budget; `None` without limits.
    pub budget: Option<Budget>,
    /// The user's requests that count against it now, made or promised.
    pub used: u32,
    /// The budget of all users, and their requests that count against it now. `None` without a limit.
    pub ceiling: Option<(Budget, u32)>,
    /// Until when the source is left alone after it refused us, if it did.
    pub cool_down_until: Option<SystemTime>,
    /// Why a request made now would wait for more than the rate limit, until when, and how long that is; or which parts
    /// of the source would delay it.
    pub reason: Option<String>,
}

/// Until when a source is not asked for a user, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    pub until: SystemTime,
    /// Why, in a sentence.
    pub reason: String,
}

/// A further reason not to ask a source, beside limits and cool-downs, which only its domain knows.
pub trait Hold: Send + Sync + Debug {
    fn source(&self) -> &str;
    /// The pause in force for the user.
    fn of<'a>(&'a self, user: &'a UserId) -> BoxFuture<'a, Option<Pause>>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceBudget {
    /// Its name, such as `forum`.
    pub name: String,
    /// What people call it, such as `The Forum`.
    pub title: String,
    pub budget: Budget,
}

/// Looks up the state of limits and cool-downs.
pub trait SourceLimits: Send + Sync + Debug {
    fn status<'a>(&'a self, user: &'a UserId, source: &'a str) -> BoxFuture<'a, SourceStatus>;

    /// The budgets as agents see them: those of the live sources, even while an embedded one answers. An agent that
    /// plans by them meets no surprise when the source goes live.
    fn budgets(&self) -> Vec<SourceBudget>;

    /// The sources in a cool-down for all users, and why.
    fn cool_downs(&self) -> BoxFuture<'_, Result<BTreeMap<String, String>, StoreError>>;
}

/// The state of the limiter, and of the hold-offs and cool-downs in force.
#[derive(Clone, Debug)]
pub struct Limits {
    limiter: Arc<dyn Limiter>,
    cool_downs: Arc<dyn CoolDowns>,
    hold_offs: Arc<dyn HoldOffs>,
    budgets: Vec<SourceBudget>,
    holds: Vec<Arc<dyn Hold>>,
}

impl SourceStatus {
    /// Whether a request made now would not wait.
    pub fn can_make_request(&self) -> bool {
        self.wait_time.is_zero()
    }
}

impl Limits {
    /// The budgets are those that agents see.
    pub fn new(
        limiter: Arc<dyn Limiter>,
        cool_downs: Arc<dyn CoolDowns>,
        budgets: Vec<SourceBudget>,
    ) -> Self {
        let hold_offs = Arc::<MemoryHoldOffs>::default();
        Self { limiter, cool_downs, hold_offs, budgets, holds: Vec::new() }
    }

    /// The same, and the pauses that sources asked for.
    #[must_use]
    pub fn with_hold_offs(self, hold_offs: Arc<dyn HoldOffs>) -> Self {
        Self { hold_offs, ..self }
    }

    /// The same, and what else keeps sources from being asked.
    #[must_use]
    pub fn with_holds(self, holds: Vec<Arc<dyn Hold>>) -> Self {
        Self { holds, ..self }
    }

    /// The longest pause of a source, be it a cool-down, a hold-off or a hold of its domain; and the pauses of its
    /// parts.
    async fn pauses_of_user(
        &self,
        user: &UserId,
        source: &str,
        cool_down: Option<&CoolDown>,
        now: SystemTime,
    ) -> (Option<Pause>, Vec<Pause>) {
        let (pauses, parts): (Vec<_>, Vec<_>) =
            self.pauses(source, now).await.into_iter().partition(|(name, _)| name == source);
        let cooling = cool_down.map(|it| Pause { until: it.until, reason: it.reason.clone() });
        let mut all: Vec<_> = cooling.into_iter().chain(pauses.into_iter().map(|(_, held)| held)).collect();
        for hold in self.holds.iter().filter(|hold| hold.source() == source) {
            all.extend(hold.of(user).await);
        }
        let longest = all.into_iter().max_by_key(|held| held.until);
        (longest, parts.into_iter().map(|(_, held)| held).collect())
    }

    /// The hold-offs of a source and of its parts, and the cool-downs of its parts. Those that cannot be read count as
    /// none.
    async fn pauses(&self, source: &str, now: SystemTime) -> Vec<(String, Pause)> {
        let hold_offs = self.hold_offs.of_source(source, now).await.unwrap_or_else(|error| {
            tracing::warn!(source, %error, "hold-offs cannot be read");
            Vec::new()
        });
        let cool_downs = self.cool_downs.of_sources(now).await.unwrap_or_default();
        let of_parts = cool_downs
            .into_iter()
            .filter(|(name, _)| name.strip_prefix(source).is_some_and(|rest| rest.starts_with('/')));
        let hold_offs =
            hold_offs.into_iter().map(|(name, it)| (name, Pause { until: it.until, reason: it.reason }));
        let of_parts = of_parts.map(|(name, it)| (name, Pause { until: it.until, reason: it.reason }));
        hold_offs.chain(of_parts).collect()
    }

    /// The cool-down in force for the user. If the store cannot be read there is none: the request itself will fail.
    async fn cool_down(&self, user: &UserId, source: &str, now: SystemTime) -> Option<CoolDown> {
        let found = self.cool_downs.in_force(source, user, now).await;
        found.unwrap_or_else(|error| {
            tracing::warn!(source, %error, "cool-downs cannot be read");
            None
        })
    }
}

impl SourceLimits for Limits {
    fn status<'a>(&'a self, user: &'a UserId, source: &'a str) -> BoxFuture<'a, SourceStatus> {
        Box::pin(async move {
            let now = self.cool_downs.now();
            let cool_down = self.cool_down(user, source, now).await;
            let (held, parts) = self.pauses_of_user(user, source, cool_down.as_ref(), now).await;
            let wait = held.as_ref().and_then(|held| held.until.duration_since(now).ok()).unwrap_or_default();
            let usage = self.limiter.usage(source, user).await;
            let budgets = self.limiter.budgets(source);
            SourceStatus {
                wait_time: usage.wait.max(wait),
                budget: budgets.map(|budgets| budgets.per_user),
                used: usage.of_user,
                ceiling: budgets
                    .map(|budgets| (budgets.ceiling, usage.of_all))
                    .filter(|(ceiling, _)| *ceiling != Budget::UNLIMITED),
                cool_down_until: cool_down.map(|it| it.until),
                reason: reason(held.as_ref(), &parts, now),
            }
        })
    }

    fn budgets(&self) -> Vec<SourceBudget> {
        self.budgets.clone()
    }

    fn cool_downs(&self) -> BoxFuture<'_, Result<BTreeMap<String, String>, StoreError>> {
        Box::pin(async move {
            let cool_downs = self.cool_downs.of_sources(self.cool_downs.now()).await?;
            Ok(cool_downs.into_iter().map(|(source, it)| (source, in_words(&it))).collect())
        })
    }
}

/// Why the source is not asked, or else which parts of it are not.
fn reason(held: Option<&Pause>, parts: &[Pause], now: SystemTime) -> Option<String> {
    let sentence = |held: &Pause| {
        let (until, left) = (clock::rfc3339(held.until), held.until.duration_since(now).unwrap_or_default());
        format!("{} It is asked again from {until} on (in {}).", held.reason, clock::wait_in_words(left))
    };
    if let Some(held) = held {
        return Some(sentence(held));
    }
    let parts: Vec<_> = parts.iter().map(sentence).collect();
    (!parts.is_empty()).then(|| format!("{} Other requests to this source go on.", parts.join(" ")))
}

fn in_words(cool_down: &CoolDown) -> String {
    format!("{} It is left alone until {}.", cool_down.reason, clock::rfc3339(cool_down.until))
}

#[cfg(test)]
mod tests;
