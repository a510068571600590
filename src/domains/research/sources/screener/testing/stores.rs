//! The stores that a scrape uses, in memory.

use std::{
    collections::BTreeMap,
    sync::Mutex,
    time::{Duration, SystemTime},
};

use futures_util::future::{BoxFuture, ready};
use tokio::sync::Notify;

use crate::store::screens::{Claim, ScreenCopy, Screens};
use toolwire_db::StoreError;
use toolwire_state::cool_downs::{CoolDown, CoolDowns};
use toolwire_tool::context::UserId;

/// How long a copy is fresh, and a claim holds.
pub(in crate::sources::screener) const DAY: Duration = Duration::from_hours(24);

/// Copies and claims in memory.
#[derive(Debug, Default)]
pub(in crate::sources::screener) struct MemoryScreens {
    state: Mutex<State>,
    /// Told of each copy that is kept.
    pub(in crate::sources::screener) kept: Notify,
}

#[derive(Debug, Default)]
struct State {
    copies: BTreeMap<(UserId, String), ScreenCopy>,
    claims: BTreeMap<UserId, Claimed>,
    refused: BTreeMap<(UserId, String), SystemTime>,
    fails: bool,
}

/// When a scrape was claimed, and by when it has ended.
#[derive(Clone, Copy, Debug)]
struct Claimed {
    at: SystemTime,
    ends_by: SystemTime,
}

impl MemoryScreens {
    pub(in crate::sources::screener) fn put(&self, user: &str, screen_id: &str, copy: ScreenCopy) {
        let key = (user.parse().unwrap(), screen_id.to_owned());
        self.state.lock().unwrap().copies.insert(key, copy);
    }

    pub(in crate::sources::screener) fn ids(&self, user: &str) -> Vec<String> {
        let state = self.state.lock().unwrap();
        state.copies.keys().filter(|(of, _)| of.as_str() == user).map(|(_, id)| id.clone()).collect()
    }

    pub(in crate::sources::screener) fn spend(&self, user: &str, at: SystemTime) {
        self.state.lock().unwrap().claims.insert(user.parse().unwrap(), Claimed { at, ends_by: at });
    }

    pub(in crate::sources::screener) fn is_spent(&self, user: &str) -> bool {
        self.state.lock().unwrap().claims.contains_key(&user.parse().unwrap())
    }

    pub(in crate::sources::screener) fn fail(&self) {
        self.state.lock().unwrap().fails = true;
    }

    fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut State) -> T,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        let mut state = self.state.lock().unwrap();
        let done =
            if state.fails { Err(StoreError::Nowhere("disk".to_owned())) } else { Ok(work(&mut state)) };
        drop(state);
        Box::pin(async { done })
    }
}

impl State {
    fn allowed_at(&self, user: &UserId, now: SystemTime) -> Option<SystemTime> {
        let allowed_at = self.claims.get(user)?.at + DAY;
        (allowed_at > now).then_some(allowed_at)
    }

    fn under_way(&self, user: &UserId, now: SystemTime) -> Option<SystemTime> {
        self.claims.get(user).map(|claimed| claimed.ends_by).filter(|ends_by| *ends_by > now)
    }
}

impl Screens for MemoryScreens {
    fn copy<'a>(
        &'a self,
        user: &'a UserId,
        screen_id: &'a str,
    ) -> BoxFuture<'a, Result<Option<ScreenCopy>, StoreError>> {
        self.with(|state| state.copies.get(&(user.clone(), screen_id.to_owned())).cloned())
    }

    fn keep<'a>(
        &'a self,
        user: &'a UserId,
        screen_id: &'a str,
        copy: &'a ScreenCopy,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let done = self.with(|state| {
            state.copies.insert((user.clone(), screen_id.to_owned()), copy.clone());
        });
        self.kept.notify_one();
        done
    }

    fn claim_scrape<'a>(
        &'a self,
        user: &'a UserId,
        time_limit: Duration,
    ) -> BoxFuture<'a, Result<Claim, StoreError>> {
        let now = self.now();
        self.with(|state| {
            if let Some(allowed_at) = state.allowed_at(user, now) {
                let is_under_way = state.under_way(user, now).is_some();
                return Claim::Denied { allowed_at, is_under_way };
            }
            state.claims.insert(user.clone(), Claimed { at: now, ends_by: now + time_limit });
            Claim::Granted(now)
        })
    }

    fn end_scrape<'a>(
        &'a self,
        user: &'a UserId,
        claimed_at: SystemTime,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let now = self.now();
        self.with(|state| {
            if let Some(claimed) = state.claims.get_mut(user).filter(|claimed| claimed.at == claimed_at) {
                claimed.ends_by = now;
            }
        })
    }

    fn scrape_under_way<'a>(
        &'a self,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<SystemTime>, StoreError>> {
        self.with(|state| state.under_way(user, now))
    }

    fn release_scrape<'a>(
        &'a self,
        user: &'a UserId,
        claimed_at: SystemTime,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.with(|state| {
            if state.claims.get(user).is_some_and(|claimed| claimed.at == claimed_at) {
                state.claims.remove(user);
            }
        })
    }

    fn refuse_login<'a>(
        &'a self,
        user: &'a UserId,
        login: &'a str,
        pause: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let until = self.now() + pause;
        self.with(|state| {
            state.refused.insert((user.clone(), login.to_owned()), until);
        })
    }

    fn login_refused_until<'a>(
        &'a self,
        user: &'a UserId,
        login: &'a str,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<SystemTime>, StoreError>> {
        self.with(|state| {
            state.refused.get(&(user.clone(), login.to_owned())).copied().filter(|until| *until > now)
        })
    }

    fn scrape_allowed_at<'a>(
        &'a self,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<SystemTime>, StoreError>> {
        self.with(|state| state.allowed_at(user, now))
    }
}

/// At most one cool-down, for all users.
#[derive(Debug, Default)]
pub(in crate::sources::screener) struct OneCoolDown(pub(in crate::sources::screener) Mutex<Option<CoolDown>>);

impl CoolDowns for OneCoolDown {
    fn in_force<'a>(
        &'a self,
        _source: &'a str,
        _user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<CoolDown>, StoreError>> {
        let in_force = self.0.lock().unwrap().clone().filter(|cool_down| cool_down.until > now);
        Box::pin(ready(Ok(in_force)))
    }

    fn begin<'a>(
        &'a self,
        _source: &'a str,
        _user: Option<&'a UserId>,
        _cool_down: &'a CoolDown,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(ready(Ok(())))
    }

    fn of_sources(&self, _now: SystemTime) -> BoxFuture<'_, Result<Vec<(String, CoolDown)>, StoreError>> {
        Box::pin(ready(Ok(Vec::new())))
    }
}
