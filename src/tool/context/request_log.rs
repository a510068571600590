//! The requests that a call makes to sources and providers, as those who look at the call see them.

use std::fmt::Debug;

/// Notes the requests of one call.
pub trait RequestLog: Send + Sync + Debug {
    /// Notes that a request goes out now.
    fn note_request(&self);
}
