//! Cancels requests over HTTP in the older revisions, whose clients give up a request by a notification and leave its
//! connection open. An answer to it would count as delivered, and an unchanged repeat of a write as another write.
//!
//! Not here: how a notification is passed on to the process that answers the request, which is that of the services.

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
/// Maximum length of the name of a request that other processes are asked to cancel, in bytes.
const MAX_NAME: usize = 512;

/// The requests under way that can be cancelled: those of clients that name themselves.
#[derive(Debug, Default)]
pub struct Cancellations(Mutex<HashMap<Key, CancellationToken>>);

/// A request of a user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    user: String,
    /// Its name: its client and the number that this gave it, as JSON.
    request: String,
}

/// What a message of a client is.
#[derive(Debug)]
pub(super) enum Received {
    Request(Cancellable),
    /// Cancels a request of this name, which this process does not answer.
    OtherProcess(String),
    Other,
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
    /// Reads a message of a user's client that nothing else has read. If it cancels a request that is under way here,
    /// that is done.
    pub(super) fn read(self: &Arc<Self>, user: String, client: &str, message: &[u8]) -> Received {
        let Ok(Message { method, id, params }) = serde_json::from_slice(message) else {
            return Received::Other;
        };
        if method != CANCELLED {
            return id.map_or(Received::Other, |id| Received::Request(self.begin(user, client, &id)));
        }
        let params = params.and_then(|params| serde_json::from_str(params.get()).ok());
        let Some(Params { request_id: Some(id) }) = params else { return Received::Other };
        let name = name(client, &id);
        if self.cancel(user, name.clone()) || name.len() > MAX_NAME {
            return Received::Other;
        }
        Received::OtherProcess(name)
    }

    /// Cancels a user's request of this name. Returns whether it was under way here.
    pub fn cancel(&self, user: String, request: String) -> bool {
        let request = self.lock().get(&Key { user, request }).cloned();
        request.inspect(CancellationToken::cancel).is_some()
    }

    /// What cancels a request of a user's client.
    pub(super) fn begin(self: &Arc<Self>, user: String, client: &str, id: &RequestId) -> Cancellable {
        let key = Key { user, request: name(client, id) };
        let cancelled = self.lock().entry(key.clone()).or_default().clone();
        Cancellable { cancellations: Arc::clone(self), key, cancelled }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of a request, the same in every process.
fn name(client: &str, id: &RequestId) -> String {
    serde_json::to_string(&(client, id)).expect("texts and numbers")
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

    fn read(cancellations: &Arc<Cancellations>, user: &str, client: &str, message: &str) -> Received {
        cancellations.read(user.to_owned(), client, message.as_bytes())
    }

    fn notification(id: &str) -> String {
        format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    }

    fn begin(cancellations: &Arc<Cancellations>) -> Cancellable {
        let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}"#;
        match read(cancellations, "riley", "a", call) {
            Received::Request(request) => request,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_request_is_cancelled_by_its_own_client_alone() {
        let cancellations = Arc::new(Cancellations::default());
        let request = begin(&cancellations);
        for (user, client, id) in [("riley", "b", "7"), ("sam", "a", "7"), ("riley", "a", r#""7""#)] {
            let received = read(&cancellations, user, client, &notification(id));
            assert!(matches!(received, Received::OtherProcess(_)), "{received:?}");
            assert!(cancelled(Some(&request)).now_or_never().is_none(), "{user} {client} {id}");
        }
        assert!(matches!(read(&cancellations, "riley", "a", &notification("7")), Received::Other));
        assert!(cancelled(Some(&request)).now_or_never().is_some());
        drop(request);
        assert!(cancellations.lock().is_empty());
    }

    #[test]
    fn a_request_is_cancelled_by_the_name_that_another_process_gives_it() {
        let (here, there) = (Arc::new(Cancellations::default()), Arc::new(Cancellations::default()));
        let request = begin(&there);
        let Received::OtherProcess(name) = read(&here, "riley", "a", &notification("7")) else { panic!() };
        assert!(!there.cancel("sam".to_owned(), name.clone()));
        assert!(cancelled(Some(&request)).now_or_never().is_none());
        assert!(there.cancel("riley".to_owned(), name));
        assert!(cancelled(Some(&request)).now_or_never().is_some());
    }

    #[test]
    fn a_name_that_is_too_long_is_not_passed_on() {
        let long = format!("{:?}", "7".repeat(MAX_NAME));
        assert!(matches!(read(&Arc::default(), "riley", "a", &notification(&long)), Received::Other));
    }

    #[test]
    fn what_is_no_request_cannot_be_cancelled() {
        let cancellations = Arc::new(Cancellations::default());
        for message in ["{", "[]", r#"{"method":"notifications/initialized"}"#, r#"{"id":1}"#] {
            assert!(matches!(read(&cancellations, "riley", "a", message), Received::Other), "{message}");
        }
        assert!(cancellations.lock().is_empty());
    }
}
