//! Stored responses to requests with a `request_id` other than calls, written in the transaction of the request.

use std::{collections::HashMap, time::SystemTime};

use serde::{Serialize, de::DeserializeOwned};

use super::error::TxError;
use crate::{
    engine::{Error, Tx},
    rows::mutations::{self as rows, Answered},
    tasks::{Mutation, Refused},
};
use toolwire_tool::context::{RequestId, UserId};

impl<T> Answered<T> {
    /// The stored response for a repeat; another request under its identifier is refused.
    pub(super) fn to(self, mutation: Mutation) -> Result<T, Refused> {
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
    let answered = find_all(tx, user, &[mutation], now).await?.remove(&mutation.request_id);
    Ok(answered.map(|answered| answered.to(mutation)).transpose()?)
}

/// The responses to earlier requests of one method.
pub(super) async fn find_all<T: DeserializeOwned>(
    tx: &mut Tx,
    user: &UserId,
    mutations: &[Mutation],
    now: SystemTime,
) -> Result<HashMap<RequestId, Answered<T>>, Error> {
    let Some(first) = mutations.first() else { return Ok(HashMap::new()) };
    let ids = mutations.iter().map(|mutation| mutation.request_id);
    let answered = rows::find_all(user, first.method, ids, now).all(tx).await?;
    Ok(answered.into_iter().map(|it| (it.request_id, it)).collect())
}

pub(super) async fn keep(
    tx: &mut Tx,
    user: &UserId,
    mutation: Mutation,
    answer: &impl Serialize,
    now: SystemTime,
) -> Result<(), Error> {
    rows::insert_all(user, &[(mutation, answer)], now)?.run(tx).await
}
