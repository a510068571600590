//! Reservations of requests, shared by all processes of the state.

use crate::{
    Store,
    reservations::{
        Choose, Limit, LimitOfEach, Nanos, QUOTA_PREFIX, Reached, Reservation, Use, UsePlace, rows,
        since_epoch,
    },
};
use toolwire_db::{Durability, Error, Lane, StoreError, Tx, scoped};
use toolwire_tool::context::UserId;

/// The longest window of a quota, a month, and a day.
const QUOTA_MEMORY: Nanos = 32 * 24 * 3_600 * 1_000_000_000;
/// Maximum number of limits in one statement, which is compiled for each list.
const LIMITS_AT_ONCE: usize = 100;

impl Store {
    /// Adds a request at the instant that `choose` returns, given the existing ones and the time, and returns its
    /// number. Transactions of other processes are excluded meanwhile. Requests that are older than `memory` are
    /// deleted.
    pub async fn reserve(
        &self,
        source: &str,
        user: &UserId,
        memory: Nanos,
        choose: &Choose<'_>,
    ) -> Result<Option<i64>, StoreError> {
        self.transact(Lane::Source(source), self.durability_of_reservations(), |tx| {
            scoped(reserve(tx, source, user, memory, choose))
        })
        .await
    }

    /// Adds a reservation of the user under each of these limits; none if one of them is reached. Transactions of other
    /// processes for the same user are excluded meanwhile.
    pub async fn reserve_within(
        &self,
        user: &UserId,
        limits: &[Limit],
    ) -> Result<Result<Vec<i64>, Reached>, StoreError> {
        let (lane, durability) = (format!("{QUOTA_PREFIX}{user}"), self.durability_of_reservations());
        self.transact(Lane::Source(&lane), durability, |tx| scoped(reserve_within(tx, user, limits))).await
    }

    /// What is reserved now under limits that each of many users has, by all users or by one of them: the fullest
    /// first, then by user and name, behind a place. At most one row for each name. One user reads a few at once.
    pub async fn uses(
        &self,
        limits: &[LimitOfEach],
        of: Option<&UserId>,
        reader: &UserId,
        behind: Option<&UsePlace>,
        at_most: u32,
    ) -> Result<Vec<Use>, StoreError> {
        let now = since_epoch(self.now());
        let mut uses = Vec::new();
        for limits in limits.chunks(LIMITS_AT_ONCE) {
            let page = rows::list_uses(limits, of, now, behind, at_most);
            uses.extend(self.fetch_for(Some(reader), page).await?);
        }
        uses.sort_by_cached_key(Use::place);
        uses.truncate(usize::try_from(at_most).unwrap_or(usize::MAX));
        Ok(uses)
    }

    /// In a file they need not survive a loss of power, after which no source has received a request for a while. A
    /// database that is lost is soon back, while the servers go on.
    fn durability_of_reservations(&self) -> Durability {
        if self.spans_machines() { Durability::Power } else { Durability::Process }
    }

    /// Deletes a reservation that will not be used.
    pub async fn cancel_reservation(&self, number: i64) -> Result<(), StoreError> {
        self.transact(Lane::Platform, Durability::Process, |tx| scoped(rows::delete(number).run(tx))).await
    }

    /// Deletes what was counted of calls longer ago than any quota looks.
    pub async fn sweep_quotas(&self) -> Result<(), StoreError> {
        let before = since_epoch(self.now()).saturating_sub(QUOTA_MEMORY);
        self.transact(Lane::Platform, Durability::Process, |tx| {
            scoped(rows::delete_quotas_before(before).run(tx))
        })
        .await
    }

    /// The reservations of a source that are not older than `memory`, in order of time, and the time.
    pub async fn reservations(
        &self,
        source: &str,
        memory: Nanos,
    ) -> Result<(Vec<Reservation>, Nanos), StoreError> {
        let now = since_epoch(self.now());
        Ok((self.fetch_all(rows::list(source, now.saturating_sub(memory))).await?, now))
    }
}

async fn reserve(
    tx: &mut Tx,
    source: &str,
    user: &UserId,
    memory: Nanos,
    choose: &Choose<'_>,
) -> Result<Option<i64>, Error> {
    let now = since_epoch(tx.now());
    let since = now.saturating_sub(memory);
    let reserved = rows::list(source, since).all(tx).await?;
    let Some(at) = choose(&reserved, now) else { return Ok(None) };
    rows::delete_before(source, since).run(tx).await?;
    Ok(Some(rows::insert(source, user, at).one(tx).await?))
}

