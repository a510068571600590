//! Planning: given a message, call tools, answer from results, ask back, or refuse.
//!
//! A [`Planner`] decides and calls nothing itself. It sees the tools of an [`Offer`] and no others. Not here: carrying
//! a plan out, budgets, and the answer.

mod by_model;
pub mod embedded;
mod english;
mod matching;
mod names;
mod offer;
pub mod policy;
mod weights;

use std::{fmt, sync::Arc};

use chrono::NaiveDate;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

pub use self::{
    by_model::ByModel,
    matching::{KnownName, KnownNames, is_stop_word},
    names::{Lexicon, Name, Names},
    offer::{Offer, Offers},
};
use toolwire_contract::{ErrorCode, ToolError, ToolResult};

/// Decides what to do next. Asked again after each step, with the calls that have ended.
pub trait Planner: Send + Sync + fmt::Debug {
    /// The next step of a cycle.
    fn plan<'a>(&'a self, request: PlanRequest<'a>) -> BoxFuture<'a, Result<Plan, PlanError>>;

    /// Whether calls that change something are only proposed, and made once the user has said yes to them.
    fn proposes_changes(&self) -> bool {
        false
    }
}

/// A message to plan for, with its conversation and the calls of this cycle so far.
#[derive(Clone, Copy, Debug)]
pub struct PlanRequest<'a> {
    pub message: &'a str,
    /// The account of the request. One that the message names comes before it.
    pub account: Option<&'a str>,
    /// The earlier turns of the session, oldest first.
    pub history: &'a [Exchange],
    /// The calls of this cycle that have ended, in the order in which they were planned.
    pub made: &'a [ExecutedCall],
    /// The tools that may be called.
    pub offer: &'a Offer,
    /// The day on which the message is read, in UTC: `last week` is counted from it.
    pub today: NaiveDate,
}

/// One earlier turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    pub said: String,
    /// The answer; empty if there was none.
    pub answered: String,
    /// The calls that were made or proposed for it.
    pub calls: Vec<PlannedCall>,
    /// Whether it ended with a question of the planner, which the next message may answer. Always `false` in the
    /// history that a caller sends, where every message has an answer.
    pub is_open: bool,
}

/// A call of this cycle that has ended.
#[derive(Clone, Debug)]
pub struct ExecutedCall {
    pub call: PlannedCall,
    pub result: Arc<ToolResult>,
}

impl ExecutedCall {
    /// Whether its error may quote the model's arguments, so that its text is not a fact.
    pub fn echoes(&self) -> bool {
        let echoes =
            |error: &ToolError| matches!(error.code, ErrorCode::NotFound | ErrorCode::InvalidArgument);
        self.call.by_model.is_some() && self.result.outcome.as_ref().is_err_and(echoes)
    }
}

/// A call that a planner wants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlannedCall {
    pub tool: String,
    /// Its arguments. The pipeline checks them against the tool's schema.
    pub arguments: Map<String, Value>,
    /// Why this tool, in words for people.
    pub reason: String,
    /// The call as a model made it; `None` without a model.
    pub by_model: Option<Box<ByModel>>,
}

/// What a planner decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub step: Step,
    /// Why, in words for people.
    pub reason: String,
    /// How sure the planner is, 0 to 1. 1 for a model's plan, which says nothing of it.
    pub confidence: f64,
    /// The tools that came next, best first, those of the calls left out. Empty for a model's plan.
    pub alternatives: Vec<Alternative>,
}

/// A tool that was considered.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    pub tool: String,
    /// Its score, in the same measure as those beside it.
    pub score: f64,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Make these calls, which do not depend on each other. At least one.
    Call(Vec<PlannedCall>),
    /// Make these calls once the user has said yes to them: a part of the message is not understood.
    Offer {
        /// At least one.
        calls: Vec<PlannedCall>,
        /// What the calls do not cover, as it is written.
        unclear: Vec<String>,
    },
    /// Answer from the results that are there.
    Answer,
    /// Answer from them with this text, which was written with the decision.
    Say(String),
    /// Ask the user this, and call nothing.
    Clarify(String),
    /// Say this, and call nothing: no tool does what the user wants.
    Refuse(String),
}

/// No plan could be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct PlanError {
    /// Why, in words for the caller; nothing of what a model wrote.
    pub reason: String,
    /// Whether the turn may spend no more on a plan.
    pub is_spent: bool,
}

impl PlanError {
    /// A failure for this reason, with budget left.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_spent: false }
    }
}
