//! Persistent hold-offs.

use std::time::SystemTime;

use futures_util::future::BoxFuture;

use super::{Durability, Store};
use crate::{
    Lane, StoreError,
    hold_offs::{HoldOff, HoldOffs},
    rows::hold_offs as rows,
    scoped,
};

impl HoldOffs for Store {
    fn of_source<'a>(
        &'a self,
        source: &'a str,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Vec<(String, HoldOff)>, StoreError>> {
        Box::pin(async move {
            let mut reader = self.reader().await?;
            self.explain(rows::list(&mut reader, source, now).await)
        })
    }

    fn begin<'a>(&'a self, name: &'a str, hold_off: &'a HoldOff) -> BoxFuture<'a, Result<(), StoreError>> {
        // Lost with the power, it costs one request that is answered with another.
        Box::pin(self.transact(Lane::Source(name), Durability::Process, move |tx| {
            scoped(rows::put(tx, name, hold_off))
        }))
    }
}