async fn reserve_within(
    tx: &mut Tx,
    user: &UserId,
    limits: &[Limit],
) -> Result<Result<Vec<i64>, Reached>, Error> {
    let now = since_epoch(tx.now());
    // All of them first: a refused reservation writes nothing.
    for (index, limit) in limits.iter().enumerate() {
        let since = now.saturating_sub(limit.window);
        // The newest of those that must have left the window.
        if let Some(last) = rows::nth_newest(&limit.name, since, limit.most).optional(tx).await? {
            let free_at = last.saturating_add(limit.window).saturating_add(1).max(now + 1);
            return Ok(Err(Reached { index, now, free_at }));
        }
    }
    let mut numbers = Vec::with_capacity(limits.len());
    for limit in limits {
        rows::delete_before(&limit.name, now.saturating_sub(limit.window)).run(tx).await?;
        numbers.push(rows::insert(&limit.name, user, now.saturating_add(limit.ahead)).one(tx).await?);
    }
    Ok(Ok(numbers))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use proptest::prelude::*;

    use super::*;

    const WINDOW: Nanos = 1_000;
    const BEGIN: Nanos = 1_800_000_000_000_000_000;

    fn limit(name: &str, most: u32, ahead: Nanos) -> Limit {
        let window = if ahead > 0 { 0 } else { WINDOW };
        Limit { name: name.to_owned(), most, window, ahead }
    }

    fn riley() -> UserId {
        "riley".parse().expect("a user")
    }

    fn at(store: &Store, now: Nanos) {
        store.at_time(UNIX_EPOCH + Duration::from_nanos(now));
    }

    async fn reserve(store: &Store, limits: &[Limit]) -> Result<Vec<i64>, Reached> {
        store.reserve_within(&riley(), limits).await.expect("a state")
    }

    #[tokio::test]
    async fn a_call_waits_until_enough_of_the_earlier_ones_have_left_the_window() {
        let store = Store::in_memory();
        let wait =
            async |most| reserve(&store, &[limit("a", most, 0)]).await.err().map(|it| it.free_at - it.now);
        for now in [100, 400, 900] {
            at(&store, BEGIN + now);
            assert_eq!(wait(3).await, None);
        }
        at(&store, BEGIN + 1_000);
        assert_eq!((wait(3).await, wait(2).await, wait(1).await), (Some(101), Some(401), Some(901)));
        // Other names have counts of their own.
        reserve(&store, &[limit("b", 1, 0)]).await.unwrap();
        at(&store, BEGIN + 1_101);
        assert_eq!(wait(3).await, None);
    }

    #[tokio::test]
    async fn either_all_limits_count_a_call_or_none() {
        let store = Store::in_memory();
        at(&store, BEGIN);
        let (calls, permits) = (limit("calls", 2, 0), limit("permits", 1, 50));
        let numbers = reserve(&store, &[calls.clone(), permits.clone()]).await.unwrap();
        let reached = reserve(&store, &[calls.clone(), permits.clone()]).await.unwrap_err();
        assert_eq!(reached, Reached { index: 1, now: BEGIN, free_at: BEGIN + 51 });
        // A permit is free once it is given back, or once its call must have ended.
        store.cancel_reservation(numbers[1]).await.unwrap();
        reserve(&store, std::slice::from_ref(&permits)).await.unwrap();
        at(&store, BEGIN + 51);
        reserve(&store, &[permits.clone(), calls.clone()]).await.unwrap();
        assert_eq!(reserve(&store, &[calls]).await.unwrap_err().index, 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn no_window_ever_has_more_calls_than_the_limit(
            gaps in prop::collection::vec(0..700_u64, 1..30),
            most in 1..5_u32,
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let (store, limits) = (Store::in_memory(), [limit("a", most, 0)]);
                let (mut now, mut made) = (BEGIN, Vec::new());
                for gap in gaps {
                    now += gap;
                    at(&store, now);
                    if let Err(reached) = reserve(&store, &limits).await {
                        // Not a moment before there is room, and then in any case.
                        prop_assert_eq!(reached.now, now);
                        at(&store, reached.free_at - 1);
                        prop_assert!(reserve(&store, &limits).await.is_err());
                        now = reached.free_at;
                        at(&store, now);
                        prop_assert!(reserve(&store, &limits).await.is_ok());
                    }
                    made.push(now);
                    let in_window = made.iter().filter(|at| **at >= now - WINDOW).count();
                    prop_assert!(in_window <= most as usize);
                }
                Ok(())
            })?;
        }
    }
}
