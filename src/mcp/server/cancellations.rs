//! Cancels requests over HTTP in the older revisions, whose clients give up a request by a notification and leave its
//! connection open. An answer to it would count as delivered, and an unchanged repeat of a write as another write.

use std::{
    borrow::Cow,
    collections::HashMap,
    future::pending,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::model::RequestId;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

const CANCELLED: &str = "notifications/cancelled";

/// The requests under way that can be cancelled: those of clients that name themselves.
#[derive(Debug, Default)]
pub(super) struct Cancellations(Mutex<HashMap<Key, CancellationToken>>);

/// A request is numbered by its client, and a client is named for its user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    user: String,
    client: String,
    request: RequestId,
}

/// A request under way, until it is dropped.
#[derive(Debug)]
pub(super) struct Cancellable {
    cancellations: Arc<Cancellations>,
    key: Key,
    cancelled: CancellationToken,
}

/// The members of a message that say what it is.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
    id: Option<RequestId>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    request_id: Option<RequestId>,
}

impl Cancellations {
    /// Reads a message of a user's client that nothing else has read: cancels the request that it names, or else is
    /// what cancels the message itself if it is a request.
    pub(super) fn read(self: &Arc<Self>, user: String, client: &str, message: &[u8]) -> Option<Cancellable> {
        let Message { method, id, params } = serde_json::from_slice(message).ok()?;
        if method != CANCELLED {
            return Some(self.begin(user, client, &id?));
        }
        let Params { request_id } = serde_json::from_str(params?.get()).ok()?;
        let key = Key { user, client: client.to_owned(), request: request_id? };
        let request = self.lock().get(&key).cloned();
        request.inspect(CancellationToken::cancel);
        None
    }

    /// What cancels a request of a user's client.
    pub(super) fn begin(self: &Arc<Self>, user: String, client: &str, id: &RequestId) -> Cancellable {
        let key = Key { user, client: client.to_owned(), request: id.clone() };
        let cancelled = self.lock().entry(key.clone()).or_default().clone();
        Cancellable { cancellations: Arc::clone(self), key, cancelled }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until the client of a request cancels it by its notification.
pub(super) async fn cancelled(request: Option<&Cancellable>) {
    match request {
        Some(request) => request.cancelled.cancelled().await,
        None => pending().await,
    }
}

impl Drop for Cancellable {
    fn drop(&mut self) {
        self.cancellations.lock().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn read(
        cancellations: &Arc<Cancellations>,
        user: &str,
        client: &str,
        message: &str,
    ) -> Option<Cancellable> {
        cancellations.read(user.to_owned(), client, message.as_bytes())
    }

    #[test]
    fn a_request_is_cancelled_by_its_own_client_alone() {
        let cancellations = Arc::new(Cancellations::default());
        let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}"#;
        let request = read(&cancellations, "riley", "a", call).expect("a request");
        let notification =
            |id| format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#);
        for (user, client, id) in [("riley", "b", "7"), ("sam", "a", "7"), ("riley", "a", r#""7""#)] {
            assert!(read(&cancellations, user, client, &notification(id)).is_none());
            assert!(cancelled(Some(&request)).now_or_never().is_none(), "{user} {client} {id}");
        }
        assert!(read(&cancellations, "riley", "a", &notification("7")).is_none());
        assert!(cancelled(Some(&request)).now_or_never().is_some());
        drop(request);
        assert!(cancellations.lock().is_empty());
    }

    #[test]
    fn what_is_no_request_cannot_be_cancelled() {
        let cancellations = Arc::new(Cancellations::default());
        for message in ["{", "[]", r#"{"method":"notifications/initialized"}"#, r#"{"id":1}"#] {
            assert!(read(&cancellations, "riley", "a", message).is_none(), "{message}");
        }
        assert!(cancellations.lock().is_empty());
    }
}
