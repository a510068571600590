//! What a domain and the agent have in common: the words and names of a domain, and the contexts of its results.
//!
//! Domains depend on this crate alone, neither on the agent nor on its planner. Not here: how either uses it.

pub mod contexts;
mod job_report;
mod names;
mod vocabulary;

pub use self::{
    job_report::JobReport,
    names::{Name, Names},
    vocabulary::Vocabulary,
};
