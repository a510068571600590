//! Renders in the types of the contract what more than one face needs: results, the events of calls, jobs and watches
//! of tools.

pub mod call_event;
pub mod job;
pub mod result;
pub mod watch_event;
