//! What more than one face renders in the types of the contract: results, the events of calls, jobs and news of tools.

pub mod invoked;
pub mod job;
pub mod news;
pub mod result;
