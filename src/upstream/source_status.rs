//! The state of limits and cool-downs, for agents and operators (spec 004 §4.4).
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
use crate::{
    clock,
    context::UserId,
    store::{
        StoreError,
        cool_downs::{CoolDown, CoolDowns},
    },
};

/// How long a request of one user would wait, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceStatus {
    /// How long a request made now would wait, cool-downs included.
    pub wait_time: Duration,
    /// The user's budget; `None` without limits.
    pub budget: Option<Budget>,
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
    pub budget: Budget,
}

/// Looks up the state of limits and cool-downs.
pub trait SourceLimits: Send + Sync + Debug {
    /// The status of a source for one user.
    fn status<'a>(&'a self, user: &'a UserId, source: &'a str) -> BoxFuture<'a, SourceStatus>;

    /// The sources that have budgets.
    fn budgets(&self) -> Vec<SourceBudget>;

    /// The sources that are left alone for everybody, and why.
    fn refused(&self) -> BoxFuture<'_, Result<BTreeMap<String, String>, StoreError>>;
}

/// The state of the limiter, and of the cool-downs in force.
#[derive(Clone, Debug)]
pub struct Limits {
    limiter: Arc<dyn Limiter>,
    cool_downs: Arc<dyn CoolDowns>,
    titles: BTreeMap<String, String>,
}

impl SourceStatus {
    /// Whether a request made now would not wait (spec 004 `canMakeRequest`).
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
            let now = clock::wall();
            let cool_down_until = self.cool_down(user, source, now).await.map(|it| it.until);
            let cooling =
                cool_down_until.and_then(|until| until.duration_since(now).ok()).unwrap_or_default();
            SourceStatus {
                wait_time: self.limiter.wait_time(source, user).await.max(cooling),
                budget: self.limiter.budgets(source).map(|budgets| budgets.per_user),
                cool_down_until,
            }
        })
    }

    fn budgets(&self) -> Vec<SourceBudget> {
        let of_source = |(name, title): (&String, &String)| {
            let budget = self.limiter.budgets(name)?.per_user;
            Some(SourceBudget { name: name.clone(), title: title.clone(), budget })
        };
        self.titles.iter().filter_map(of_source).collect()
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
