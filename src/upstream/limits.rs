//! What agents and operators are told of limits and cool-downs (spec 004 §4.4).
//!
//! Looks and never reserves: that a request made now would be let through is no promise for the next moment.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures_util::future::BoxFuture;

use super::limiter::{Limiter, Policy};
use crate::{
    clock,
    context::UserId,
    store::{
        StoreError,
        cool_downs::{CoolDown, CoolDowns},
    },
};

/// What a source would do with a request of a user's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// How long a request made now would wait, cool-downs included.
    pub wait_time: Duration,
    /// The user's budget; `None` without limits.
    pub policy: Option<Policy>,
    /// Until when the source is left alone after it refused us, if it did.
    pub cool_down_until: Option<SystemTime>,
}

/// A source with a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceBudget {
    /// Its name, such as `forum`.
    pub name: String,
    /// What people call it, such as `The Forum`.
    pub title: String,
    /// Each user's budget.
    pub policy: Policy,
}

/// Tells of limits and cool-downs.
pub trait SourceLimits: Send + Sync + Debug {
    /// What a source would do with a request of the user's.
    fn limits<'a>(&'a self, user: &'a UserId, source: &'a str) -> BoxFuture<'a, Standing>;

    /// The sources that have budgets.
    fn budgets(&self) -> Vec<SourceBudget>;

    /// The sources that are left alone for everybody, and why.
    fn refused(&self) -> BoxFuture<'_, Result<BTreeMap<String, String>, StoreError>>;
}

/// Tells what the limiter and the cool-downs in force say.
#[derive(Clone, Debug)]
pub struct Limits {
    limiter: Arc<dyn Limiter>,
    cool_downs: Arc<dyn CoolDowns>,
    titles: BTreeMap<String, String>,
}

impl Standing {
    /// Whether a request made now would be let through at once (spec 004 `canMakeRequest`).
    pub fn can_make_request(&self) -> bool {
        self.wait_time.is_zero()
    }
}

impl Limits {
    /// The sources are given by name and title.
    pub fn new<'a>(
        limiter: Arc<dyn Limiter>,
        cool_downs: Arc<dyn CoolDowns>,
        sources: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let titles = sources.into_iter().map(|(name, title)| (name.to_owned(), title.to_owned()));
        Self { limiter, cool_downs, titles: titles.collect() }
    }

    /// The cool-down that holds for the user. A store that cannot be read bars nobody here: the request itself will tell.
    async fn cool_down(&self, user: &UserId, source: &str, now: SystemTime) -> Option<CoolDown> {
        let found = self.cool_downs.in_force(source, user, now).await;
        found.unwrap_or_else(|error| {
            tracing::warn!(source, %error, "cool-downs cannot be read");
            None
        })
    }
}

impl SourceLimits for Limits {
    fn limits<'a>(&'a self, user: &'a UserId, source: &'a str) -> BoxFuture<'a, Standing> {
        Box::pin(async move {
            let now = clock::wall();
            let cool_down_until = self.cool_down(user, source, now).await.map(|it| it.until);
            let cooling =
                cool_down_until.and_then(|until| until.duration_since(now).ok()).unwrap_or_default();
            Standing {
                wait_time: self.limiter.wait_time(source, user).await.max(cooling),
                policy: self.limiter.policy(source).map(|policy| policy.per_user),
                cool_down_until,
            }
        })
    }

    fn budgets(&self) -> Vec<SourceBudget> {
        let budget = |(name, title): (&String, &String)| {
            let policy = self.limiter.policy(name)?.per_user;
            Some(SourceBudget { name: name.clone(), title: title.clone(), policy })
        };
        self.titles.iter().filter_map(budget).collect()
    }

    fn refused(&self) -> BoxFuture<'_, Result<BTreeMap<String, String>, StoreError>> {
        Box::pin(async move {
            let cool_downs = self.cool_downs.of_sources(clock::wall()).await?;
            Ok(cool_downs.into_iter().map(|(source, it)| (source, in_words(&it))).collect())
        })
    }
}

fn in_words(cool_down: &CoolDown) -> String {
    format!("{}; it is left alone until {}", cool_down.reason, clock::rfc3339(cool_down.until))
}

#[cfg(test)]
mod tests;
