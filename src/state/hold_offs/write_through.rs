//! Hold-offs with write-through: recorded in memory first, then in a store, so that they apply at once and even if the
//! store fails.
//!
//! Hold-offs of embedded sources stay in memory, as cool-downs do. Reading never fails: a store that cannot be read
//! must not stop calls, and then only the hold-offs of this process apply.

use std::{collections::BTreeMap, sync::Arc, time::SystemTime};

use futures_util::future::BoxFuture;

use crate::{
    MemoryHoldOffs,
    cool_downs::write_through::{Live, with_timeout},
    hold_offs::{HoldOff, HoldOffs},
};
use toolwire_db::StoreError;

#[derive(Debug)]
pub struct RememberedHoldOffs {
    memory: MemoryHoldOffs,
    store: Arc<dyn HoldOffs>,
    live: Live,
}

impl RememberedHoldOffs {
    /// Reads the hold-offs of live sources from the store, and records new ones in memory too.
    pub fn new<'a>(store: Arc<dyn HoldOffs>, live: impl IntoIterator<Item = &'a str>) -> Self {
        Self { memory: MemoryHoldOffs::default(), store, live: Live::of(live) }
    }
}

impl HoldOffs for RememberedHoldOffs {
    fn now(&self) -> SystemTime {
        self.store.now()
    }

    fn of_source<'a>(
        &'a self,
        source: &'a str,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Vec<(String, HoldOff)>, StoreError>> {
        Box::pin(async move {
            let remembered = self.memory.of_source(source, now).await?;
            if !self.live.has(source) {
                return Ok(remembered);
            }
            let stored = with_timeout(self.store.of_source(source, now)).await.unwrap_or_else(|error| {
                tracing::warn!(source, %error, "only this process's hold-offs are known: the state cannot be read");
                Vec::new()
            });
            let mut all = BTreeMap::new();
            for (name, hold_off) in remembered.into_iter().chain(stored) {
                let latest = all.entry(name).or_insert_with(|| hold_off.clone());
                if hold_off.until > latest.until {
                    *latest = hold_off;
                }
            }
            Ok(all.into_iter().collect())
        })
    }

    fn begin<'a>(&'a self, name: &'a str, hold_off: &'a HoldOff) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.memory.begin(name, hold_off).await?;
            if !self.live.has(name) {
                return Ok(());
            }
            self.store.begin(name, hold_off).await
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Store;
    use toolwire_base::clock;

    fn pause() -> HoldOff {
        HoldOff { reason: "It asked for a pause.".to_owned(), until: clock::wall() + Duration::from_hours(1) }
    }

    async fn names(hold_offs: &RememberedHoldOffs, source: &str) -> Vec<String> {
        let found = hold_offs.of_source(source, clock::wall()).await.unwrap();
        found.into_iter().map(|(name, _)| name).collect()
    }

    #[tokio::test]
    async fn another_process_knows_the_hold_offs_of_live_sources_and_their_parts() {
        let store = Arc::new(Store::in_memory());
        let process = || RememberedHoldOffs::new(store.clone(), ["news"]);
        let (one, other) = (process(), process());
        for name in ["news", "news/gazette", "newspaper", "toys"] {
            one.begin(name, &pause()).await.unwrap();
        }
        assert_eq!(names(&other, "news").await, ["news", "news/gazette"]);
        assert_eq!(names(&one, "toys").await, ["toys"]);
        assert_eq!(names(&other, "toys").await, Vec::<String>::new(), "the twin is each process's own");
    }

    #[tokio::test]
    async fn a_hold_off_holds_although_its_store_fails() {
        let hold_offs = RememberedHoldOffs::new(Arc::new(Store::unavailable("there is no place")), ["news"]);
        assert!(hold_offs.begin("news", &pause()).await.is_err(), "it is said that it cannot be kept");
        assert_eq!(names(&hold_offs, "news").await, ["news"]);
    }
}
