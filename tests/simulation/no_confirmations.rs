//! A store of confirmations that has none: no tool of the simulation needs one, and SQLite's thread knows no simulated
//! time.

use std::time::SystemTime;

use futures_util::future::{BoxFuture, FutureExt, ready};
use tokio::sync::watch;
use toolwire::{
    base::digest::Digest,
    contract::{ConfirmationId, ToolResult},
    store::{
        StoreError,
        confirmations::{
            Among, Asked, Binding, Change, Confirmation, Confirmations, Criteria, Decision, Kept, Listed, Of,
            Opened, Outcome, Page, Place,
        },
        idempotency::{Beginning, Begun, Idempotency, Key},
        secret::Secret,
    },
    tool::context::{RequestId, UserId},
};

/// What a call would meet that needed a confirmation.
const NEEDS_NONE: &str = "no tool here needs a confirmation";

#[derive(Debug)]
pub(crate) struct NoConfirmations;

fn answer<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, Result<T, StoreError>> {
    ready(Ok(value)).boxed()
}

impl Idempotency for NoConfirmations {
    fn begin<'a>(&'a self, _: Beginning<'a>, _: SystemTime) -> BoxFuture<'a, Begun> {
        unreachable!("{NEEDS_NONE}")
    }

    fn end<'a>(&'a self, _: &'a Key, _: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>> {
        unreachable!("{NEEDS_NONE}")
    }

    fn suspend<'a>(&'a self, _: &'a Key) -> BoxFuture<'a, Result<(), StoreError>> {
        unreachable!("{NEEDS_NONE}")
    }

    fn forget<'a>(&'a self, _: &'a Key, _: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        unreachable!("{NEEDS_NONE}")
    }
}

impl Secret for NoConfirmations {
    fn page_secret(&self) -> BoxFuture<'_, Result<Digest, StoreError>> {
        answer(Digest::of_bytes(b"of no state"))
    }
}

impl Confirmations for NoConfirmations {
    fn begin_confirmed<'a>(
        &'a self,
        _: Beginning<'a>,
        _: &'a Asked,
        _: SystemTime,
        _: SystemTime,
    ) -> BoxFuture<'a, Opened> {
        unreachable!("{NEEDS_NONE}")
    }

    fn adopt<'a>(
        &'a self,
        _: Binding<'a>,
        _: SystemTime,
    ) -> BoxFuture<'a, Result<Option<RequestId>, StoreError>> {
        unreachable!("{NEEDS_NONE}")
    }

    fn find<'a>(
        &'a self,
        _: &'a ConfirmationId,
        _: SystemTime,
    ) -> BoxFuture<'a, Result<Option<Confirmation>, StoreError>> {
        answer(None)
    }

    fn decide<'a>(
        &'a self,
        _: &'a ConfirmationId,
        _: &'a Decision,
    ) -> BoxFuture<'a, Result<Option<Outcome>, StoreError>> {
        answer(None)
    }

    /// Asked by every `CancelCall`.
    fn withdraw<'a>(
        &'a self,
        _: &'a UserId,
        _: Of,
        _: SystemTime,
    ) -> BoxFuture<'a, Result<usize, StoreError>> {
        answer(0)
    }

    fn expire(&self, _: SystemTime) -> BoxFuture<'_, Result<usize, StoreError>> {
        answer(0)
    }

    fn sweep(&self, _: SystemTime) -> BoxFuture<'_, Result<(), StoreError>> {
        answer(())
    }

    fn list<'a>(
        &'a self,
        _: (&'a UserId, &'a Among),
        _: &'a Criteria,
        _: Option<Place>,
        _: u32,
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        answer(Page::default())
    }

    fn open_now<'a>(
        &'a self,
        _: (&'a UserId, &'a Among),
        _: &'a Criteria,
        _: (u64, u64),
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        answer(Page::default())
    }

    fn changes<'a>(&'a self, _: &'a Among, _: u64, _: u32) -> BoxFuture<'a, Listed<Change>> {
        answer(Vec::new())
    }

    fn kept<'a>(&'a self, _: &'a Among) -> BoxFuture<'a, Result<Kept, StoreError>> {
        answer(Kept { first: 1, last: 0 })
    }

    fn changed(&self) -> watch::Receiver<u64> {
        watch::channel(0).1
    }

    fn changes_of(&self, _: &ConfirmationId) -> watch::Receiver<()> {
        watch::channel(()).1
    }

    fn look(&self) -> BoxFuture<'_, ()> {
        ready(()).boxed()
    }
}
