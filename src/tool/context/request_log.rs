//! The requests that a call makes to sources and providers, as those who look at the call see them.

use std::{fmt::Debug, sync::Arc};

/// Notes the requests of one call.
pub trait RequestLog: Send + Sync + Debug {
    /// Notes that a request goes out now.
    fn note_request(&self);

    /// Notes the instance of a host that a request went to, as it names itself.
    fn note_instance(&self, instance: Arc<str>);
}
