//! Plans without a model: finds names, ranks tools by words, and fills their parameters from what is said.
//!
//! It is the same for equal input, asks nobody, and calls no tool whose required parameters the message does not give.
//! How it decides stands in docs/AGENT.md.

mod abstain;
mod again;
mod bare;
mod clauses;
mod compound;
mod decide;
mod elsewhere;
mod follow_up;
pub(super) mod index;
mod inverted_index;
pub(super) mod lexicon;
mod limited;
mod message;
pub(super) mod names;
mod narrow;
mod nearest;
mod orders;
mod rank;
mod recover;
mod route;
mod routed;
mod slots;
mod spelling;
mod statements;
mod times;
mod topic;
mod words;
mod writes;

use futures_util::future::{BoxFuture, FutureExt, ready};

pub use self::limited::{LeftOut, LeftOutTime};
pub(super) use self::{limited::left_out, nearest::nearest};
use super::{Asked, Plan, PlanError, Planner};

/// The planner that comes with Toolwire.
#[derive(Clone, Copy, Debug, Default)]
pub struct Embedded;

impl Embedded {
    /// The next step; it never fails.
    pub fn decide(asked: &Asked<'_>) -> Plan {
        if asked.made.is_empty() { decide::first(asked) } else { recover::next(asked) }
    }
}

impl Planner for Embedded {
    fn plan<'a>(&'a self, asked: Asked<'a>) -> BoxFuture<'a, Result<Plan, PlanError>> {
        ready(Ok(Self::decide(&asked))).boxed()
    }

    fn proposes_changes(&self) -> bool {
        true
    }
}
