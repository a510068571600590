//! Persistent hold-offs.

use std::time::SystemTime;

use futures_util::future::BoxFuture;

use crate::{
    Store,
    hold_offs::{HoldOff, HoldOffs, rows},
};
use toolwire_db::{Durability, Lane, StoreError, scoped};

impl HoldOffs for Store {
    fn now(&self) -> SystemTime {
        self.database.now()
    }

    fn of_source<'a>(
        &'a self,
        source: &'a str,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Vec<(String, HoldOff)>, StoreError>> {
        Box::pin(async move {
            let all = self.fetch_all(rows::list(source, now)).await?;
            Ok(all.into_iter().map(|it| (it.name, it.hold_off)).collect())
        })
    }

    fn begin<'a>(&'a self, name: &'a str, hold_off: &'a HoldOff) -> BoxFuture<'a, Result<(), StoreError>> {
        // If it is lost with the power, it costs one request, which the source answers with another hold-off.
        Box::pin(self.transact(Lane::Source(name), Durability::Process, move |tx| {
            scoped(rows::put(name, hold_off).run(tx))
        }))
    }
}
