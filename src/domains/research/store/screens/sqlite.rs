//! Copies of screens, and each user's one scrape a day, across processes and restarts.

use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;

use super::{Claim, SCRAPE_INTERVAL, ScreenCopy, Screens, rows};
use crate::store::tables::Tables;
use toolwire_db::{Durability, Error, Lane, StoreError, Tx, scoped};
use toolwire_tool::context::UserId;

impl Screens for Tables {
    fn now(&self) -> SystemTime {
        self.store.now()
    }

    fn copy<'a>(
        &'a self,
        user: &'a UserId,
        screen_id: &'a str,
    ) -> BoxFuture<'a, Result<Option<ScreenCopy>, StoreError>> {
        Box::pin(async move {
            let mut reader = self.store.reader().await?;
            self.store.explain(rows::copy(&mut reader, &self.user_key(user), screen_id).await)
        })
    }

    fn keep<'a>(
        &'a self,
        user: &'a UserId,
        screen_id: &'a str,
        copy: &'a ScreenCopy,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let key = &*self.user_key(user);
            // There is no second one for a day, so it outlasts a loss of power.
            let kept = self.store.transact(Lane::User(user), Durability::Power, |tx| {
                scoped(rows::replace(tx, key, screen_id, copy))
            });
            kept.await
        })
    }

    fn claim_scrape<'a>(
        &'a self,
        user: &'a UserId,
        time_limit: Duration,
    ) -> BoxFuture<'a, Result<Claim, StoreError>> {
        Box::pin(async move {
            let key = &*self.user_key(user);
            // A claim once used up stays so.
            let claim = self
                .store
                .transact(Lane::User(user), Durability::Power, |tx| scoped(claim(tx, key, time_limit)));
            claim.await
        })
    }

    fn end_scrape<'a>(
        &'a self,
        user: &'a UserId,
        claimed_at: SystemTime,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let key = &*self.user_key(user);
            // Lost, it is waited for until its deadline.
            let ended = self.store.transact(Lane::User(user), Durability::Process, |tx| {
                let now = tx.now();
                scoped(rows::end_scrape(key, claimed_at, now).run(tx))
            });
            ended.await
        })
    }

    fn scrape_under_way<'a>(
        &'a self,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<SystemTime>, StoreError>> {
        Box::pin(async move {
            let mut reader = self.store.reader().await?;
            self.store.explain(rows::under_way(&self.user_key(user), now).optional(&mut reader).await)
        })
    }

    fn release_scrape<'a>(
        &'a self,
        user: &'a UserId,
        claimed_at: SystemTime,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let key = &*self.user_key(user);
            let released = self.store.transact(Lane::User(user), Durability::Power, |tx| {
                scoped(rows::delete_scrape(key, claimed_at).run(tx))
            });
            released.await
        })
    }

    fn refuse_login<'a>(
        &'a self,
        user: &'a UserId,
        login: &'a str,
        pause: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let key = &*self.user_key(user);
            // Forgotten, it would be tried again, and the site locks accounts.
            let refused = self.store.transact(Lane::User(user), Durability::Power, |tx| {
                scoped(rows::refuse_login(tx, key, login, pause))
            });
            refused.await
        })
    }

    fn login_refused_until<'a>(
        &'a self,
        user: &'a UserId,
        login: &'a str,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<SystemTime>, StoreError>> {
        Box::pin(async move {
            let mut reader = self.store.reader().await?;
            self.store
                .explain(rows::refused_until(&self.user_key(user), login, now).optional(&mut reader).await)
        })
    }

    fn scrape_allowed_at<'a>(
        &'a self,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<SystemTime>, StoreError>> {
        Box::pin(async move {
            let mut reader = self.store.reader().await?;
            let claimed_at = rows::claimed_at(&self.user_key(user)).optional(&mut reader).await;
            Ok(allowed_at(self.store.explain(claimed_at)?, now))
        })
    }
}

/// No other process looks and claims between this look and this claim.
async fn claim(tx: &mut Tx, user: &str, time_limit: Duration) -> Result<Claim, Error> {
    let now = tx.now();
    if let Some(allowed_at) = allowed_at(rows::claimed_at(user).optional(tx).await?, now) {
        let is_under_way = rows::under_way(user, now).optional(tx).await?.is_some();
        return Ok(Claim::Denied { allowed_at, is_under_way });
    }
    rows::claim(user, now, now + time_limit).run(tx).await?;
    Ok(Claim::Granted(now))
}

/// When a scrape is allowed again after the last claim; `None` if now.
fn allowed_at(claimed_at: Option<SystemTime>, now: SystemTime) -> Option<SystemTime> {
    let allowed_at = claimed_at? + SCRAPE_INTERVAL;
    (allowed_at > now).then_some(allowed_at)
}
