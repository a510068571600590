//! The decisions that are made within a transaction: methods of [`Store`](crate::Store), with a folder for each kind of
//! record. Not here: SQL statements.

/// Runs a transaction whose statements are written in place, as the body of an async block.
macro_rules! transact {
    ($store:expr, $lane:expr, $durability:expr, |$tx:ident| $work:block) => {
        $store.transact::<_, ::toolwire_db::Error>($lane, $durability, |$tx| ::toolwire_db::scoped(async move $work)).await
    };
}

/// The same of a transaction that decides nothing by the clock.
macro_rules! transact_without_clock {
    ($store:expr, $lane:expr, $durability:expr, |$tx:ident| $work:block) => {
        $store.record::<_, ::toolwire_db::Error>($lane, $durability, |$tx| ::toolwire_db::scoped(async move $work)).await
    };
}

mod accepted_tools;
mod audit;
mod blobs;
mod calls;
mod cancellations;
mod confirmations;
mod cool_downs;
mod documents;
mod equal_writes;
mod hold_offs;
mod idempotency;
mod jobs;
mod kept_results;
mod outbox;
mod recordings;
mod refusals;
mod reservations;
mod results;
mod secret;
mod sessions;
mod tasks;
mod transitions;

pub(crate) use self::{confirmations::Waiters, tasks::Messages, tasks::refold_all};
