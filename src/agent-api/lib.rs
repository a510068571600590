//! What a domain and the agent have in common: the words and names of a domain, the contexts of its results, and its
//! work in the background.
//!
//! Domains depend on this crate alone, neither on the agent nor on its planner. Not here: how either uses it.

mod completed_call;
pub mod contexts;
pub mod job;
mod job_report;
mod job_starter;
mod names;
mod prompt;
mod vocabulary;

pub use self::{
    completed_call::CompletedCall,
    job_report::{JobMessage, JobReport},
    job_starter::{JobRequest, JobStarter, StartJobs},
    names::{Name, Names},
    prompt::Prompt,
    vocabulary::Vocabulary,
};
