//! Results that are kept whole because a model was shown only a part: it reads on in one by the call that returned it.
//!
//! They are no documents of the workspace, since those belong to a tree of tasks and are versioned, indexed and listed;
//! most calls have no task. Not here: which results are kept, and how parts of them are read.

pub(crate) mod rows;

use std::time::{Duration, SystemTime};

use super::idempotency::Quota;
use toolwire_contract::{Provenance, ToolName};

pub const RETENTION: Duration = Duration::from_hours(24);

/// The quota of kept results. Beyond it the oldest are deleted: a model can make the call again.
pub const QUOTA: Quota = Quota { of_user: 64 * 1024 * 1024, of_all: 1024 * 1024 * 1024 };

/// A result that is to be kept for [`RETENTION`].
#[derive(Clone, Copy, Debug)]
pub struct NewKeptResult<'a> {
    pub tool: &'a ToolName,
    /// The data, as JSON text.
    pub text: &'a str,
    /// The tokens of the text.
    pub tokens: u64,
    /// Where the data came from. With a nonce, which is empty, if it holds text from outside.
    pub provenance: &'a Provenance,
}

#[derive(Clone, Debug, PartialEq)]
pub struct KeptResult {
    pub tool: ToolName,
    /// The data, as JSON text.
    pub text: String,
    /// The tokens of the text.
    pub tokens: u64,
    /// Where the data came from. With a nonce, which is empty, if it holds text from outside.
    pub provenance: Provenance,
    pub expires_at: SystemTime,
}
