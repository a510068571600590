//! Reservations of requests, shared by all processes of the state.

use super::{Durability, Error, Store, Tx};
use crate::{
    Lane, StoreError,
    reservations::{Choose, Nanos, Reservation},
    rows::reservations as rows,
    scoped,
};
use toolwire_tool::context::UserId;

impl Store {
    /// Adds a request at the instant that `choose` returns, given the existing ones, and returns its number.
    /// Transactions of other processes are excluded meanwhile. Requests before `since` are deleted.
    pub async fn reserve(
        &self,
        source: &str,
        user: &UserId,
        since: Nanos,
        choose: &Choose<'_>,
    ) -> Result<Option<i64>, StoreError> {
        // In a file it need not survive a loss of power, after which no source has received a request for a while. A
        // database that is lost is soon back, while the servers go on.
        let durability = if self.spans_machines() { Durability::Power } else { Durability::Process };
        self.transact(Lane::Source(source), durability, |tx| scoped(reserve(tx, source, user, since, choose)))
            .await
    }

    /// Deletes a reservation that will not be used.
    pub async fn cancel_reservation(&self, number: i64) -> Result<(), StoreError> {
        self.transact(Lane::Platform, Durability::Process, |tx| scoped(rows::delete(number).run(tx))).await
    }

    /// The reservations of a source from `since` on, in order of time.
    pub async fn reservations(&self, source: &str, since: Nanos) -> Result<Vec<Reservation>, StoreError> {
        self.fetch_all(rows::list(source, since)).await
    }
}

async fn reserve(
    tx: &mut Tx,
    source: &str,
    user: &UserId,
    since: Nanos,
    choose: &Choose<'_>,
) -> Result<Option<i64>, Error> {
    let reserved = rows::list(source, since).all(tx).await?;
    let Some(at) = choose(&reserved) else { return Ok(None) };
    rows::delete_before(source, since).run(tx).await?;
    Ok(Some(rows::insert(source, user, at).one(tx).await?))
}
