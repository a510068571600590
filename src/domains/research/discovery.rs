//! Discovery as a job: browse, discover, drill down, filter, synthesize.
//!
//! Everything is read through the pipeline as the job's user. Figures and what may be bought come from the tools and by
//! rule; a model, if there is one, writes texts and may be more careful than the rule, never less. Not here: jobs
//! themselves, which are the platform's.

mod browse;
mod context;
mod evaluate;
mod request;
mod result;
mod score;
mod select;
mod signals;
mod start;
mod stocks;
mod workflow;
mod write;

pub(super) use self::{start::start, stocks::Stocks};
