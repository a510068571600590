//! Plans without a model: finds names, ranks tools by words, and fills their parameters from the message.
//!
//! It is deterministic, and calls no tool that does not account for every word of the message. docs/PLANNER.md
//! describes how it decides.

mod abstain;
mod coverage;
mod decide;
mod follow_up;
mod name_only;
mod recover;

use futures_util::future::{BoxFuture, FutureExt, ready};

use super::{Plan, PlanError, PlanRequest, Planner};

/// The planner that comes with Toolwire.
#[derive(Clone, Copy, Debug, Default)]
pub struct Embedded;

impl Embedded {
    /// The next step; it never fails.
    pub fn decide(request: &PlanRequest<'_>) -> Plan {
        if request.made.is_empty() { decide::first(request) } else { recover::next(request) }
    }
}

impl Planner for Embedded {
    fn plan<'a>(&'a self, request: PlanRequest<'a>) -> BoxFuture<'a, Result<Plan, PlanError>> {
        ready(Ok(Self::decide(&request))).boxed()
    }

    fn proposes_changes(&self) -> bool {
        true
    }
}
