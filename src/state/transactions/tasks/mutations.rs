//! Stored responses to requests with a `request_id` other than calls, written in the transaction of the request.

use std::{collections::HashMap, time::SystemTime};

use serde::{Serialize, de::DeserializeOwned};

use super::error::TxError;
use crate::tasks::{
    Mutation, Refused,
    rows::mutations::{self as rows, StoredAnswer},
};
use toolwire_db::{Error, Tx};
use toolwire_tool::context::{RequestId, UserId};

impl<T> StoredAnswer<T> {
    /// The stored response, if this is a repeat. A different request under the same `request_id` is refused.
    pub(super) fn response_to(self, mutation: Mutation) -> Result<T, Refused> {
        if self.digest == mutation.digest {
            Ok(self.answer)
        } else {
            Err(Refused::RequestIdReused(mutation.request_id))
        }
    }
}

/// The response to an earlier request for the same change.
pub(super) async fn find<T: DeserializeOwned>(
    tx: &mut Tx,
    user: &UserId,
    mutation: Mutation,
    now: SystemTime,
) -> Result<Option<T>, TxError> {
    let stored = find_all(tx, user, &[mutation], now).await?.remove(&mutation.request_id);
    Ok(stored.map(|stored| stored.response_to(mutation)).transpose()?)
}

/// The responses to earlier requests of one method.
pub(super) async fn find_all<T: DeserializeOwned>(
    tx: &mut Tx,
    user: &UserId,
    mutations: &[Mutation],
    now: SystemTime,
) -> Result<HashMap<RequestId, StoredAnswer<T>>, Error> {
    let Some(first) = mutations.first() else { return Ok(HashMap::new()) };
    let ids = mutations.iter().map(|mutation| mutation.request_id);
    let stored = rows::find_all(user, first.method, ids, now).all(tx).await?;
    Ok(stored.into_iter().map(|it| (it.request_id, it)).collect())
}

pub(super) async fn record(
    tx: &mut Tx,
    user: &UserId,
    mutation: Mutation,
    answer: &impl Serialize,
    now: SystemTime,
) -> Result<(), Error> {
    rows::insert_all(user, &[(mutation, answer)], now)?.run(tx).await
}
