//! Tasks and their timelines, in one file with their calls and confirmations, so that dependent changes share a
//! transaction.

mod admit;
mod begin;
mod confirm;
mod create;
mod documents;
mod end;
mod entries;
mod error;
mod lease;
mod lengths;
mod list;
mod load;
mod messages;
mod model_errors;
mod mutations;
mod open_calls;
mod orchestrate;
mod person;
mod queue;
mod record;
mod recover;
mod refold;
mod resolve;
mod retain;
mod settle;
mod timeline;

pub(super) use self::confirm::append_decision;
pub(crate) use self::{queue::Messages, refold::refold_all};
