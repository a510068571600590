//! Carries jobs out. Each event is stored before any reader gets it.
//!
//! Not here: what a workflow does, which its domain says (`toolwire_agent_api::job`), which jobs may begin, and whose
//! they are (`service`).

mod carry_out;
mod run;

pub use self::{
    carry_out::{Stop, carry_out},
    run::{JobRun, Setup},
};
pub use toolwire_agent_api::{
    CompletedCall,
    job::{Finished, Run, Workflow},
};
