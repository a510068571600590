//! The foundation of every crate of Toolwire: clocks, digests, durations, files, middleware, offloading, texts.
//!
//! Internal to Toolwire: no promise is made to other crates. Not here: anything that knows a tool, a call or a source.

pub mod accept;
pub mod backlog;
pub mod brief_memory;
#[cfg(any(test, feature = "testing"))]
pub mod capture;
pub mod clock;
pub mod current;
pub mod debounce;
pub mod digest;
pub mod duration;
pub mod fair_queue;
pub mod fair_semaphore;
pub mod files;
pub mod middleware;
pub mod offload;
pub mod retry_after;
pub mod words;
