//! Renders in the types of the contract what more than one face needs: results, the events of calls, and watches of
//! tools.

pub mod call_event;
pub mod result;
pub mod watch_event;
