//! Cool-downs with write-through: recorded in memory first, then in a store, so that they apply at once and even if the
//! store fails.
//!
//! Cool-downs of embedded sources stay in memory: a simulated source must not delay the real one, or the reverse. A
//! refusal must stop requests that are already queued, and a full disk must not lead to requests to a source that
//! blocked us.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures_util::future::BoxFuture;
use tokio::time::timeout;

use super::{CoolDown, CoolDowns};
use crate::MemoryCoolDowns;
use toolwire_db::StoreError;
use toolwire_tool::context::UserId;

/// Timeout of reads from the store. A later response is dropped.
const TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct RememberedCoolDowns {
    memory: MemoryCoolDowns,
    store: Arc<dyn CoolDowns>,
    live: Live,
}

/// The live sources, whose entries go to the store.
#[derive(Debug)]
pub(crate) struct Live(BTreeSet<String>);

impl RememberedCoolDowns {
    /// Reads the cool-downs of live sources from the store, and records new ones in memory too.
    pub fn new<'a>(store: Arc<dyn CoolDowns>, live: impl IntoIterator<Item = &'a str>) -> Self {
        Self { memory: MemoryCoolDowns::default(), store, live: Live::of(live) }
    }
}

impl Live {
    pub(crate) fn of<'a>(sources: impl IntoIterator<Item = &'a str>) -> Self {
        Self(sources.into_iter().map(str::to_owned).collect())
    }

    /// A part of a live source, `<source>/<part>`, is live too.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains(name.split('/').next().unwrap_or(name))
    }
}

impl CoolDowns for RememberedCoolDowns {
    fn now(&self) -> SystemTime {
        self.store.now()
    }

    fn in_force<'a>(
        &'a self,
        source: &'a str,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<CoolDown>, StoreError>> {
        Box::pin(async move {
            let remembered = self.memory.in_force(source, user, now).await?;
            if !self.live.has(source) {
                return Ok(remembered);
            }
            let stored = with_timeout(self.store.in_force(source, user, now)).await;
            match (remembered, stored) {
                (Some(remembered), Ok(Some(stored))) => Ok(Some(later(remembered, stored))),
                (Some(remembered), _) => Ok(Some(remembered)),
                (None, stored) => stored,
            }
        })
    }

    fn begin<'a>(
        &'a self,
        source: &'a str,
        user: Option<&'a UserId>,
        cool_down: &'a CoolDown,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.memory.begin(source, user, cool_down).await?;
            if !self.live.has(source) {
                return Ok(());
            }
            self.store.begin(source, user, cool_down).await
        })
    }

    fn of_sources(&self, now: SystemTime) -> BoxFuture<'_, Result<Vec<(String, CoolDown)>, StoreError>> {
        Box::pin(async move {
            let remembered = self.memory.of_sources(now).await?;
            if self.live.0.is_empty() {
                return Ok(remembered);
            }
            let mut stored = match with_timeout(self.store.of_sources(now)).await {
                Err(error) if remembered.is_empty() => return Err(error),
                stored => stored.unwrap_or_default(),
            };
            stored.retain(|(source, _)| self.live.has(source));
            let mut all: BTreeMap<String, CoolDown> = BTreeMap::new();
            for (source, cool_down) in remembered.into_iter().chain(stored) {
                let longest = match all.remove(&source) {
                    Some(earlier) => later(earlier, cool_down),
                    None => cool_down,
                };
                all.insert(source, longest);
            }
            Ok(all.into_iter().collect())
        })
    }
}

pub(crate) async fn with_timeout<T>(
    read: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    timeout(TIMEOUT, read).await.map_err(|_| StoreError::Late)?
}

fn later(one: CoolDown, other: CoolDown) -> CoolDown {
    if other.until > one.until { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use toolwire_base::clock;
    use toolwire_contract::ErrorCode;

    #[tokio::test]
    async fn a_cool_down_holds_although_its_store_fails() {
        let cool_downs = RememberedCoolDowns::new(Arc::new(Store::unavailable("there is no place")), ["nse"]);
        let user: UserId = "demo".parse().unwrap();
        let now = clock::wall();
        assert!(cool_downs.in_force("nse", &user, now).await.is_err());
        let blocked = CoolDown {
            code: ErrorCode::Blocked,
            reason: "refused".to_owned(),
            until: now + Duration::from_hours(1),
        };
        assert!(cool_downs.begin("nse", None, &blocked).await.is_err(), "it is said that it cannot be kept");
        assert_eq!(cool_downs.in_force("nse", &user, now).await.unwrap(), Some(blocked.clone()));
        assert_eq!(cool_downs.of_sources(now).await.unwrap(), [("nse".to_owned(), blocked)]);
    }

    #[tokio::test]
    async fn a_cool_down_of_another_process_holds_too() {
        let store = Arc::new(Store::in_memory());
        let (one, other) = (
            RememberedCoolDowns::new(store.clone(), ["nse"]),
            RememberedCoolDowns::new(store.clone(), ["nse"]),
        );
        let user: UserId = "demo".parse().unwrap();
        let now = clock::wall();
        let until = now + Duration::from_hours(1);
        let blocked = CoolDown { code: ErrorCode::Blocked, reason: "refused".to_owned(), until };
        one.begin("nse", None, &blocked).await.unwrap();
        assert!(other.in_force("nse", &user, now).await.unwrap().is_some());
        let embedded = RememberedCoolDowns::new(store, []);
        assert_eq!(embedded.in_force("nse", &user, now).await.unwrap(), None, "the twin is another source");
        assert_eq!(embedded.of_sources(now).await.unwrap(), []);
    }
}
