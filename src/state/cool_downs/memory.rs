//! An in-memory store of cool-downs.

use std::{
    collections::BTreeMap,
    future::ready,
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use futures_util::future::BoxFuture;

use crate::cool_downs::{CoolDown, CoolDowns};
use toolwire_db::StoreError;
use toolwire_tool::context::UserId;

#[derive(Debug, Default)]
pub struct MemoryCoolDowns(Mutex<BTreeMap<Key, CoolDown>>);

/// The source, and the user; `None` for all users.
type Key = (String, Option<UserId>);

impl MemoryCoolDowns {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, CoolDown>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CoolDowns for MemoryCoolDowns {
    fn in_force<'a>(
        &'a self,
        source: &'a str,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<CoolDown>, StoreError>> {
        let known = self.lock();
        let of = |user: Option<UserId>| known.get(&(source.to_owned(), user)).filter(|it| it.until > now);
        let longest = of(None).into_iter().chain(of(Some(user.clone()))).max_by_key(|it| it.until);
        Box::pin(ready(Ok(longest.cloned())))
    }

    fn begin<'a>(
        &'a self,
        source: &'a str,
        user: Option<&'a UserId>,
        cool_down: &'a CoolDown,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let mut known = self.lock();
        let kept = known.entry((source.to_owned(), user.cloned())).or_insert_with(|| cool_down.clone());
        if cool_down.until >= kept.until {
            kept.clone_from(cool_down);
        }
        Box::pin(ready(Ok(())))
    }

    fn of_sources(&self, now: SystemTime) -> BoxFuture<'_, Result<Vec<(String, CoolDown)>, StoreError>> {
        let known = self.lock();
        let in_force = known.iter().filter(|((_, user), it)| user.is_none() && it.until > now);
        let found = in_force.map(|((source, _), it)| (source.clone(), it.clone())).collect();
        Box::pin(ready(Ok(found)))
    }
}
