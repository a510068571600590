//! Persistent cool-downs.

use std::time::SystemTime;

use futures_util::future::BoxFuture;

use crate::{
    Store,
    cool_downs::{CoolDown, CoolDowns, rows},
};
use toolwire_db::{Durability, Lane, StoreError, scoped};
use toolwire_tool::context::UserId;

impl CoolDowns for Store {
    fn now(&self) -> SystemTime {
        self.database.now()
    }

    fn in_force<'a>(
        &'a self,
        source: &'a str,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<CoolDown>, StoreError>> {
        Box::pin(async move { self.fetch_optional(rows::longest(source, user, now)).await })
    }

    fn begin<'a>(
        &'a self,
        source: &'a str,
        user: Option<&'a UserId>,
        cool_down: &'a CoolDown,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        // If it were lost, requests would be sent to a source that has just refused one.
        Box::pin(self.transact(Lane::Source(source), Durability::Power, move |tx| {
            scoped(rows::put(source, user, cool_down).run(tx))
        }))
    }

    fn of_sources(&self, now: SystemTime) -> BoxFuture<'_, Result<Vec<(String, CoolDown)>, StoreError>> {
        Box::pin(async move {
            let all = self.fetch_all(rows::list(now)).await?;
            Ok(all.into_iter().map(|it| (it.source, it.cool_down)).collect())
        })
    }
}
