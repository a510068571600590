//! Reservations of requests, shared by all processes of the state.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::{
    Store,
    reservations::{Choose, Nanos, Reservation, rows},
};
use toolwire_db::{Durability, Error, Lane, StoreError, Tx, scoped};
use toolwire_tool::context::UserId;

/// The longest window of a quota, a month, and a day.
const QUOTA_MEMORY: Nanos = 32 * 24 * 3_600 * 1_000_000_000;

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
        // In a file it need not survive a loss of power, after which no source has received a request for a while. A
        // database that is lost is soon back, while the servers go on.
        let durability = if self.spans_machines() { Durability::Power } else { Durability::Process };
        self.transact(Lane::Source(source), durability, |tx| {
            scoped(reserve(tx, source, user, memory, choose))
        })
        .await
    }

    /// Deletes a reservation that will not be used.
    pub async fn cancel_reservation(&self, number: i64) -> Result<(), StoreError> {
        self.transact(Lane::Platform, Durability::Process, |tx| scoped(rows::delete(number).run(tx))).await
    }

    /// Deletes what was counted of calls longer ago than any quota looks.
    pub async fn sweep_quotas(&self) -> Result<(), StoreError> {
        let before = nanos(self.now()).saturating_sub(QUOTA_MEMORY);
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
        let now = nanos(self.now());
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
    let now = nanos(tx.now());
    let since = now.saturating_sub(memory);
    let reserved = rows::list(source, since).all(tx).await?;
    let Some(at) = choose(&reserved, now) else { return Ok(None) };
    rows::delete_before(source, since).run(tx).await?;
    Ok(Some(rows::insert(source, user, at).one(tx).await?))
}

fn nanos(instant: SystemTime) -> Nanos {
    instant.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().try_into().unwrap_or(Nanos::MAX)
}
