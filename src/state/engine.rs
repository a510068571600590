//! The decisions that are made within a transaction: methods of [`Store`](crate::Store), with a folder for each kind of
//! record. Not here: SQL statements.

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
mod reservations;
mod results;
mod secret;
mod sessions;
mod tasks;
mod transitions;

pub(crate) use self::{confirmations::Waiters, tasks::Messages, tasks::refold_all};
