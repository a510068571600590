//! Recordings of calls: inserted several at a time, within the bounds of each user, and deleted once they expire.

use std::collections::BTreeMap;

use crate::{
    Store,
    recordings::{MAX_BYTES_OF_USER, MAX_ROWS_OF_USER, NewRecording, RETENTION, Recording, rows},
};
use toolwire_db::{Durability, Error, Lane, StoreError, Tx};
use toolwire_tool::context::{CallId, UserId};

/// Number of recordings deleted at once where a user's take too many bytes.
const FREED_AT_ONCE: u64 = 16;

/// What is about to be added to the recordings of a user.
#[derive(Clone, Copy, Default)]
struct Added {
    bytes: u64,
    rows: u64,
}

impl Store {
    /// Keeps recordings; a call that has one keeps that one. The oldest ones of a user are deleted where they exceed
    /// the bounds of the user.
    pub async fn keep_recordings(&self, recordings: &[NewRecording]) -> Result<(), StoreError> {
        let mut added = BTreeMap::<&str, (&UserId, Added)>::new();
        for recording in recordings {
            let (_, of_user) =
                added.entry(recording.user.as_str()).or_insert((&recording.user, Added::default()));
            of_user.bytes += rows::bytes_of(recording);
            of_user.rows += 1;
        }
        let added = &added;
        // What is lost with the power was for people to look at, and for nothing else.
        transact!(self, Lane::Platform, Durability::Process, |tx| {
            tx.adds(recordings.iter().map(|it| it.sealed.len()).sum());
            let now = tx.now();
            // First, since expired ones count as long as they are stored.
            rows::delete_expired(now).all(tx).await?;
            for (user, added) in added.values() {
                free(tx, user, *added).await?;
            }
            for recording in recordings {
                rows::insert(recording, now + RETENTION).run(tx).await?;
            }
            Ok(())
        })
    }

    /// The recording of a call, if it has not expired.
    pub async fn recording(&self, call_id: CallId) -> Result<Option<Recording>, StoreError> {
        self.fetch_optional(rows::find(call_id, self.now())).await
    }

    /// Deletes some of the recordings that have expired, and returns whether there may be more.
    pub async fn sweep_recordings(&self) -> Result<bool, StoreError> {
        transact!(self, Lane::Platform, Durability::Process, |tx| {
            let now = tx.now();
            Ok(!rows::delete_expired(now).all(tx).await?.is_empty())
        })
    }
}

/// Deletes the oldest recordings of a user until these fit, or none is left.
async fn free(tx: &mut Tx, user: &UserId, added: Added) -> Result<(), Error> {
    loop {
        let (bytes, rows) = rows::usage_of(user).one(tx).await?;
        let unsigned = |count| u64::try_from(count).unwrap_or_default();
        let excess_rows = (unsigned(rows) + added.rows).saturating_sub(MAX_ROWS_OF_USER);
        let limit = if excess_rows > 0 {
            excess_rows
        } else if unsigned(bytes) + added.bytes > MAX_BYTES_OF_USER {
            FREED_AT_ONCE
        } else {
            return Ok(());
        };
        if rows::delete_oldest_of(user, limit).all(tx).await?.is_empty() {
            return Ok(());
        }
    }
}
