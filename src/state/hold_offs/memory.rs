//! An in-memory store of hold-offs.

use std::{
    collections::BTreeMap,
    future::ready,
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use futures_util::future::BoxFuture;

use crate::hold_offs::{HoldOff, HoldOffs, is_of_source};
use toolwire_db::StoreError;

#[derive(Debug, Default)]
pub struct MemoryHoldOffs(Mutex<BTreeMap<String, HoldOff>>);

impl HoldOffs for MemoryHoldOffs {
    fn of_source<'a>(
        &'a self,
        source: &'a str,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Vec<(String, HoldOff)>, StoreError>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let in_force = known.iter().filter(|(name, it)| is_of_source(name, source) && it.until > now);
        let found = in_force.map(|(name, it)| (name.clone(), it.clone())).collect();
        Box::pin(ready(Ok(found)))
    }

    fn begin<'a>(&'a self, name: &'a str, hold_off: &'a HoldOff) -> BoxFuture<'a, Result<(), StoreError>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = known.entry(name.to_owned()).or_insert_with(|| hold_off.clone());
        if hold_off.until >= kept.until {
            kept.clone_from(hold_off);
        }
        Box::pin(ready(Ok(())))
    }
}
