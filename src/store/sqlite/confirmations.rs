//! Confirmations, in one file with the calls that need them: what is used and what is begun is one change.

mod ask;
mod decide;
mod end;
mod read;
mod room;
mod waiting;

use std::time::SystemTime;

use futures_util::future::BoxFuture;
use tokio::sync::watch;

pub(super) use self::waiting::Waiting;
use super::{Sqlite, confirmation_rows::ConfirmedCall};
use crate::{
    StoreError,
    confirmations::{
        Among, Asked, Binding, Change, Confirmation, Confirmations, Criteria, Decision, Kept, Listed, Of,
        Opened, Outcome, Page, Place,
    },
    idempotency::{Beginning, Begun},
};
use toolwire_contract::ConfirmationId;
use toolwire_tool::context::{RequestId, UserId};

impl Confirmations for Sqlite {
    fn begin_confirmed<'a>(
        &'a self,
        begins: Beginning<'a>,
        asked: &'a Asked,
        expires_at: SystemTime,
        now: SystemTime,
    ) -> BoxFuture<'a, Opened> {
        Box::pin(async move {
            let call = ConfirmedCall { begins, asked, expires_at };
            let opened = self.explain(self.open_confirmed(&call, now).await);
            opened.unwrap_or_else(|error| Opened::Begun(Begun::Unavailable(error)))
        })
    }

    fn adopt<'a>(
        &'a self,
        binding: Binding<'a>,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<RequestId>, StoreError>> {
        Box::pin(async move { self.explain(self.adoptable(&binding, now).await) })
    }

    fn find<'a>(
        &'a self,
        id: &'a ConfirmationId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<Confirmation>, StoreError>> {
        Box::pin(async move { self.explain(self.confirmation(id, now).await) })
    }

    fn decide<'a>(
        &'a self,
        id: &'a ConfirmationId,
        decision: &'a Decision,
    ) -> BoxFuture<'a, Result<Option<Outcome>, StoreError>> {
        Box::pin(async move { self.explain(self.decide_confirmation(id, decision).await) })
    }

    fn withdraw<'a>(
        &'a self,
        user: &'a UserId,
        of: Of,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<usize, StoreError>> {
        Box::pin(async move { self.explain(self.withdraw_confirmations(user, of, now).await) })
    }

    fn expire(&self, now: SystemTime) -> BoxFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move { self.explain(self.expire_confirmations(now).await) })
    }

    fn sweep(&self, now: SystemTime) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { self.explain(self.sweep_confirmations(now).await) })
    }

    fn list<'a>(
        &'a self,
        viewer: (&'a UserId, &'a Among),
        criteria: &'a Criteria,
        from: Option<Place>,
        limit: u32,
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        Box::pin(async move { self.explain(self.listed_confirmations(viewer, criteria, from, limit).await) })
    }

    fn open_now<'a>(
        &'a self,
        viewer: (&'a UserId, &'a Among),
        criteria: &'a Criteria,
        between: (u64, u64),
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        Box::pin(async move { self.explain(self.open_confirmations(viewer, criteria, between).await) })
    }

    fn changes<'a>(&'a self, among: &'a Among, after: u64, limit: u32) -> BoxFuture<'a, Listed<Change>> {
        Box::pin(async move { self.explain(self.confirmation_changes(among, after, limit).await) })
    }

    fn kept<'a>(&'a self, among: &'a Among) -> BoxFuture<'a, Result<Kept, StoreError>> {
        Box::pin(async move { self.explain(self.kept_changes(among).await) })
    }

    fn changed(&self) -> watch::Receiver<u64> {
        self.confirmations_changed.subscribe()
    }

    fn changes_of(&self, id: &ConfirmationId) -> watch::Receiver<()> {
        self.confirmations_waiting.of(id)
    }

    fn look(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.look_for_changes())
    }
}
