//! Grounding: what a turn found out, as contexts, and whether an answer says nothing else.
//!
//! [`ContextBundle`] holds the results of a turn, each in its domain's typed context. A [`Checker`] reads an answer
//! while it is written, and releases what has passed. Every number and every address must stand in the results, every
//! citation must be a source of this turn, and every block with numbers must have one. Not here: writing the answer,
//! and what becomes of one that does not pass.

mod bundle;
mod checker;
mod citations;
pub mod contexts;
mod escape;
mod issue;
mod links;
mod markdown;
mod names;
mod numbers;
mod plain;
mod sentences;

pub(crate) use self::numbers::ONES;
pub use self::{
    bundle::{ContextBundle, ContextItem},
    checker::{Checker, Released, Sentence},
    escape::escape,
    issue::{Issue, IssueKind},
    plain::plain,
};
