//! Refusals, written as they become due, listed and forgotten.

use std::convert::Infallible;

use crate::{
    Store,
    audit::{RETENTION, log_records},
    refusals::{Criteria, RefusalRecord, rows},
};
use toolwire_db::{Durability, Lane, StoreError};
use toolwire_telemetry::metric;
use toolwire_tool::context::{RefusalLog, RefusedRequest};

/// Maximum number of records.
const MAX_RECORDS: u64 = 100_000;
/// Maximum number of records that a sweep examines in one transaction.
const SWEPT_AT_ONCE: u32 = 2048;

impl RefusalLog for Store {
    fn note(&self, refused: &RefusedRequest<'_>) {
        metric::request_refused(refused.reason);
        self.refusals.note(refused, self.now());
    }
}

impl Store {
    /// Writes what is refused as it becomes due, for as long as it is polled.
    pub async fn keep_refusals(&self) -> Infallible {
        loop {
            self.refusals.wait_due().await;
            // The state's own watch says why it cannot be written.
            let _ = self.write_refusals(false).await;
        }
    }

    /// Writes what was refused: what is due, or all.
    pub async fn write_refusals(&self, all: bool) -> Result<(), StoreError> {
        let taken = self.refusals.take(all);
        if taken.is_empty() {
            return Ok(());
        }
        let due = taken.as_slice();
        let written = transact_without_clock!(self, Lane::Platform, Durability::Process, |tx| {
            for counted in due {
                rows::insert(counted).run(tx).await?;
            }
            Ok(())
        });
        if written.is_err() {
            self.refusals.put_back(taken);
        } else if log_records::are_sent() {
            taken.iter().for_each(log_records::send_refusal);
        }
        written
    }

    /// Refusals before a position, the newest first.
    pub async fn refusals(
        &self,
        criteria: &Criteria,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<RefusalRecord>, StoreError> {
        self.fetch_all(rows::list(criteria, before, limit)).await
    }

    /// Deletes some of the refusals that are too old, and those that are too many.
    pub async fn sweep_refusals(&self) -> Result<(), StoreError> {
        transact!(self, Lane::Platform, Durability::Process, |tx| {
            let until = tx.now() - RETENTION;
            rows::delete_until(until, SWEPT_AT_ONCE).run(tx).await?;
            rows::keep_latest(MAX_RECORDS).run(tx).await?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;
    use crate::refusals::Filter;
    use toolwire_tool::context::{Origin, User};

    fn note(store: &Store, reason: &'static str, user: Option<&User>) {
        let origin = Origin { face: "grpc", peer: Some([192, 0, 2, 7].into()) };
        store.note(&RefusedRequest { reason, user, origin, target: "a_tool" });
    }

    #[tokio::test]
    async fn refusals_are_listed_with_their_counts_and_forgotten_after_90_days() {
        let (store, begin) = (Store::in_memory(), UNIX_EPOCH + Duration::from_hours(24 * 365 * 56));
        store.at_time(begin);
        let riley = User::new("riley".parse().unwrap());
        note(&store, "missing", None);
        store.write_refusals(false).await.unwrap();
        store.at_time(begin + Duration::from_secs(1));
        for _ in 0..3 {
            note(&store, "missing", None);
        }
        note(&store, "tool_not_allowed", Some(&riley));
        store.write_refusals(true).await.unwrap();
        let of = async |criteria: Criteria| {
            let listed = store.refusals(&criteria, None, 10).await.unwrap();
            let mut of: Vec<_> = listed.into_iter().map(|it| (it.reason, it.user, it.count)).collect();
            of.sort();
            of
        };
        let missing = |count| ("missing".to_owned(), String::new(), count);
        let denied = ("tool_not_allowed".to_owned(), "riley".to_owned(), 1);
        assert_eq!(of(Criteria::default()).await, [missing(1), missing(3), denied.clone()]);
        let own = Criteria { seen_by: Some(riley.id.clone()), ..Criteria::default() };
        assert_eq!(of(own).await, std::slice::from_ref(&denied));
        let filter = |filter| Criteria { seen_by: None, filter };
        let reasons = Filter { reasons: vec!["missing".to_owned()], ..Filter::default() };
        assert_eq!(of(filter(reasons)).await, [missing(1), missing(3)]);
        let since = Filter { since: Some(begin + Duration::from_secs(1)), ..Filter::default() };
        assert_eq!(of(filter(since)).await, [missing(3), denied.clone()]);
        let first = store.refusals(&Criteria::default(), None, 10).await.unwrap().pop().unwrap();
        assert_eq!((first.peer.as_deref(), first.face.as_str()), (Some("192.0.2.7"), "grpc"));
        assert_eq!(
            store.refusals(&Criteria::default(), Some(first.sequence + 1), 10).await.unwrap(),
            [first]
        );
        store.at_time(begin + RETENTION);
        store.sweep_refusals().await.unwrap();
        assert_eq!(of(Criteria::default()).await, [missing(3), denied]);
    }
}
