//! Plans without a model: finds names, ranks tools by words, and fills their parameters from what is said.
//!
//! It is deterministic, asks no model, and calls no tool whose required parameters the message does not give. How it
//! decides stands in docs/AGENT.md.

mod abstain;
mod clauses;
mod compound;
mod decide;
mod follow_up;
mod name_only;
mod narrow;
mod recover;
mod repeat_last;
mod route;
mod routed;
mod statements;
mod writes;

use futures_util::future::{BoxFuture, FutureExt, ready};

use super::{Plan, PlanError, PlanRequest, Planner};

/// The planner that comes with Toolwire.
#[derive(Clone, Copy, Debug, Default)]
pub struct Embedded;

impl Embedded {
    /// The next step; it never fails.
    pub fn decide(asked: &PlanRequest<'_>) -> Plan {
        if asked.made.is_empty() { decide::first(asked) } else { recover::next(asked) }
    }
}

impl Planner for Embedded {
    fn plan<'a>(&'a self, asked: PlanRequest<'a>) -> BoxFuture<'a, Result<Plan, PlanError>> {
        ready(Ok(Self::decide(&asked))).boxed()
    }

    fn proposes_changes(&self) -> bool {
        true
    }
}
